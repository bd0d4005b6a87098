//! Tests of the help texts.

use clap::{Arg, ArgGroup, Command, CommandFactory};

use super::Cli;

/// The ids of arguments without a default: `--set` changes nothing if it is left out.
const WITHOUT_DEFAULT: &[&str] = &["overrides"];

/// The arguments of a command and of all its subcommands, each with its command and the command's
/// full name.
fn arguments<'a>(command: &'a Command, name: &str) -> Vec<(String, &'a Command, &'a Arg)> {
    let own = command.get_arguments().map(|argument| (name.to_string(), command, argument));
    let subcommands = command.get_subcommands();
    let below = subcommands.flat_map(|sub| arguments(sub, &format!("{name} {}", sub.get_name())));
    own.chain(below).collect()
}

/// Whether the argument, or another one of its group, must be given.
fn is_required(command: &Command, argument: &Arg) -> bool {
    let holds = |group: &ArgGroup| group.get_args().any(|id| id == argument.get_id());
    let is_in_required_group =
        command.get_groups().any(|group| group.is_required_set() && holds(group));
    argument.is_required_set() || is_in_required_group
}

#[test]
fn the_help_of_every_option_names_its_default() {
    let program = Cli::command();
    let mut checked = 0;
    for (name, command, argument) in arguments(&program, "outflank") {
        let is_exempt = WITHOUT_DEFAULT.contains(&argument.get_id().as_str());
        if !argument.get_action().takes_values() || is_required(command, argument) || is_exempt {
            continue;
        }
        checked += 1;
        let help = [argument.get_help(), argument.get_long_help()].into_iter().flatten();
        let help: Vec<String> = help.map(|text| text.to_string().to_lowercase()).collect();
        let is_named = |word: &str| help.iter().any(|text| text.contains(word));
        assert!(
            !argument.get_default_values().is_empty() || is_named("default") || is_named("without"),
            "`{name}`: the help of `{argument}` names no default: {help:?}"
        );
    }
    assert!(checked > 30, "{checked}");
}
