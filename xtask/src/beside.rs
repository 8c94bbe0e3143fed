//! What all tests need and no program of this machine is: the guest as WebAssembly, the tools, npm's and Python's
//! packages. It is made beside the lints and the tests' compilation, in a process of its own that the first step starts.
//!
//! The guest is linked on one core for minutes, and tools mostly wait for the network; cargo locks the folder of each
//! profile by itself, so that two of it get along. What the process prints is kept in a file and shown when it is done:
//! two progress bars on one terminal are none.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::step::step;
use crate::workspace::Workspace;
use crate::{clients, guest, manifests, npm, python, tools, wasi};

/// The command that runs what is here; nobody types it.
pub(crate) const COMMAND: &str = "beside";

/// The process, and what it has printed so far.
pub(crate) struct Beside {
    process: Child,
    log: PathBuf,
}

/// Starts the process.
pub(crate) fn start(workspace: &Workspace) -> Result<Beside> {
    let log = workspace.target_dir.join("beside.log");
    fs::create_dir_all(&workspace.target_dir)?;
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let process = Command::new(std::env::current_exe()?)
        .arg(COMMAND)
        .env("CARGO_TARGET_DIR", &workspace.target_dir)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .context("cannot start a second xtask")?;
    Ok(Beside { process, log })
}

impl Beside {
    /// Waits for the process and shows its steps, or all that it printed if it failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        let status = step("beside: wait for the guest and for tools", || {
            Ok(self.process.wait()?)
        })?;
        let printed = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        for line in printed.lines() {
            if !status.success() || line.starts_with("── ") || line.starts_with("   ") {
                eprintln!("{line}");
            }
        }
        if !status.success() {
            bail!("what runs beside the tests' compilation failed ({status}): see above");
        }
        Ok(())
    }
}

impl Drop for Beside {
    /// A step failed meanwhile: nothing goes on behind its message.
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// What the process does.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    guest::compile_all(workspace)?;
    wasi::compile(workspace)?;
    // What is missing in the end is said by the step that needs it.
    for install in [
        |workspace: &Workspace| tools::install(workspace, false),
        npm::install_all,
        python::install_tools,
        clients::install_tools,
        manifests::install_tools,
    ] {
        if let Err(error) = install(workspace) {
            eprintln!("   not installed yet: {error:#}");
        }
    }
    Ok(())
}
