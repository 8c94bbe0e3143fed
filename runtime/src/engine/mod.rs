//! The search engine as the host sees it: something that opens sessions and steps them.
//!
//! An engine performs no I/O and knows no network; two are given, the guest as a WebAssembly
//! component and the guest linked as a Rust library. They answer the same, byte for byte.

mod contract;
#[cfg(feature = "native")]
mod native;
#[cfg(feature = "wasm")]
mod wasm;

pub use contract::{Engine, EngineInstance, InstanceLimits};
#[cfg(feature = "native")]
pub use native::NativeEngine;
#[cfg(feature = "wasm")]
pub use wasm::{CodeOrigin, WasmEngine, WasmOptions};
