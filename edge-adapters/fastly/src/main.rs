//! Canter on Fastly Compute: the search API in a `wasm32-wasip1` program that includes the engine.
//!
//! This program only implements the interface to the platform: its requests, its cache and its
//! config store. On other targets it does nothing, so that the whole workspace can be built.

#[cfg(all(target_arch = "wasm32", target_env = "p1"))]
mod calls;
#[cfg(all(target_arch = "wasm32", target_env = "p1"))]
mod config;
#[cfg(all(target_arch = "wasm32", target_env = "p1"))]
mod program;
#[cfg(all(target_arch = "wasm32", target_env = "p1"))]
mod store;

#[cfg(all(target_arch = "wasm32", target_env = "p1"))]
fn main() {
    program::run();
}

#[cfg(not(all(target_arch = "wasm32", target_env = "p1")))]
fn main() {
    eprintln!("this program runs on Fastly Compute: build it with `cargo xtask fastly`");
}
