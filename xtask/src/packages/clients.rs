//! `cargo xtask clients`: tests of `canter serve` with Elasticsearch's official clients.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use super::npm;
use crate::guest;
use crate::step::run;
use crate::tools;
use crate::workspace::Workspace;

/// Requirements of each version of the Python client, in a folder that the environment names, with
/// the hosts and engines that it is tested with. Each of these is tested with one of the versions
/// only, because the conformance test checks that hosts and engines answer alike.
const PYTHON: [PythonClient; 2] = [
    (
        "tests/clients/python-8/requirements.txt",
        &[("server", "wasm")],
    ),
    (
        "tests/clients/python-9/requirements.txt",
        &[("server", "native"), (WORKER, "wasm")],
    ),
];

/// A file of requirements, with hosts and engines.
type PythonClient = (&'static str, &'static [(&'static str, &'static str)]);

/// Hosts and engines that the JavaScript clients are tested with.
const JS_HOSTS: [(&str, &str); 2] = [("server", "native"), (WORKER, "wasm")];

/// All hosts and engines. In the full tests, each version is tested with all of them.
const HOSTS: [(&str, &str); 3] = [("server", "wasm"), ("server", "native"), (WORKER, "wasm")];

/// Host that needs npm's packages.
const WORKER: &str = "worker";

/// Stores of documents that speak with Elasticsearch or OpenSearch, with their tests.
const STORES: &str = "tests/clients/stores/requirements.txt";
const STORES_TESTS: &str = "tests/clients/stores";

const PYTHON_TESTS: &str = "tests/clients/python";
pub(crate) const JS_TESTS: &str = "tests/clients/js";
const GO_TESTS: &str = "tests/clients/go";

/// Builds the command line, and runs the tests of the clients.
pub(crate) fn clients(workspace: &Workspace, args: &[String]) -> Result<()> {
    if !args.is_empty() {
        bail!("usage: cargo xtask clients");
    }
    match npm::is_there() {
        true => npm::build(workspace)?,
        false => guest::build(workspace)?,
    }
    run_python(workspace, &PYTHON)?;
    run_stores(workspace)?;
    npm::run_clients(workspace, JS_TESTS, &chosen(workspace, &JS_HOSTS))?;
    run_go(workspace)
}

/// Installs the requirements of the Python clients.
pub(crate) fn install_tools(workspace: &Workspace) -> Result<()> {
    let clients = tested(workspace)
        .iter()
        .map(|(requirements, _)| *requirements);
    let stores = workspace.tests_everything.then_some(STORES);
    clients
        .chain(stores)
        .try_for_each(|requirements| tools::python(workspace, requirements).map(drop))
}

/// Returns the versions of the Python client that are a step of all tests: the newest, and all in the full tests.
fn tested(workspace: &Workspace) -> &'static [PythonClient] {
    match workspace.tests_everything {
        true => &PYTHON,
        false => &PYTHON[PYTHON.len() - 1..],
    }
}

/// Runs the tests of the clients as a step of all tests. Without Python, they are skipped, except
/// in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let clients = tested(workspace);
    let missing = clients
        .iter()
        .find_map(|(requirements, _)| tools::python(workspace, requirements).err());
    match missing {
        Some(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED Elasticsearch's clients: {error:#}");
            Ok(())
        }
        Some(error) => Err(error),
        None => {
            run_python(workspace, clients)?;
            npm::run_clients(workspace, JS_TESTS, &chosen(workspace, &JS_HOSTS))?;
            // They take minutes to compile or to install, and send what the others send.
            match workspace.tests_everything {
                true => run_stores(workspace).and_then(|()| run_go(workspace)),
                false => Ok(()),
            }
        }
    }
}

/// Runs the tests of the Go clients. Without Go, they are skipped, except in CI.
fn run_go(workspace: &Workspace) -> Result<()> {
    let Some(go) = tools::find_go() else {
        if env::var_os("CI").is_none() {
            eprintln!("   SKIPPED Elasticsearch's Go clients: Go is missing (https://go.dev/dl)");
            return Ok(());
        }
        bail!("Go is missing: install it (https://go.dev/dl)");
    };
    let overlay = go_version_8(workspace)?;
    for (host, engine) in chosen(workspace, &[("server", "wasm")]) {
        run(
            &format!("clients: {GO_TESTS}, {host}, {engine}"),
            Command::new(&go)
                // Vetting reads all packages of the client.
                .args(["test", "-count=1", "-vet=off", "-overlay"])
                .arg(&overlay)
                .arg("./...")
                .current_dir(workspace.root.join(GO_TESTS))
                .env("CANTER", workspace.dev_binary("canter"))
                .env("HOST", host)
                .env("ENGINE", engine),
        )?;
    }
    Ok(())
}

/// Creates the Go tests of version 8 from those of version 9, which differ only in names; returns the file that
/// overlays them on the folder `v8` for `go test`.
fn go_version_8(workspace: &Workspace) -> Result<PathBuf> {
    const NAMES: [(&str, &str); 3] = [
        ("v9", "v8"),
        ("ersion 9", "ersion 8"),
        ("types.SearchRequestBody", "types.MultisearchBody"),
    ];
    let folder = workspace.root.join(GO_TESTS);
    let made = workspace.target_dir.join("go-clients-v8");
    fs::create_dir_all(&made)?;
    let mut replaced = Vec::new();
    for entry in fs::read_dir(folder.join("v9"))? {
        let entry = entry?;
        let mut text = fs::read_to_string(entry.path())?;
        for (of_9, of_8) in NAMES {
            text = text.replace(of_9, of_8);
        }
        let file = made.join(entry.file_name());
        fs::write(&file, text)?;
        let shown_as = folder.join("v8").join(entry.file_name());
        // Quoted paths, as in JSON.
        replaced.push(format!("{shown_as:?}: {file:?}"));
    }
    let overlay = made.join("overlay.json");
    let replaced = replaced.join(", ");
    fs::write(&overlay, format!("{{\"Replace\": {{{replaced}}}}}"))?;
    Ok(overlay)
}

fn run_python(workspace: &Workspace, clients: &[PythonClient]) -> Result<()> {
    run(
        "clients: build canter",
        &mut workspace.build_binary("canter"),
    )?;
    for (requirements, hosts) in clients.iter().copied() {
        let python = tools::python(workspace, requirements)?;
        for (host, engine) in chosen(workspace, hosts) {
            run(
                &format!("clients: {requirements}, {host}, {engine}"),
                Command::new(&python)
                    .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
                    .arg(workspace.root.join(PYTHON_TESTS))
                    .env("PYTHONDONTWRITEBYTECODE", "1")
                    .env("CANTER", workspace.dev_binary("canter"))
                    .env("HOST", host)
                    .env("ENGINE", engine),
            )?;
        }
    }
    Ok(())
}

/// Runs the tests of stores, with one engine: the conformance test checks that engines answer alike.
fn run_stores(workspace: &Workspace) -> Result<()> {
    let python = tools::python(workspace, STORES)?;
    run(
        &format!("clients: {STORES}"),
        Command::new(&python)
            .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
            .arg(workspace.root.join(STORES_TESTS))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("CANTER", workspace.dev_binary("canter"))
            .env("ENGINE", "native"),
    )
}

/// Returns the hosts with which a client is tested. The Worker requires npm.
fn chosen(
    workspace: &Workspace,
    hosts: &'static [(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    let all = if workspace.tests_everything {
        &HOSTS
    } else {
        hosts
    };
    let can_run = |(host, _): &(&str, &str)| *host != WORKER || npm::is_there();
    all.iter().copied().filter(can_run).collect()
}
