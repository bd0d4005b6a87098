//! Links libtorch so that its device backends load, and finds it again at run time.
//!
//! Without `--no-as-needed` the linker drops `libtorch.so`, whose only job is to pull in the
//! CUDA half, and a GPU is silently absent. The run-time search path is an old-style one that
//! `LD_LIBRARY_PATH` precedes, so that one binary serves a CPU and a CUDA libtorch.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    println!("cargo::rerun-if-changed=build.rs");
    let Some(libtorch) = std::env::var_os("LIBTORCH") else { return };
    let lib = Path::new(&libtorch).join("lib");
    let lib = lib.canonicalize().unwrap_or(lib);
    println!("cargo::rustc-link-arg=-Wl,--no-as-needed");
    println!("cargo::rustc-link-arg=-L{}", lib.display());
    println!("cargo::rustc-link-arg=-ltorch");
    println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags,-rpath,{}", lib.display());
}
