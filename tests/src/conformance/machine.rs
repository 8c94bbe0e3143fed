//! Requirements on this machine: our own artifacts, and third-party programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result};

/// Locations of artifacts and programs.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Folder of the workspace.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
}

impl Machine {
    /// Locates the folders from the path of this program: `<target>/debug/…`.
    ///
    /// # Errors
    /// The program is elsewhere.
    pub fn locate() -> Result<Self> {
        let program = env::current_exe().context("cannot find this program")?;
        let is_debug = |folder: &&Path| folder.file_name().is_some_and(|name| name == "debug");
        let debug = program.ancestors().find(is_debug);
        let target = debug.and_then(Path::parent);
        let target = target.with_context(|| format!("{} is in no target", program.display()))?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        Ok(Self {
            root: root.context("the workspace")?.to_owned(),
            target: target.to_owned(),
        })
    }

    /// Returns a program of the dev profile that this workspace builds.
    ///
    /// # Errors
    /// It is missing; the message says how to build it.
    pub fn built(&self, name: &str) -> Result<PathBuf, String> {
        let program = format!("debug/{name}{}", env::consts::EXE_SUFFIX);
        self.artifact(&program, "cargo xtask conformance")
    }

    /// Returns a file below the target folder.
    ///
    /// # Errors
    /// It is missing; the message names the command that makes it.
    pub fn artifact(&self, path: &str, made_by: &str) -> Result<PathBuf, String> {
        found(self.target.join(path), made_by)
    }

    /// Returns a file of the workspace, generated or not.
    ///
    /// # Errors
    /// It is missing; the message names the command that makes it.
    pub fn file(&self, path: &str, made_by: &str) -> Result<PathBuf, String> {
        found(self.root.join(path), made_by)
    }

    /// Returns a third-party program: the one named by `variable`, the one that `cargo xtask tools`
    /// installed below `<target>/tools`, or the one on the path.
    ///
    /// # Errors
    /// There is none.
    pub fn tool(&self, name: &str, variable: &str) -> Result<PathBuf, String> {
        if let Some(program) = env::var_os(variable).filter(|program| !program.is_empty()) {
            return found(program.into(), &format!("whoever set {variable}"));
        }
        let installed = self.target.join("tools").join(name);
        let on_path = env::var_os("PATH").unwrap_or_default();
        let on_path: Vec<PathBuf> = env::split_paths(&on_path).collect();
        let folders = [installed.join("bin"), installed]
            .into_iter()
            .chain(on_path);
        let mut candidates = folders.map(|folder| folder.join(name));
        if let Some(program) = candidates.find(|program| runs(program)) {
            return Ok(program);
        }
        Err(format!(
            "{name} is not installed: run `cargo xtask tools{}`, or name the program in {variable}",
            if name == "viceroy" { " --all" } else { "" }
        ))
    }

    /// Returns a program from an npm package in `<target>/tools`, or the one named by `variable`.
    ///
    /// # Errors
    /// It is missing.
    pub fn npm_tool(&self, path: &str, variable: &str) -> Result<PathBuf, String> {
        match env::var_os(variable).filter(|program| !program.is_empty()) {
            Some(program) => found(program.into(), &format!("whoever set {variable}")),
            None => self.artifact(path, "cargo xtask tools"),
        }
    }
}

fn found(path: PathBuf, made_by: &str) -> Result<PathBuf, String> {
    match path.exists() {
        true => Ok(path),
        false => Err(format!("{} is missing: run `{made_by}`", path.display())),
    }
}

/// Returns whether a program runs and prints its version.
fn runs(program: &Path) -> bool {
    if !fs::metadata(program).is_ok_and(|file| file.is_file()) {
        return false;
    }
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
