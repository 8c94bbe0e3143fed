//! Folders of the workspace, and cargo commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::lints;

/// Program that compiles the component ahead of time.
pub(crate) const PRECOMPILE: &str = "canter-precompile";

/// Variable that enables the full tests.
const FULL: &str = "CI_FULL";

/// Returns whether the full tests are asked for.
pub(crate) fn is_everything_tested() -> bool {
    std::env::var_os(FULL).is_some_and(|value| !value.is_empty())
}

/// Folders of the workspace.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target_dir: PathBuf,
    /// True if crates are linted during compilation: in CI, which starts from nothing.
    pub(crate) lints_in_passing: bool,
    /// True in the full tests, which run nightly: what takes minutes and seldom breaks is tested, too.
    pub(crate) tests_everything: bool,
}

impl Workspace {
    pub(crate) fn locate() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("xtask is not inside the workspace")?
            .to_owned();
        Ok(Self {
            target_dir: target_dir()?,
            root,
            lints_in_passing: std::env::var_os("CI").is_some(),
            tests_everything: is_everything_tested(),
        })
    }

    /// Returns the folder of the guest component and its compiled form.
    pub(crate) fn guest_dir(&self) -> PathBuf {
        self.target_dir.join("guest")
    }

    /// Returns the folder of third-party programs for tests.
    pub(crate) fn tools_dir(&self) -> PathBuf {
        self.target_dir.join("tools")
    }

    /// Returns the path of a binary of the dev profile.
    pub(crate) fn dev_binary(&self, name: &str) -> PathBuf {
        self.target_dir
            .join("debug")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Creates a command of the cargo that runs this program, in the workspace's root.
    ///
    /// Variables that cargo sets for this package are removed: some build scripts read them, so
    /// that TLS and everything above it would be compiled again after each direct call of cargo.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        for (name, _) in std::env::vars_os() {
            let is_ours = name.to_str().is_some_and(|name| {
                name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
            });
            if is_ours {
                command.env_remove(name);
            }
        }
        command
            .args(args)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target_dir);
        if self.lints_in_passing {
            lints::stand_in(&mut command, &self.target_dir.join("lints"));
        }
        command
    }

    /// Returns the `cargo build` command for the command line and the ahead-of-time compiler as the
    /// demo needs them: without buckets, web servers, the server and the native engine, which are
    /// half of the code.
    pub(crate) fn build_lean_binaries(&self) -> Command {
        self.cargo(&[
            "build",
            "--package",
            "canter-cli",
            "--package",
            "canter-runtime",
            "--bin",
            "canter",
            "--bin",
            PRECOMPILE,
            "--no-default-features",
            "--features",
            "canter-runtime/compile",
        ])
    }

    /// Returns the `cargo build` command for one binary with the features of the whole workspace:
    /// `-p` alone would change features of dependencies, and compile wasmtime and tokio again.
    pub(crate) fn build_binary(&self, name: &str) -> Command {
        self.cargo(&[
            "build",
            "--workspace",
            "--exclude",
            "canter-guest-component",
            "--bin",
            name,
        ])
    }
}

/// Returns the target folder: `CARGO_TARGET_DIR`, or the one that contains this program.
fn target_dir() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR").filter(|folder| !folder.is_empty()) {
        let folder = std::path::absolute(&folder);
        return folder.context("CARGO_TARGET_DIR is not a path");
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    // `<target folder>/debug/xtask`
    match program.ancestors().nth(2) {
        Some(folder) => Ok(folder.to_owned()),
        None => bail!("{} is not in a target folder", program.display()),
    }
}
