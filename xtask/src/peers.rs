//! `peers`: runs the same queries on Canter and on other engines, over the same documents.

use std::process::Command;

use anyhow::{Context, Result};

use crate::commands::dist;
use crate::step::{run, run_quietly, step};
use crate::tools;
use crate::workspace::Workspace;

/// Builds the release binary and the generator, installs the peers, and runs
/// `benches/peers/compare.py`, or the script `build.py` after the argument `build`.
pub(crate) fn peers(workspace: &Workspace, args: &[String]) -> Result<()> {
    let (script, args) = match args.split_first() {
        Some((first, rest)) if first == "build" => ("build.py", rest),
        _ => ("compare.py", args),
    };
    dist(workspace)?;
    run(
        "peers: build the generator",
        &mut workspace.cargo(&[
            "build",
            "--release",
            "--package",
            "canter-index-builder",
            "--example",
            "write_corpus",
        ]),
    )?;
    let python = tools::python(workspace, "benches/peers/requirements.txt")?;
    let folder = workspace.target_dir.join("peers");
    step("peers: compare", || {
        run_quietly(
            Command::new(python)
                .arg(workspace.root.join("benches/peers").join(script))
                .arg("--canter")
                .arg(workspace.target_dir.join("dist/canter"))
                .arg("--corpus")
                .arg(workspace.target_dir.join("release/examples/write_corpus"))
                .arg("--folder")
                .arg(&folder)
                .args(args),
        )
        .with_context(|| format!("what was built is in {}", folder.display()))
    })
}
