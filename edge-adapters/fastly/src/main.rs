//! Canter on Fastly Compute: the search API in a `wasm32-wasip1` program, with the engine linked in.
//!
//! Here is only what the platform asks for: its requests, its cache, its config store. On any other target
//! there is nothing to run, so that the workspace can be built as a whole.

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
