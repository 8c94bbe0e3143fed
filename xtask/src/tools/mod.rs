//! Third-party programs that tests run: installed into `<target>/tools` if they are missing, with
//! pinned versions.
//!
//! Building needs none of them. Failed installations are reported, and the tests that need them are
//! skipped by name, unless the environment forbids it (as `.ci/run` does).

mod chromium;
mod java;
mod javascript;
mod python;
pub(crate) mod rest_spec;
pub(crate) mod s3_server;
mod viceroy;
mod wasmtime;
pub(crate) mod zigbuild;

pub(crate) use java::java;
pub(crate) use python::python;
pub(crate) use s3_server::find_go;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result};

use crate::step::{run, step};
use crate::workspace::Workspace;

/// Installs missing tools, as far as this machine permits. `with_slow_ones` includes those that
/// take many minutes to compile.
pub(crate) fn install(workspace: &Workspace, with_slow_ones: bool) -> Result<()> {
    s3_server::install(workspace)?;
    install_for_hosts(workspace)?;
    match with_slow_ones {
        true => viceroy::install(workspace),
        false => Ok(()),
    }
}

/// Installs the runtimes of the conformance hosts.
pub(crate) fn install_for_hosts(workspace: &Workspace) -> Result<()> {
    for (name, install) in [
        (
            "wasmtime",
            wasmtime::install as fn(&Workspace) -> Result<()>,
        ),
        ("Deno and the driver of browsers", javascript::install),
        ("Chromium", chromium::install),
        ("YAML tests", rest_spec::install),
    ] {
        // The test reports the hosts that it skips.
        if let Err(error) = install(workspace) {
            eprintln!("   {name} cannot be installed: {error:#}");
        }
    }
    Ok(())
}

/// Returns whether Viceroy is available, to run programs for Fastly.
pub(crate) fn has_viceroy(workspace: &Workspace) -> bool {
    viceroy::is_there(workspace)
}

/// Runs `install`, unless the marker in `folder` names this version.
fn once(
    name: &str,
    version: &str,
    folder: &Path,
    install: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let marker = folder.join("installed-version");
    if fs::read_to_string(&marker).is_ok_and(|found| found == version) {
        return Ok(());
    }
    step(&format!("tools: install {name} {version}"), || {
        if folder.exists() {
            #[expect(
                clippy::disallowed_methods,
                reason = "a folder of this program's below `target`"
            )]
            fs::remove_dir_all(folder)
                .with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        install()?;
        fs::write(&marker, version).context("cannot note the version")
    })
}

/// Installs a Debian package, as root.
fn install_debian(package: &str) -> Result<()> {
    let apt_get = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    run("tools: list packages", &mut apt_get(&["update", "-qq"]))?;
    run(
        &format!("tools: install {package}"),
        &mut apt_get(&["install", "-y", "-qq", "--no-install-recommends", package]),
    )
}

/// Returns the first of these programs that runs.
fn find(programs: &[&str]) -> Option<PathBuf> {
    let runs = |program: &&&str| {
        Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    programs.iter().find(runs).map(PathBuf::from)
}

/// Returns whether an environment variable names the program, so that none is installed.
fn is_named_by(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}
