//! A Python of our own: a virtual environment with the packages that a file of requirements pins.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{find, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

/// The interpreter of the environment for `requirements`, a path in the workspace. Environments are named after the
/// folder that the file is in.
pub(crate) fn python(workspace: &Workspace, requirements: &str) -> Result<PathBuf> {
    let wanted = workspace.root.join(requirements);
    let packages =
        fs::read_to_string(&wanted).with_context(|| format!("cannot read {requirements}"))?;
    let name = wanted
        .parent()
        .and_then(|folder| folder.file_name())
        .context("the requirements are in no folder")?;
    let folder = workspace.tools_dir().join("python").join(name);
    let version = packages.lines().collect::<Vec<_>>().join(", ");
    once("Python packages", &version, &folder, || {
        let python = find(&["python3"]).context("there is no python3")?;
        run_quietly(Command::new(python).args(["-m", "venv"]).arg(&folder))
            .context("Python's module venv is missing: on Debian it is the package python3-venv")?;
        run_quietly(
            Command::new(folder.join("bin/pip"))
                .args([
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--requirement",
                ])
                .arg(&wanted),
        )
    })?;
    Ok(folder.join("bin/python"))
}
