//! `cargo-zigbuild` and zig from their Python packages: builds for another processor and an older
//! glibc.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{find, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

const VERSION: &str = "0.24.0";
const ZIG_VERSION: &str = "0.15.1";

/// Installed programs.
pub(crate) struct Zigbuild {
    folder: PathBuf,
}

/// Installs both, unless they are present.
pub(crate) fn install(workspace: &Workspace) -> Result<Zigbuild> {
    let folder = workspace.tools_dir().join("zigbuild");
    once("cargo-zigbuild", VERSION, &folder, || {
        let python = find(&["python3", "python"]).context("there is no Python")?;
        run_quietly(
            Command::new(python)
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
                .arg(&folder)
                .arg(format!("cargo-zigbuild=={VERSION}"))
                .arg(format!("ziglang=={ZIG_VERSION}"))
                .env("PIP_ROOT_USER_ACTION", "ignore")
                .env("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        )
    })?;
    Ok(Zigbuild { folder })
}

impl Zigbuild {
    /// Adds both to the path of a cargo command.
    pub(crate) fn set_env(&self, command: &mut Command) -> Result<()> {
        let old = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.join("bin"));
        let folders = folders.chain(std::env::split_paths(&old));
        let path = std::env::join_paths(folders).context("PATH")?;
        let zig = self.folder.join("ziglang").join("zig");
        command
            .env("PATH", path)
            .env("CARGO_ZIGBUILD_ZIG_PATH", zig);
        Ok(())
    }
}
