//! `cargo xtask wasi` and `cargo xtask fastly`: programs for WASI hosts that contain the engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::guest::{ensure_target, gzip_len, write_if_changed};
use crate::step::{run, run_quietly, step};
use crate::workspace::Workspace;

/// Version of wasmtime for ahead-of-time compilation: no other version can run the result.
const WASMTIME_VERSION: &str = "48.0.2";

/// Builds `<target>/guest/canter-wasi.wasm`, and `canter-wasi.cwasm` if the `wasmtime` command is
/// available.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let component = compile(workspace)?;
    let Some(wasmtime) = find_wasmtime(workspace) else {
        eprintln!(
            "   wasmtime {WASMTIME_VERSION} is not there, so nothing is compiled ahead of time: \
             `cargo xtask tools` installs it, CANTER_WASMTIME names one"
        );
        return Ok(());
    };
    let compiled = component.with_extension("cwasm");
    step("wasi: compile ahead of time", || {
        if is_newer(&compiled, &component) {
            return Ok(());
        }
        run_quietly(
            Command::new(&wasmtime)
                .arg("compile")
                .arg("--output")
                .arg(&compiled)
                .arg(&component),
        )
    })
}

/// Builds `<target>/guest/canter-wasi.wasm` and returns its path.
pub(crate) fn compile(workspace: &Workspace) -> Result<PathBuf> {
    let names = ("canter-wasi", "canter_wasi");
    build_program(workspace, names, "wasm32-wasip2")
}

/// Builds `<target>/guest/canter-fastly.wasm`.
pub(crate) fn build_fastly(workspace: &Workspace) -> Result<()> {
    let names = ("canter-fastly", "canter-fastly");
    build_program(workspace, names, "wasm32-wasip1").map(drop)
}

/// Builds one package for a WASI target and copies the result, a file of the second name, into the
/// guest's folder.
fn build_program(
    workspace: &Workspace,
    (package, file_name): (&str, &str),
    target: &str,
) -> Result<PathBuf> {
    ensure_target(workspace, target)?;
    run(
        &format!("{package}: compile to wasm"),
        workspace
            .cargo(&["build", "--package", package, "--profile", "guest"])
            .args(["--target", target]),
    )?;
    let built = workspace
        .target_dir
        .join(target)
        .join("guest")
        .join(format!("{file_name}.wasm"));
    let bytes = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
    let path = workspace.guest_dir().join(format!("{package}.wasm"));
    write_if_changed(&path, &bytes)?;
    eprintln!(
        "   {}: {} bytes, {} after gzip -9",
        path.display(),
        bytes.len(),
        gzip_len(&bytes)?
    );
    Ok(path)
}

/// Returns the `wasmtime` command of the right version: the one named in the environment, the one
/// installed by `cargo xtask tools`, or the one on the path.
fn find_wasmtime(workspace: &Workspace) -> Option<PathBuf> {
    let name = format!("wasmtime{}", std::env::consts::EXE_SUFFIX);
    let named = std::env::var_os("CANTER_WASMTIME").map(PathBuf::from);
    let installed = workspace.tools_dir().join("wasmtime").join(&name);
    let mut candidates = named.into_iter().chain([installed, PathBuf::from(name)]);
    candidates.find(|program| is_of_version(program))
}

fn is_of_version(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout);
        text.split_whitespace().nth(1) == Some(WASMTIME_VERSION)
    })
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    match (modified(file), modified(than)) {
        (Some(file), Some(than)) => file >= than,
        _ => false,
    }
}
