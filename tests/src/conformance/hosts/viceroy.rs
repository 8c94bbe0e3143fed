//! Viceroy, which runs programs for Fastly Compute locally.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::listening::Listening;
use super::{Caching, Host, Running};
use crate::conformance::{Machine, Site};

/// Limit of requests, more than any search of the list needs; the platform's limit is 32.
const MAX_REQUESTS: u32 = 1_000;
/// Limit of CPU time; the platform's limit is 50.
const MAX_CPU_MS: u32 = 60_000;

/// Host for the Fastly Compute program.
pub(super) struct Viceroy;

impl Viceroy {
    fn program(machine: &Machine) -> Result<PathBuf, String> {
        machine.tool("viceroy", "CANTER_VICEROY")
    }

    fn artifact(machine: &Machine) -> Result<PathBuf, String> {
        machine.artifact("guest/canter-fastly.wasm", "cargo xtask fastly")
    }
}

impl Host for Viceroy {
    fn name(&self) -> &'static str {
        "viceroy"
    }

    fn title(&self) -> &'static str {
        "Viceroy (Fastly Compute)"
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        Self::program(machine)?;
        Ok(vec![Self::artifact(machine)?])
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        let folder = tempfile::tempdir()?;
        let settings = folder.path().join("fastly.toml");
        fs::write(&settings, settings_of(site, caching)).context("fastly.toml")?;
        let mut command = Command::new(Self::program(machine).map_err(anyhow::Error::msg)?);
        command
            // Viceroy prints its address only in verbose mode.
            .args(["serve", "-v", "--addr", "127.0.0.1:0", "-C"])
            .arg(&settings)
            .arg(Self::artifact(machine).map_err(anyhow::Error::msg)?);
        Ok(Box::new(Listening::start(&mut command, folder)?))
    }
}

/// Returns settings with one backend and a config store.
fn settings_of(site: &Site, caching: Caching) -> String {
    let indexes = site.urls().into_iter();
    let indexes: Vec<String> = indexes.map(|(name, url)| format!("{name}={url}")).collect();
    let cache = match caching {
        Caching::Off => "off",
        Caching::On => "on",
    };
    format!(
        "manifest_version = 3\nname = \"canter\"\nlanguage = \"rust\"\n\n\
         [local_server.backends.store]\nurl = \"{}\"\n\n\
         [local_server.config_stores.canter]\nformat = \"inline-toml\"\n\n\
         [local_server.config_stores.canter.contents]\n\
         CANTER_INDEXES = \"{}\"\n\
         CANTER_BACKEND = \"store\"\n\
         CANTER_CACHE = \"{cache}\"\n\
         CANTER_MAX_REQUESTS = \"{MAX_REQUESTS}\"\n\
         CANTER_MAX_CPU_MS = \"{MAX_CPU_MS}\"\n",
        site.root(),
        indexes.join(",")
    )
}
