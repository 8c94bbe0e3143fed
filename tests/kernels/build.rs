//! Tells the host where `cargo xtask guest` writes the module.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // `OUT_DIR = <target folder>[/<triple>]/<profile>/build/<package>/out`.
    let mut folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    for _ in 0..4 {
        folder.pop();
    }
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=CANTER_KERNELS_TARGET={target}");
    if folder.ends_with(target) {
        folder.pop();
    }
    let module = folder.join("wasm32-unknown-unknown/guest/canter_kernels.wasm");
    println!("cargo::rustc-env=CANTER_KERNELS={}", module.display());
}
