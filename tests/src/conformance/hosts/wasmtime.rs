//! Shared parts of the two hosts with stock wasmtime: the program, and the precompiled component.

use std::path::PathBuf;

use crate::conformance::Machine;

const BUILD: &str = "cargo xtask wasi";

/// Returns the `wasmtime` command.
pub(super) fn program(machine: &Machine) -> Result<PathBuf, String> {
    machine.tool("wasmtime", "CANTER_WASMTIME")
}

/// Returns the component, which is deployed.
pub(super) fn component(machine: &Machine) -> Result<PathBuf, String> {
    machine.artifact("guest/canter-wasi.wasm", BUILD)
}

/// Returns the component precompiled by this wasmtime: compiling takes longer than a thousand
/// searches.
pub(super) fn compiled(machine: &Machine) -> Result<PathBuf, String> {
    machine.artifact("guest/canter-wasi.cwasm", BUILD)
}
