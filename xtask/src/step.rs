//! Steps: a name, the work, and its duration. The first failure ends the command.

use std::io::IsTerminal;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Runs `work` under a name.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    announce(&format!("{name} …"));
    let started = Instant::now();
    let result = work().with_context(|| format!("step {name:?} failed"))?;
    announce(&format!("{name}: {:.1} s", started.elapsed().as_secs_f64()));
    Ok(result)
}

/// Runs a command under a name, with its output on the terminal.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<()> {
    step(name, || run_quietly(command))
}

/// Runs a command.
pub(crate) fn run_quietly(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        let args: Vec<_> = command
            .get_args()
            .map(|arg| arg.to_string_lossy())
            .collect();
        bail!("{program} {}: {status}", args.join(" "));
    }
    Ok(())
}

fn announce(line: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("\x1b[1m── {line}\x1b[0m");
    } else {
        eprintln!("── {line}");
    }
}
