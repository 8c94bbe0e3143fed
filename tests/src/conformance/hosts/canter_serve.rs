//! `canter serve`: our own runtime, with the native engine or with the component.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::listening::Listening;
use super::{Caching, Host, Running};
use crate::conformance::{Machine, Site};

/// `canter serve` with one engine.
pub(super) struct CanterServe {
    name: &'static str,
    title: &'static str,
    engine: &'static str,
}

/// The search engine as a Rust library.
pub(super) const NATIVE: CanterServe = CanterServe {
    name: "native",
    title: "`canter serve`, native engine",
    engine: "native",
};

/// The component in our wasmtime runtime.
pub(super) const RUNTIME: CanterServe = CanterServe {
    name: "runtime",
    title: "`canter serve`, component",
    engine: "wasm",
};

impl Host for CanterServe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        machine.built("canter")?;
        let component = machine.artifact("guest/canter-guest.wasm", "cargo xtask guest")?;
        Ok(match self.engine {
            "wasm" => vec![component],
            _ => Vec::new(),
        })
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        let program = machine.built("canter").map_err(anyhow::Error::msg)?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--engine", self.engine]);
        let folder = tempfile::tempdir()?;
        match caching {
            Caching::Off => command.arg("--no-cache"),
            Caching::On => command.arg("--cache").arg(folder.path()),
        };
        for (name, url) in site.urls() {
            command.args(["--index", &format!("{name}={url}")]);
        }
        Ok(Box::new(Listening::start(&mut command, folder)?))
    }
}
