//! Viceroy, Fastly's local runtime. It is compiled, which takes a quarter of an hour, so it is installed
//! only when asked for (`cargo xtask tools --all`).

use std::process::Command;

use anyhow::Result;

use super::{find, is_named_by, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

/// The newest that the `fastly` crate of ours works with.
const VERSION: &str = "0.22.0";

/// Whether one is named, on the path, or installed by us.
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
        // Outside of our workspace, whose toolchain and flags are not meant for it.
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
