//! What the two ways to use stock wasmtime share: the program, and the component compiled ahead of time.

use std::path::PathBuf;

use crate::conformance::Machine;

const BUILD: &str = "cargo xtask wasi";

/// The `wasmtime` command.
pub(super) fn program(machine: &Machine) -> Result<PathBuf, String> {
    machine.tool("wasmtime", "CANTER_WASMTIME")
}

/// The component, which is what is deployed.
pub(super) fn component(machine: &Machine) -> Result<PathBuf, String> {
    machine.artifact("guest/canter-wasi.wasm", BUILD)
}

/// The component as this wasmtime compiled it: compiling takes longer than a thousand searches.
pub(super) fn compiled(machine: &Machine) -> Result<PathBuf, String> {
    machine.artifact("guest/canter-wasi.cwasm", BUILD)
}
