//! `cargo xtask clients`: Elasticsearch's own clients, as their registries have them, against `canter serve`.

use std::env;
use std::process::Command;

use anyhow::{Result, bail};

use crate::guest;
use crate::npm;
use crate::step::run;
use crate::tools;
use crate::workspace::Workspace;

/// What each version of the Python client needs; its folder names the environment.
const PYTHON: [&str; 2] = [
    "tests/clients/python-8/requirements.txt",
    "tests/clients/python-9/requirements.txt",
];

const PYTHON_TESTS: &str = "tests/clients/python";
pub(crate) const JS_TESTS: &str = "tests/clients/js";
const GO_TESTS: &str = "tests/clients/go";

/// Builds the command line and runs the clients' tests.
pub(crate) fn clients(workspace: &Workspace, args: &[String]) -> Result<()> {
    if !args.is_empty() {
        bail!("usage: cargo xtask clients");
    }
    match npm::is_there() {
        true => npm::build(workspace)?,
        false => guest::build(workspace)?,
    }
    run_python(workspace)?;
    npm::run_clients(workspace, JS_TESTS)?;
    run_go(workspace)
}

/// What Python's clients need, for steps to come.
pub(crate) fn install_tools(workspace: &Workspace) -> Result<()> {
    PYTHON
        .into_iter()
        .try_for_each(|requirements| tools::python(workspace, requirements).map(drop))
}

/// The clients' tests as a step of all tests. Without Python they are skipped, but not in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let missing = PYTHON
        .iter()
        .find_map(|requirements| tools::python(workspace, requirements).err());
    match missing {
        Some(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED Elasticsearch's clients: {error:#}");
            Ok(())
        }
        Some(error) => Err(error),
        None => {
            run_python(workspace)?;
            npm::run_clients(workspace, JS_TESTS)?;
            run_go(workspace)
        }
    }
}

/// The Go clients. Without Go they are skipped, but not in CI.
fn run_go(workspace: &Workspace) -> Result<()> {
    let Some(go) = tools::find_go() else {
        if env::var_os("CI").is_none() {
            eprintln!("   SKIPPED Elasticsearch's Go clients: Go is missing (https://go.dev/dl)");
            return Ok(());
        }
        bail!("Go is missing: install it (https://go.dev/dl)");
    };
    let mut hosts = vec![("server", "wasm")];
    if npm::is_there() {
        hosts.push(("worker", "wasm"));
    }
    for (host, engine) in hosts {
        run(
            &format!("clients: {GO_TESTS}, {host}, {engine}"),
            Command::new(&go)
                .args(["test", "-count=1", "./..."])
                .current_dir(workspace.root.join(GO_TESTS))
                .env("CANTER", workspace.dev_binary("canter"))
                .env("HOST", host)
                .env("ENGINE", engine),
        )?;
    }
    Ok(())
}

fn run_python(workspace: &Workspace) -> Result<()> {
    run(
        "clients: build canter",
        &mut workspace.build_binary("canter"),
    )?;
    for requirements in PYTHON {
        let python = tools::python(workspace, requirements)?;
        let pytest = |host: &str, engine: &str| {
            run(
                &format!("clients: {requirements}, {host}, {engine}"),
                Command::new(&python)
                    .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
                    .arg(workspace.root.join(PYTHON_TESTS))
                    .env("PYTHONDONTWRITEBYTECODE", "1")
                    .env("CANTER", workspace.dev_binary("canter"))
                    .env("HOST", host)
                    .env("ENGINE", engine),
            )
        };
        pytest("server", "wasm")?;
        pytest("server", "native")?;
        if npm::is_there() {
            pytest("worker", "wasm")?;
        }
    }
    Ok(())
}
