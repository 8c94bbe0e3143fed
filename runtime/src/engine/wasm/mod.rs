//! The guest as a WebAssembly component, run by wasmtime.
//!
//! Compiled once and ahead of time where that can be; each query gets a fresh instance, with a memory
//! cap and a deadline. A trap is an error of that query and of nothing else.

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
