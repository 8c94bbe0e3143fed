//! `cargo xtask yaml-tests`: runs OpenSearch's own YAML tests.

use std::env;
use std::process::Command;

use anyhow::Result;

use crate::guest;
use crate::step::run;
use crate::tools::rest_spec;
use crate::workspace::Workspace;

/// Program that runs the tests.
pub(crate) const PROGRAM: &str = "canter-yaml-tests";

/// Builds the server, and runs the tests with `args`.
pub(crate) fn yaml_tests(workspace: &Workspace, args: &[String]) -> Result<()> {
    guest::build(workspace)?;
    for name in ["canter", PROGRAM] {
        run(
            &format!("yaml-tests: build {name}"),
            &mut workspace.build_binary(name),
        )?;
    }
    rest_spec::install(workspace)?;
    run(
        "yaml-tests: OpenSearch's tests",
        Command::new(workspace.dev_binary(PROGRAM)).args(args),
    )
}

/// Runs the tests with both engines as a step of all tests, which have built our programs. Without
/// Maven, they are skipped, except in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    if let Err(error) = rest_spec::install(workspace) {
        if env::var_os("CI").is_some() {
            return Err(error);
        }
        eprintln!("   SKIPPED OpenSearch's YAML tests: {error:#}");
        return Ok(());
    }
    for engine in ["native", "wasm"] {
        run(
            &format!("yaml-tests: OpenSearch's tests, {engine}"),
            Command::new(workspace.dev_binary(PROGRAM)).args(["--engine", engine]),
        )?;
    }
    Ok(())
}
