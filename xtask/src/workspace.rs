//! Where things are, and how cargo is called.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{guest, lints};

/// The workspace's folders.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target_dir: PathBuf,
    /// Whether what is compiled is linted in passing: in CI, which begins with nothing.
    pub(crate) lints_in_passing: bool,
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
        })
    }

    /// Where the guest component and its compiled form are.
    pub(crate) fn guest_dir(&self) -> PathBuf {
        self.target_dir.join("guest")
    }

    /// Programs that tests run and that are not ours.
    pub(crate) fn tools_dir(&self) -> PathBuf {
        self.target_dir.join("tools")
    }

    /// A binary of the dev profile.
    pub(crate) fn dev_binary(&self, name: &str) -> PathBuf {
        self.target_dir
            .join("debug")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The cargo that runs us, at the workspace's root.
    ///
    /// What cargo told us about our own package is kept from it: build scripts look at such variables, and what
    /// depends on them (TLS, and all above it) would compile again whenever somebody calls cargo directly.
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

    /// `cargo build` of the command line and the ahead-of-time compiler as the demo needs them: without
    /// buckets, web servers, a server of their own and the native engine, which are half of what there is to
    /// compile.
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
            guest::PRECOMPILE,
            "--no-default-features",
            "--features",
            "canter-runtime/compile",
        ])
    }

    /// `cargo build` of one binary, with the features that the whole workspace has: `-p` alone would
    /// give dependencies other features, and so compile wasmtime and tokio once more.
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

/// The target folder: what `CARGO_TARGET_DIR` says, or else the one that this program lies in.
fn target_dir() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR").filter(|folder| !folder.is_empty()) {
        let folder = std::path::absolute(&folder);
        return folder.context("CARGO_TARGET_DIR is not a path");
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    // <target folder>/debug/xtask
    match program.ancestors().nth(2) {
        Some(folder) => Ok(folder.to_owned()),
        None => bail!("{} is not in a target folder", program.display()),
    }
}
