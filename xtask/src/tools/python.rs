//! Python virtual environments with the packages that a requirements file pins.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{find, install_debian, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

/// Returns the interpreter of the environment for `requirements`, a path in the workspace. An
/// environment is named after the folder of that file.
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
        let mut make = Command::new(python);
        make.args(["-m", "venv"]).arg(&folder);
        if let Err(error) = run_quietly(&mut make) {
            // Debian packages the module separately.
            ensure!(
                env::var_os("CI").is_some() && find(&["apt-get"]).is_some(),
                "{error:#}: on Debian, install python3-venv"
            );
            install_debian("python3-venv")?;
            run_quietly(&mut make)?;
        }
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
