//! The thin wasm shell: `canter_guest::Session` behind the interface of `wit/canter-search.wit`.
//!
//! It only translates types. The resulting component has no imports at all: no clock, no randomness,
//! no I/O, so it runs unchanged under wasmtime and, transpiled, on every JavaScript host. Byte
//! vectors are moved across, never copied.

mod exports;
#[cfg(target_arch = "wasm32")]
#[allow(
    unsafe_code,
    reason = "an allocator: it makes memory that others have promises for"
)]
mod memory;
#[cfg(target_arch = "wasm32")]
mod randomness;
