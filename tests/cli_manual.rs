//! `outflank completions`, `outflank man` and `outflank players`: the options of the program as
//! scripts and pages.

use std::process::{Command, Output};

fn outflank(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(arguments).output().expect("the program starts")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The subcommands that `--help` lists.
fn subcommands() -> Vec<String> {
    let help = text(&outflank(&["--help"]));
    let listed = help.split_once("Commands:\n").expect("a list of commands").1;
    let listed = listed.lines().take_while(|line| !line.is_empty());
    // A long description continues on the next line, with a deeper indent.
    let commands =
        listed.filter_map(|line| line.strip_prefix("  ").filter(|text| !text.starts_with(' ')));
    let names = commands.filter_map(|text| text.split_whitespace().next()).map(str::to_owned);
    let names: Vec<_> = names.filter(|name| name != "help").collect();
    assert!(names.len() > 10, "{names:?}");
    names
}

#[test]
fn each_shell_completes_every_subcommand() {
    let help = text(&outflank(&["completions", "--help"]));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&outflank(&["completions", shell]));
        for name in subcommands() {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        assert!(script.contains("--table-mb") || script.contains("table-mb"), "{shell}");
        assert!(help.contains(&format!("outflank completions {shell}")), "{help}");
    }
    assert_eq!(outflank(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("share/man1");
    text(&outflank(&["man", pages.to_str().expect("text")]));
    let read = |name: &str| std::fs::read_to_string(pages.join(name)).expect(name);
    let main = text(&outflank(&["man"]));
    assert_eq!(read("outflank.1"), main);
    assert!(main.contains("OUTFLANK_LOG"), "{main}");
    for name in subcommands() {
        let page = read(&format!("outflank-{name}.1"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains(&name), "{page}");
    }
    assert!(read("outflank-solve.1").contains("seconds"));
    assert!(read("outflank-bench-run.1").contains(".SH SYNOPSIS"));
}

#[test]
fn the_page_of_players_is_printed() {
    let page = text(&outflank(&["players"]));
    assert!(page.starts_with("# Players\n"), "{page}");
    for help in [&["--help"][..], &["arena", "--help"]] {
        assert!(text(&outflank(help)).contains("players`"), "{help:?}");
    }
}

#[test]
fn the_option_colour_has_two_spellings() {
    for option in ["--colour", "--color"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
        command.args(["play", "random", "--shape", "6x6", option, "white"]);
        let output = command.stdin(std::process::Stdio::null()).output().expect("it starts");
        assert!(text(&output).starts_with("you play white"), "{output:?}");
    }
}
