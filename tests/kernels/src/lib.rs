//! The guest's loops over packed bytes, each by itself, native and in WebAssembly: [`Job::run`]
//! runs a [`Job`] natively, and [`Module`] in WebAssembly.
//!
//! The component inlines these loops in many places and exports none. This separate module is
//! compiled like the component, but never shipped. The loops over columns are the guest's own
//! source files, so that nothing else has to be compiled. The crate knows no columns or postings:
//! tests compare results, and benches measure time.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, reason = "exports have names")]
mod exports;
mod job;
#[path = "../../../guest/aggregations/src/columns/kernels/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "a part of another crate, of which jobs are not all"
)]
mod kernels;
#[path = "../../../guest/matching/src/kernels/mod.rs"]
#[allow(
    dead_code,
    reason = "a part of another crate, of which jobs are not all"
)]
mod matching;
#[cfg(not(target_arch = "wasm32"))]
mod module;
mod vectors;

pub use job::{Job, Kernel};
#[cfg(not(target_arch = "wasm32"))]
pub use module::Module;
