//! With the feature `torch`: links libtorch with its GPU backends, and sets the path on which the
//! program finds it at run time.
//!
//! `libtorch.so` has nothing that the program calls; it only loads the CUDA libraries. So the
//! linker drops it without `--no-as-needed`, and the program then sees no GPU and reports no error.
//! The search path is a `RUNPATH`, not an `RPATH`: `LD_LIBRARY_PATH` has priority over it, so one
//! binary works with a CPU and a CUDA libtorch. The path is absolute, so the binary runs from any
//! folder.

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
    println!("cargo::rustc-link-arg=-L{}", lib.display());
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos") {
        println!("cargo::rustc-link-arg=-ltorch");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());
    } else {
        println!("cargo::rustc-link-arg=-Wl,--no-as-needed");
        println!("cargo::rustc-link-arg=-ltorch");
        println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags,-rpath,{}", lib.display());
    }
}
