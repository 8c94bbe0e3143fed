//! The guest as a WebAssembly component, executed by wasmtime.
//!
//! It is compiled once and ahead of time if possible. Each query gets a fresh instance with a
//! memory limit and a deadline. A trap only affects its query.

mod artifact;
mod code;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod compiled_folder;
mod config;
mod embedded;
mod engine;
#[cfg(all(feature = "compile", target_os = "linux"))]
mod polls;
mod running;

pub use config::WasmOptions;
pub use engine::{CodeOrigin, WasmEngine};

#[cfg(all(test, feature = "compile"))]
mod tests;
