//! `cargo xtask conformance`: builds all hosts, and sends them the same requests; and `cargo xtask yaml-tests`: runs
//! OpenSearch's and Elasticsearch's tests.

use std::env;
use std::process::Command;

use anyhow::Result;

use super::wasi;
use crate::packages::npm;
use crate::step::run;
use crate::workspace::Workspace;
use crate::{guest, tools};

/// Program that sends the requests.
const PROGRAM: &str = "canter-conformance";
/// Programs that are built for this machine: the one that sends the requests, and the hosts in this
/// workspace.
pub(crate) const PROGRAMS: [&str; 3] = ["canter", "canter-lambda-search", PROGRAM];
/// Document that contains the table.
const DOCUMENT: &str = "docs/conformance.md";
/// Hosts that CI must not skip, by their names in `--list`.
const REQUIRED: &str = "native,runtime,workerd,lambda,node,chromium";
/// More such hosts: those of the WASI program, which contains the engine once more, compiled for another target.
const REQUIRED_WASI: &str = "wasmtime-run,wasmtime-serve";
/// Hosts beside the reference without those of WASI.
const WITHOUT_WASI: &str = "runtime,workerd,lambda,deno,node,chromium";

/// Which hosts are built and compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    All,
    /// All but those of WASI's programs, whose compilation takes a tenth of the time of all tests.
    WithoutWasi,
}

/// Returns the hosts that are a step of all tests: all of them in the full tests.
pub(crate) fn tested_hosts(workspace: &Workspace) -> Hosts {
    match workspace.tests_everything {
        true => Hosts::All,
        false => Hosts::WithoutWasi,
    }
}

/// Builds the hosts and runs the program with `args`. Without arguments, updates the table in the
/// document.
pub(crate) fn conformance(workspace: &Workspace, args: &[String]) -> Result<()> {
    guest::build(workspace)?;
    for name in PROGRAMS {
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
    prepare(workspace, Hosts::All)?;
    compare(&mut command)
}

/// Runs the program as a step of all tests, which have built our programs and called `prepare`. In
/// CI, required hosts must not be skipped.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let mut command = Command::new(workspace.dev_binary(PROGRAM));
    let hosts = tested_hosts(workspace);
    if env::var_os("CI").is_some() {
        command.args(["--require", REQUIRED]);
        if hosts == Hosts::All {
            command.args(["--require", REQUIRED_WASI]);
        }
    }
    if hosts == Hosts::WithoutWasi {
        command.args(["--short", "--host", WITHOUT_WASI]);
    }
    compare(&mut command)
}

/// Installs and builds the hosts and their runtimes.
pub(crate) fn prepare(workspace: &Workspace, hosts: Hosts) -> Result<()> {
    tools::install_for_hosts(workspace)?;
    if hosts == Hosts::All {
        // Ahead-of-time compilation needs the stock wasmtime, so the tools come first.
        wasi::build(workspace)?;
        if tools::has_viceroy(workspace) {
            wasi::build_fastly(workspace)?;
        }
    }
    // The program reports the hosts that it skips.
    if let Err(error) = npm::build(workspace) {
        eprintln!("   the JavaScript hosts are not built: {error:#}");
    }
    Ok(())
}

fn compare(command: &mut Command) -> Result<()> {
    run("conformance: the same answers from every host", command)
}

/// Program that runs the YAML tests of OpenSearch and Elasticsearch.
pub(crate) const YAML_PROGRAM: &str = "canter-yaml-tests";

/// Builds the server, and runs the tests with `args`.
pub(crate) fn yaml_tests(workspace: &Workspace, args: &[String]) -> Result<()> {
    guest::build(workspace)?;
    for name in ["canter", YAML_PROGRAM] {
        run(
            &format!("yaml-tests: build {name}"),
            &mut workspace.build_binary(name),
        )?;
    }
    tools::rest_spec::install(workspace)?;
    run(
        "yaml-tests",
        Command::new(workspace.dev_binary(YAML_PROGRAM)).args(args),
    )
}

/// Runs the tests as a step of all tests, which have built our programs: with one engine, because
/// the conformance test checks that engines answer alike, and in the full tests with both. Without
/// Maven, they are skipped, except in CI.
pub(crate) fn test_yaml(workspace: &Workspace) -> Result<()> {
    if let Err(error) = tools::rest_spec::install(workspace) {
        if env::var_os("CI").is_some() {
            return Err(error);
        }
        eprintln!("   SKIPPED YAML tests: {error:#}");
        return Ok(());
    }
    // Each suite once, each engine once; the other half in the full tests.
    let all = [
        ("opensearch", "wasm"),
        ("elasticsearch", "native"),
        ("opensearch", "native"),
        ("elasticsearch", "wasm"),
    ];
    let num = match workspace.tests_everything {
        true => all.len(),
        false => 2,
    };
    for (suite, engine) in all.into_iter().take(num) {
        run(
            &format!("yaml-tests: {suite}, {engine}"),
            Command::new(workspace.dev_binary(YAML_PROGRAM))
                .args(["--suite", suite, "--engine", engine]),
        )?;
    }
    Ok(())
}
