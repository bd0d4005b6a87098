//! `scripts/setup.sh` as a user runs it, without a network. Tools, libtorch and Python are fakes.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Programs that the script calls, except the tools that it checks for.
const TOOLS: &[&str] = &["bash", "env", "dirname", "awk", "sed", "grep", "ln", "touch"];

/// A temporary folder with a checkout, a cache, and `bin`, the only folder on the PATH.
struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["checkout/scripts", "bin"] {
            fs::create_dir_all(sandbox.path(folder)).expect("it can be made");
        }
        fs::write(sandbox.path("checkout/build.rs"), "").expect("it can be written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/setup.sh");
        fs::copy(script, sandbox.path("checkout/scripts/setup.sh")).expect("the script is there");
        for tool in TOOLS {
            let real = which(tool).unwrap_or_else(|| panic!("{tool} is needed by this test"));
            symlink(real, sandbox.path("bin").join(tool)).expect("it can be linked");
        }
        sandbox
    }

    fn with_tools(self) -> Self {
        for tool in ["cargo", "cc", "c++"] {
            self.tool(tool, "exit 0");
        }
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a shell script on the PATH.
    fn tool(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{script}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be set");
    }

    /// Creates a fake libtorch 2.`minor`.0 that the script accepts as complete.
    fn libtorch(&self, name: &str, minor: u32) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir_all(folder.join("include/torch/headeronly")).expect("it can be made");
        fs::create_dir_all(folder.join("lib")).expect("it can be made");
        let header = format!(
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR {minor}\n#define TORCH_VERSION_PATCH 0\n"
        );
        fs::write(folder.join("include/torch/headeronly/version.h"), header).expect("written");
        for library in ["libtorch.so", "libtorch_cpu.so"] {
            fs::write(folder.join("lib").join(library), "").expect("it can be written");
        }
        folder
    }

    fn run(&self, arguments: &[&str], libtorch: Option<&Path>) -> Output {
        let mut command = Command::new(self.path("checkout/scripts/setup.sh"));
        command.args(arguments).env_clear().env("PATH", self.path("bin"));
        command.env("OUTFLANK_CACHE", self.path("cache")).current_dir(self.folder.path());
        if let Some(libtorch) = libtorch {
            command.env("LIBTORCH", libtorch);
        }
        command.output().expect("bash runs")
    }

    fn link(&self) -> Option<PathBuf> {
        fs::read_link(self.path("checkout/.libtorch")).ok()
    }
}

fn which(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().expect("it is there")
}

#[test]
fn names_all_missing_tools_at_once_each_with_its_fix() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["--cpu"], None);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    for tool in ["cargo", "C++ compiler", "python3"] {
        assert!(text.lines().any(|line| line.contains(tool) && line.contains("fix:")), "{text}");
    }
    assert_eq!(sandbox.link(), None);
}

#[test]
fn links_a_libtorch_of_the_right_version_and_changes_nothing_the_second_time() {
    let sandbox = Sandbox::new().with_tools();
    let libtorch = sandbox.libtorch("mine", 11);
    let output = sandbox.run(&[], Some(&libtorch));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(sandbox.link(), Some(real(&libtorch)));

    let changed =
        || fs::metadata(sandbox.path("checkout/build.rs")).and_then(|data| data.modified());
    let before = changed().expect("it is there");
    // With LIBTORCH, without it, and with LIBTORCH at the link itself.
    for again in [Some(libtorch.as_path()), None, Some(&sandbox.path("checkout/.libtorch"))] {
        assert!(sandbox.run(&[], again).status.success());
        assert_eq!(sandbox.link(), Some(real(&libtorch)));
    }
    assert_eq!(changed().expect("it is there"), before, "build.rs was touched without need");
}

#[test]
fn refuses_a_libtorch_of_another_version() {
    let sandbox = Sandbox::new().with_tools();
    let output = sandbox.run(&[], Some(&sandbox.libtorch("old", 10)));
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("2.10.0") && text.contains("2.11.0") && text.contains("fix:"), "{text}");
    let output = sandbox.run(&[], Some(&sandbox.path("nowhere")));
    assert!(stderr(&output).contains("not a folder"), "{}", stderr(&output));
    // A path that only works in this folder, and an empty one, would not work in Cargo.
    sandbox.libtorch("good", 11);
    for (path, message) in [("good", "not an absolute path"), ("", "set, but empty")] {
        let output = sandbox.run(&[], Some(Path::new(path)));
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    assert_eq!(sandbox.link(), None);
}

#[test]
fn fetches_a_missing_libtorch_and_leaves_no_link_if_that_fails() {
    let sandbox = Sandbox::new().with_tools();
    sandbox.tool("python3", "case $1 in -c) exit 0 ;; *) exit 1 ;; esac");
    assert!(!sandbox.run(&["--cpu"], None).status.success());
    assert_eq!(sandbox.link(), None);

    let libtorch = sandbox.libtorch("cache/fetched", 11);
    let script = format!(
        "case $1 in -c) ;; *) test \"$1 $2\" = 'scripts/libtorch.py cpu' && echo '{}' ;; esac",
        libtorch.display()
    );
    sandbox.tool("python3", &script);
    let output = sandbox.run(&["--cpu"], None);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(sandbox.link(), Some(real(&libtorch)));

    // A link whose target is missing counts as no link.
    fs::rename(&libtorch, sandbox.path("away")).expect("it can be moved");
    fs::create_dir_all(sandbox.path("cache")).expect("it can be made");
    sandbox.tool("python3", "case $1 in -c) ;; *) echo fetching >&2; exit 1 ;; esac");
    assert!(stderr(&sandbox.run(&[], None)).contains("fetching"));
}

#[test]
fn the_option_cuda_replaces_a_libtorch_without_cuda() {
    let sandbox = Sandbox::new().with_tools();
    sandbox.run(&[], Some(&sandbox.libtorch("cpu", 11)));
    let cuda = sandbox.libtorch("cuda", 11);
    fs::write(cuda.join("lib/libtorch_cuda.so"), "").expect("it can be written");
    // An installed PyTorch with CUDA is linked.
    sandbox.tool("python3", &format!("test $1 = -c && echo '{}'", cuda.display()));
    let output = sandbox.run(&["--cuda"], None);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(sandbox.link(), Some(real(&cuda)));
    // A complete libtorch that is linked already stays linked.
    assert!(sandbox.run(&[], None).status.success());
    assert_eq!(sandbox.link(), Some(real(&cuda)));
}

#[test]
fn an_unknown_argument_is_refused_with_the_allowed_ones() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["--gpu"], None);
    assert!(!output.status.success() && stderr(&output).contains("--cpu, --cuda"));
    let help = sandbox.run(&["--help"], None);
    assert!(String::from_utf8_lossy(&help.stdout).contains("OUTFLANK_CACHE"));
}
