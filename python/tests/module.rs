//! Runs `tests.py` on the module that was just built, in a folder like that of an installed package.

use std::path::Path;
use std::process::Command;

#[test]
fn the_tests_in_python_pass() {
    let python = Command::new("python3")
        .args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
        .status();
    if !python.is_ok_and(|status| status.success()) {
        println!("skipped: there is no python3 from version 3.11 on");
        return;
    }
    // Cargo puts the module beside the test.
    let program = std::env::current_exe().expect("the test's path");
    let built = program.parent().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("outflank");
    std::fs::create_dir(&package).expect("a folder");
    for name in ["__init__.py", "runs.py", "program.py"] {
        std::fs::copy(source.join("outflank").join(name), package.join(name)).expect("a copy");
    }
    let module = built.join("lib_outflank.so");
    std::fs::copy(module, package.join("_outflank.abi3.so")).expect("the built module");
    let tests = source.join("tests/tests.py");
    let mut command = Command::new("python3");
    command.arg(tests).env("PYTHONPATH", folder.path()).current_dir(folder.path());
    let output = command.output().expect("python3 runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}
