//! The guest's loops over packed bytes, each by itself, natively and in WebAssembly: the same [`Job`] is done by
//! [`Job::run`] here and by [`Module`] in there.
//!
//! The component has them inlined in all sorts of places, and no export for any. This is a module of its own, compiled as
//! the component is and shipped to nobody. The loops over columns are the very files of the guest, so that nothing else
//! has to be compiled with them. It knows no columns and no postings, and judges nothing: tests compare and
//! benches time.

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

pub use job::{Job, Kernel};
#[cfg(not(target_arch = "wasm32"))]
pub use module::Module;
