//! What the two ways to use stock wasmtime share: the program, and the component compiled ahead of time.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::conformance::Machine;

/// Our component, below the target folder.
const COMPONENT: &str = "wasi/canter-wasi.wasm";

/// The `wasmtime` command.
pub(super) fn program(machine: &Machine) -> Result<PathBuf, String> {
    machine.tool("wasmtime", "CANTER_WASMTIME")
}

/// The component.
pub(super) fn component(machine: &Machine) -> Result<PathBuf, String> {
    machine.artifact(COMPONENT, "cargo xtask wasi")
}

/// The component as this very wasmtime compiled it: compiling takes longer than a thousand searches.
pub(super) fn compiled(machine: &Machine) -> Result<PathBuf> {
    let program = program(machine).map_err(anyhow::Error::msg)?;
    let component = component(machine).map_err(anyhow::Error::msg)?;
    let compiled = machine.target.join("wasi/conformance.cwasm");
    if is_newer(&compiled, &component) && is_newer(&compiled, &program) {
        return Ok(compiled);
    }
    let status = Command::new(&program)
        .arg("compile")
        .arg(&component)
        .arg("-o")
        .arg(&compiled)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(status.success(), "wasmtime compile: {status}");
    Ok(compiled)
}

fn is_newer(made: &Path, from: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    matches!((time(made), time(from)), (Some(made), Some(from)) if made > from)
}
