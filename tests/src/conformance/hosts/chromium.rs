//! Chromium: a page that searches in a Web Worker, and a script that passes HTTP requests to it.
//!
//! ```text
//!   test ── HTTP ──▶ chromium.mjs ── playwright ──▶ page in Chromium ── fetch ──▶ browser-host.mjs ──▶ store
//! ```

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::javascript::{add_arguments, bundle, node};
use super::listening::Listening;
use super::{Caching, Host, Running};
use crate::conformance::{Answer, Call, Machine, Site};

const PAGE_SERVER: &str = "edge-adapters/js/hosts/browser-host.mjs";
const DRIVER: &str = "tests/conformance/chromium.mjs";
const MODULES: &str = "tools/javascript";
const BUILD: &str = "cargo xtask conformance";

/// Host in the browser.
pub(super) struct Chromium;

impl Host for Chromium {
    fn name(&self) -> &'static str {
        "chromium"
    }

    fn title(&self) -> &'static str {
        "Chromium"
    }

    fn shares_its_program(&self) -> bool {
        true
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        node(machine)?;
        program(machine)?;
        machine.file(PAGE_SERVER, BUILD)?;
        machine.artifact(
            &format!("{MODULES}/node_modules/playwright-core"),
            "cargo xtask tools",
        )?;
        let mut files = bundle(machine, "edge-adapters/js/dist/bundle")?;
        let guest = bundle(machine, "edge-adapters/js/guest")?;
        files.extend(
            guest
                .into_iter()
                .filter(|file| file.extension().is_some_and(|end| end == "wasm")),
        );
        Ok(files)
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        let lacking = anyhow::Error::msg;
        let node = node(machine).map_err(lacking)?;
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(&node);
        command.arg(machine.file(PAGE_SERVER, BUILD).map_err(lacking)?);
        add_arguments(&mut command, site, caching, &folder);
        let page_server = Listening::start(&mut command, folder)?;
        let mut command = Command::new(&node);
        command
            .arg(machine.file(DRIVER, BUILD).map_err(lacking)?)
            .arg("--modules")
            .arg(machine.artifact(MODULES, BUILD).map_err(lacking)?)
            .arg("--program")
            .arg(program(machine).map_err(lacking)?)
            .args(["--page", &format!("{}/", page_server.origin())]);
        Ok(Box::new(OpenPage {
            driver: Listening::start(&mut command, tempfile::tempdir()?)?,
            _page_server: page_server,
        }))
    }
}

fn program(machine: &Machine) -> Result<PathBuf, String> {
    machine
        .tool("chromium", "CANTER_CHROMIUM")
        .or_else(|_| machine.tool("chromium-browser", "CANTER_CHROMIUM"))
        .or_else(|_| machine.tool("google-chrome", "CANTER_CHROMIUM"))
        .map_err(|_| {
            "there is no Chromium on the path: install it, run `cargo xtask tools` where it may, or name \
             the program in CANTER_CHROMIUM"
                .to_owned()
        })
}

/// The browser must end before the server of its page.
struct OpenPage {
    driver: Listening,
    _page_server: Listening,
}

impl Running for OpenPage {
    fn send(&mut self, call: &Call) -> Result<Answer> {
        self.driver.send(call)
    }
}
