//! Steps that run in a parallel process: preparing what tests need beyond the programs of this
//! machine (the guest as WebAssembly, tools, packages of npm and Python) during lints and
//! compilation, and the tests of packages for JavaScript during those of the hosts.
//!
//! Linking a guest takes minutes on one core, an installation waits for the network, and browser
//! tests wait for the browser. Cargo locks the folder of each profile separately, so two of them do
//! not conflict. The output of such a process is stored in a file and shown at its end: two
//! progress bars cannot share a terminal.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::hosts::{manifests, wasi};
use crate::packages::{clients, npm, python};
use crate::step::step;
use crate::workspace::Workspace;
use crate::{guest, tools};

/// Internal command that runs the steps of the named lane.
pub(crate) const COMMAND: &str = "beside";

/// Steps that run one after another.
#[derive(Clone, Copy)]
pub(crate) enum Lane {
    /// Preparation for tests.
    Needs,
    /// Tests of the packages for JavaScript, which must be built.
    JavaScript,
}

impl Lane {
    const ALL: [Lane; 2] = [Lane::Needs, Lane::JavaScript];

    fn name(self) -> &'static str {
        match self {
            Lane::Needs => "needs",
            Lane::JavaScript => "javascript",
        }
    }
}

/// Parallel process and its output.
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
    /// Waits for the process, and shows its steps, or its whole output if it failed.
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
    /// Stops the process if another step failed, so that nothing is printed after the error.
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Runs the steps of the lane with this name.
pub(crate) fn run(workspace: &Workspace, lane: &str) -> Result<()> {
    match Lane::ALL.into_iter().find(|known| known.name() == lane) {
        Some(Lane::Needs) => make_what_tests_need(workspace),
        Some(Lane::JavaScript) => npm::test(workspace),
        None => bail!("there is no lane {lane:?}"),
    }
}

fn make_what_tests_need(workspace: &Workspace) -> Result<()> {
    guest::compile_all(workspace)?;
    if workspace.tests_everything {
        wasi::compile(workspace)?;
    }
    // The step that needs a missing tool reports it.
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
