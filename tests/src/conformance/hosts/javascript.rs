//! The JavaScript hosts of `edge-adapters/js/hosts`: Node, Deno and workerd.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use super::listening::Listening;
use super::{Caching, Host, Running};
use crate::conformance::{Machine, Site};

/// Command that builds the package and the Worker.
const BUILD: &str = "cargo xtask conformance";

/// JavaScript runtime as a host.
pub(super) struct JavaScript {
    name: &'static str,
    title: &'static str,
    script: &'static str,
    runtime: Runtime,
}

#[derive(PartialEq, Eq)]
enum Runtime {
    Node,
    Deno,
    /// Started by Node.
    Workerd,
}

/// Node.
pub(super) const NODE: JavaScript = JavaScript {
    name: "node",
    title: "Node",
    script: "edge-adapters/js/hosts/node-host.mjs",
    runtime: Runtime::Node,
};

/// Deno.
pub(super) const DENO: JavaScript = JavaScript {
    name: "deno",
    title: "Deno",
    script: "edge-adapters/js/hosts/deno-host.mjs",
    runtime: Runtime::Deno,
};

/// The runtime of Cloudflare Workers.
pub(super) const WORKERD: JavaScript = JavaScript {
    name: "workerd",
    title: "workerd (Cloudflare Workers)",
    script: "edge-adapters/js/hosts/workerd-host.mjs",
    runtime: Runtime::Workerd,
};

impl JavaScript {
    /// Returns the program and its arguments, up to those of the host.
    fn command(&self, machine: &Machine) -> Result<Command, String> {
        let script = machine.file(self.script, BUILD)?;
        let mut command = match self.runtime {
            Runtime::Node | Runtime::Workerd => Command::new(node(machine)?),
            Runtime::Deno => {
                let installed = "tools/javascript/node_modules/.bin/deno";
                let mut deno = Command::new(machine.npm_tool(installed, "CANTER_DENO")?);
                deno.args(["run", "--quiet", "--no-config", "--no-lock", "--no-remote"]);
                deno.args([
                    "--allow-net=127.0.0.1",
                    "--allow-read",
                    "--allow-write",
                    "--allow-env",
                ]);
                deno
            }
        };
        command.arg(script);
        Ok(command)
    }
}

impl Host for JavaScript {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn shares_its_program(&self) -> bool {
        self.runtime == Runtime::Deno
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        self.command(machine)?;
        if self.runtime == Runtime::Workerd {
            machine.file("edge-adapters/cloudflare/node_modules/miniflare", BUILD)?;
            return bundle(machine, "edge-adapters/cloudflare/dist");
        }
        machine.file("edge-adapters/js/dist/entry/node.js", BUILD)?;
        bundle(machine, "edge-adapters/js/guest")
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        let folder = tempfile::tempdir()?;
        let mut command = self.command(machine).map_err(anyhow::Error::msg)?;
        add_arguments(&mut command, site, caching, &folder);
        Ok(Box::new(Listening::start(&mut command, folder)?))
    }
}

/// Adds the arguments that all scripts of that folder take.
pub(super) fn add_arguments(
    command: &mut Command,
    site: &Site,
    caching: Caching,
    folder: &TempDir,
) {
    for (name, url) in site.urls() {
        command.args(["--index", &format!("{name}={url}")]);
    }
    match caching {
        Caching::Off => command.args(["--cache", "none"]),
        Caching::On => command.arg("--cache").arg(folder.path()),
    };
}

/// Returns Node, which we do not install.
pub(super) fn node(machine: &Machine) -> Result<PathBuf, String> {
    machine.tool("node", "CANTER_NODE")
}

/// Returns the scripts and core modules in a folder, which are deployed.
pub(super) fn bundle(machine: &Machine, folder: &str) -> Result<Vec<PathBuf>, String> {
    let folder = machine.file(folder, BUILD)?;
    let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end == "js" || end == "wasm")
        })
        .collect();
    files.sort();
    match files.is_empty() {
        true => Err(format!("nothing is in {}: run `{BUILD}`", folder.display())),
        false => Ok(files),
    }
}
