//! Stock `wasmtime serve`: the component answers the search API.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::listening::Listening;
use super::wasmtime::{compiled, component, program};
use super::{Caching, Host, Running};
use crate::conformance::{Machine, Site};

/// Host that runs the server.
pub(super) struct WasmtimeServe;

impl Host for WasmtimeServe {
    fn name(&self) -> &'static str {
        "wasmtime-serve"
    }

    fn title(&self) -> &'static str {
        "stock `wasmtime serve`"
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        program(machine)?;
        compiled(machine)?;
        Ok(vec![component(machine)?])
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        let folder = tempfile::tempdir()?;
        let indexes = site.urls().into_iter();
        let indexes: Vec<String> = indexes.map(|(name, url)| format!("{name}={url}")).collect();
        let mut command = Command::new(program(machine).map_err(anyhow::Error::msg)?);
        command
            .args(["serve", "--addr", "127.0.0.1:0", "-S", "cli"])
            .args(["--env", &format!("CANTER_INDEXES={}", indexes.join(","))]);
        if caching == Caching::On {
            let mapped = format!("{}::/cache", folder.path().display());
            command.args(["--dir", &mapped]);
        }
        let compiled = compiled(machine).map_err(anyhow::Error::msg)?;
        command.arg("--allow-precompiled").arg(compiled);
        Ok(Box::new(Listening::start(&mut command, folder)?))
    }
}
