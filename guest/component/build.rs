//! Initial memory of the component: two large pages (`src/memory.rs`), one for its stack
//! (`.cargo/config.toml`) and the other for its data.

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its target by the environment; the guest has none"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--initial-memory={}", 4 << 20);
    }
}
