//! Viceroy, Fastly's local runtime. Compiling it takes a quarter of an hour, so it is only
//! installed on request (`cargo xtask tools --all`).

use std::process::Command;

use anyhow::Result;

use super::{find, is_named_by, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

/// Newest version that works with our version of the `fastly` crate.
const VERSION: &str = "0.22.0";

/// Returns whether Viceroy is named in the environment, on the path, or installed.
pub(super) fn is_there(workspace: &Workspace) -> bool {
    is_named_by("CANTER_VICEROY")
        || find(&["viceroy"]).is_some()
        || workspace.tools_dir().join("viceroy/bin/viceroy").is_file()
}

pub(super) fn install(workspace: &Workspace) -> Result<()> {
    if is_named_by("CANTER_VICEROY") || find(&["viceroy"]).is_some() {
        return Ok(());
    }
    let folder = workspace.tools_dir().join("viceroy");
    once("viceroy", VERSION, &folder, || {
        // Outside of our workspace, so that its toolchain and flags do not apply.
        run_quietly(
            Command::new("cargo")
                .args([
                    "install",
                    "viceroy",
                    "--version",
                    VERSION,
                    "--locked",
                    "--root",
                ])
                .arg(&folder)
                .env_remove("CARGO_TARGET_DIR")
                .current_dir(std::env::temp_dir()),
        )
    })
}
