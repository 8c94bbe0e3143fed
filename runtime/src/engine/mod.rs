//! Search engine as seen by the host: it opens sessions and steps them.
//!
//! An engine performs no I/O and does not use the network. There are two engines, the guest as a
//! WebAssembly component and the guest linked as a Rust library. Their answers are byte-identical.

mod contract;
mod defect;
#[cfg(feature = "native")]
mod native;
#[cfg(feature = "wasm")]
mod wasm;

pub use contract::{Engine, EngineInstance, InstanceLimits};
pub(crate) use defect::defect;
#[cfg(feature = "native")]
pub use native::NativeEngine;
#[cfg(feature = "wasm")]
pub use wasm::{CodeOrigin, WasmEngine, WasmOptions};
