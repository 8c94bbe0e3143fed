//! Tells the crate which target it is compiled for and where the guest component is.
//!
//! The guest is not built here (that is `cargo xtask guest`): a build script that runs cargo for
//! another target would compile tantivy behind the back of whoever builds this crate.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CANTER_EMBED_GUEST");
    println!("cargo::rustc-check-cfg=cfg(canter_embed_guest)");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=CANTER_TARGET={target}");
    let guest_dir = guest_dir(&target);
    println!("cargo::rustc-env=CANTER_GUEST_DIR={}", guest_dir.display());
    // Set by `cargo xtask dist`, after it has built the guest.
    if std::env::var_os("CANTER_EMBED_GUEST").is_some() {
        for file in ["canter-guest.wasm", "canter-guest.cwasm"] {
            println!("cargo::rerun-if-changed={}", guest_dir.join(file).display());
        }
        println!("cargo::rustc-cfg=canter_embed_guest");
    }
}

/// `<target folder>/guest`. The target folder is found from
/// `OUT_DIR = <target folder>[/<triple>]/<profile>/build/<package>/out`.
fn guest_dir(target: &str) -> PathBuf {
    let mut folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    for _ in 0..4 {
        folder.pop();
    }
    if folder.ends_with(target) {
        folder.pop();
    }
    folder.join("guest")
}
