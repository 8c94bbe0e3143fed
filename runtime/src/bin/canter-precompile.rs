//! Compiles the guest component ahead of time: `canter-precompile COMPONENT.wasm OUT.cwasm`.
//!
//! Run by `cargo xtask guest`. Does nothing if the output is already up to date.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use canter_runtime::engine::WasmEngine;

fn main() -> ExitCode {
    match run() {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("canter-precompile: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [component_path, out_path] = paths.as_slice() else {
        return Err("usage: canter-precompile COMPONENT.wasm OUT.cwasm".to_owned());
    };
    let component = fs::read(component_path)
        .map_err(|error| format!("cannot read {}: {error}", component_path.display()))?;
    if let Ok(current) = fs::read(out_path) {
        // SAFETY: the file is in the target folder, where this program wrote it.
        #[allow(
            unsafe_code,
            reason = "loading precompiled code to see whether it still fits"
        )]
        let is_current = unsafe { WasmEngine::is_current(&component, &current) };
        if is_current {
            return Ok(format!("{} is current", out_path.display()));
        }
    }
    let precompiled = WasmEngine::precompile(&component).map_err(|error| error.to_string())?;
    let temporary = out_path.with_extension("cwasm.tmp");
    fs::write(&temporary, &precompiled)
        .and_then(|()| fs::rename(&temporary, out_path))
        .map_err(|error| format!("cannot write {}: {error}", out_path.display()))?;
    Ok(format!(
        "{}: {} bytes",
        out_path.display(),
        precompiled.len()
    ))
}
