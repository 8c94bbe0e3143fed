//! `cargo xtask conformance`: builds what the hosts run, and sends them all the same requests.

use std::process::Command;

use anyhow::Result;

use crate::guest;
use crate::step::run;
use crate::tools;
use crate::workspace::Workspace;

/// The program that sends the requests.
const PROGRAM: &str = "canter-conformance";
/// The document with the table.
const DOCUMENT: &str = "docs/conformance.md";

/// With `args` for the program. Without any, the table goes into the document too.
pub(crate) fn conformance(workspace: &Workspace, args: &[String]) -> Result<()> {
    guest::build(workspace)?;
    for name in ["canter", PROGRAM] {
        run(
            &format!("conformance: build {name}"),
            &mut workspace.build_binary(name),
        )?;
    }
    let document = workspace.root.join(DOCUMENT);
    let mut write = vec!["--write".into(), document.into_os_string()];
    if !args.is_empty() {
        write.clear();
    }
    hosts(workspace, |command| {
        command.args(args).args(write);
    })
}

fn hosts(workspace: &Workspace, set: impl FnOnce(&mut Command)) -> Result<()> {
    tools::install_for_hosts(workspace)?;
    let mut command = Command::new(workspace.dev_binary(PROGRAM));
    set(&mut command);
    run(
        "conformance: the same answers from every host",
        &mut command,
    )
}
