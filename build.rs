//! With the feature `torch`: links libtorch with its GPU backends, and sets the path on which the
//! program finds it at run time.
//!
//! `libtorch.so` has nothing that the program calls; it only loads the CUDA libraries. So the
//! linker drops it without `--no-as-needed`, and the program then sees no GPU and reports no error.
//! The search path is a `RUNPATH`, not an `RPATH`: `LD_LIBRARY_PATH` has priority over it, so one
//! binary works with a CPU and a CUDA libtorch. The checkout's path is absolute, so the binary runs
//! from any folder.

use std::{env, path::Path, process::exit};

fn main() {
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    println!("cargo::rerun-if-changed=build.rs");
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!("cargo::rustc-env=OUTFLANK_TARGET_FEATURES={features}");

    if env::var_os("CARGO_FEATURE_TORCH").is_none() {
        return;
    }
    // `.cargo/config.toml` sets LIBTORCH to the checkout's link unless the user has set it.
    let lib = env::var_os("LIBTORCH").map(|folder| Path::new(&folder).join("lib"));
    let Some(lib) = lib.and_then(|lib| lib.canonicalize().ok()) else {
        println!("cargo::error=libtorch is not here yet: run scripts/setup.sh first");
        exit(1);
    };
    // A crate that depends on this one gets no link arguments. But cargo puts the folders of a build
    // script's own output on the library path of what it runs.
    let here = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("libtorch");
    let _ = std::fs::remove_file(&here);
    if std::os::unix::fs::symlink(&lib, &here).is_ok() {
        println!("cargo::rustc-link-search=native={}", here.display());
    }
    println!("cargo::rustc-link-arg=-L{}", lib.display());
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos") {
        println!("cargo::rustc-link-arg=-ltorch");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());
    } else {
        println!("cargo::rustc-link-arg=-Wl,--no-as-needed");
        println!("cargo::rustc-link-arg=-ltorch");
        // The first folder is that of a package (scripts/package.sh).
        let paths = format!("$ORIGIN/../libtorch/lib:{}", lib.display());
        println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags,-rpath,{paths}");
    }
}
