//! Steps that run beside others, in a process of their own: what tests need that is no program of this machine (the
//! guest as WebAssembly, tools, npm's and Python's packages) beside the lints and the tests' compilation, and the tests
//! of packages and clients beside those of the hosts.
//!
//! A guest is linked on one core for minutes, an installation waits for the network, a browser's tests for the
//! browser; cargo locks the folder of each profile by itself, so that two of it get along. What such a process prints
//! is kept in a file and shown when it is done: two progress bars on one terminal are none.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::step::step;
use crate::workspace::Workspace;
use crate::{clients, guest, manifests, npm, python, tools, wasi};

/// The command that runs what is here, with the name of a lane; nobody types it.
pub(crate) const COMMAND: &str = "beside";

/// Steps that run one behind the other.
#[derive(Clone, Copy)]
pub(crate) enum Lane {
    /// What tests need.
    Needs,
    /// The tests of packages and clients, which are built.
    Packages,
}

impl Lane {
    const ALL: [Lane; 2] = [Lane::Needs, Lane::Packages];

    fn name(self) -> &'static str {
        match self {
            Lane::Needs => "needs",
            Lane::Packages => "packages",
        }
    }
}

/// The process, and what it has printed so far.
pub(crate) struct Beside {
    lane: Lane,
    process: Child,
    log: PathBuf,
}

/// Starts the process.
pub(crate) fn start(workspace: &Workspace, lane: Lane) -> Result<Beside> {
    let log = workspace
        .target_dir
        .join(format!("beside-{}.log", lane.name()));
    fs::create_dir_all(&workspace.target_dir)?;
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let process = Command::new(std::env::current_exe()?)
        .args([COMMAND, lane.name()])
        .env("CARGO_TARGET_DIR", &workspace.target_dir)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .context("cannot start a second xtask")?;
    Ok(Beside { lane, process, log })
}

impl Beside {
    /// Waits for the process and shows its steps, or all that it printed if it failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        let name = format!("beside: wait for {}", self.lane.name());
        let status = step(&name, || Ok(self.process.wait()?))?;
        let printed = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        for line in printed.lines() {
            if !status.success() || line.starts_with("── ") || line.starts_with("   ") {
                eprintln!("{line}");
            }
        }
        if !status.success() {
            bail!(
                "what ran beside, {}, failed ({status}): see above",
                self.lane.name()
            );
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

/// What the process does for the lane of this name.
pub(crate) fn run(workspace: &Workspace, lane: &str) -> Result<()> {
    match Lane::ALL.into_iter().find(|known| known.name() == lane) {
        Some(Lane::Needs) => make_what_tests_need(workspace),
        Some(Lane::Packages) => {
            npm::test(workspace)?;
            python::test(workspace)?;
            clients::test(workspace)
        }
        None => bail!("there is no lane {lane:?}"),
    }
}

fn make_what_tests_need(workspace: &Workspace) -> Result<()> {
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
