//! `cargo xtask conformance`: builds what the hosts run, and sends them all the same requests.

use std::env;
use std::process::Command;

use anyhow::Result;

use crate::step::run;
use crate::workspace::Workspace;
use crate::{guest, npm, tools, wasi};

/// The program that sends the requests.
const PROGRAM: &str = "canter-conformance";
/// The document with the table.
const DOCUMENT: &str = "docs/conformance.md";
/// What CI must not skip; names as in `--list`.
const REQUIRED: &str = "native,runtime,wasmtime-run,wasmtime-serve,workerd,lambda,node,chromium";

/// With `args` for the program. Without any, the table goes into the document.
pub(crate) fn conformance(workspace: &Workspace, args: &[String]) -> Result<()> {
    guest::build(workspace)?;
    for name in ["canter", "canter-lambda-search", PROGRAM] {
        run(
            &format!("conformance: build {name}"),
            &mut workspace.build_binary(name),
        )?;
    }
    let mut command = Command::new(workspace.dev_binary(PROGRAM));
    match args.is_empty() {
        true => command.arg("--write").arg(workspace.root.join(DOCUMENT)),
        false => command.args(args),
    };
    prepare(workspace)?;
    compare(&mut command)
}

/// The same as a step of all tests, which have built our programs and called `prepare`. In CI nothing that is required
/// is skipped.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let mut command = Command::new(workspace.dev_binary(PROGRAM));
    if env::var_os("CI").is_some() {
        command.args(["--require", REQUIRED]);
    }
    compare(&mut command)
}

/// Installs and builds what hosts run and are.
pub(crate) fn prepare(workspace: &Workspace) -> Result<()> {
    tools::install_for_hosts(workspace)?;
    // After the tools: what is compiled ahead of time needs the stock wasmtime.
    wasi::build(workspace)?;
    if tools::has_viceroy(workspace) {
        wasi::build_fastly(workspace)?;
    }
    // The program says by name which hosts it skips.
    if let Err(error) = npm::build(workspace) {
        eprintln!("   the JavaScript hosts are not built: {error:#}");
    }
    Ok(())
}

fn compare(command: &mut Command) -> Result<()> {
    run("conformance: the same answers from every host", command)
}
