//! `cargo xtask js`: builds and tests the npm package, the Worker and the browser examples with npm.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::clients;
use crate::guest;
use crate::step::{run, step};
use crate::workspace::Workspace;

/// Folders with a `package.json`, in the order of their dependencies.
const PACKAGES: [&str; 5] = [
    "edge-adapters/js",
    "edge-adapters/page",
    "edge-adapters/cloudflare",
    "examples/browser-search",
    "examples/semantic-search",
];

/// Builds the guest and every package; with the argument `test`, also runs their tests.
pub(crate) fn js(workspace: &Workspace, args: &[String]) -> Result<()> {
    let runs_tests = match args {
        [] => false,
        [only] if only == "test" => true,
        _ => bail!("usage: cargo xtask js [test]"),
    };
    build(workspace)?;
    match runs_tests {
        true => run_tests(workspace),
        false => Ok(()),
    }
}

/// Runs the tests of the packages, which must be built.
fn run_tests(workspace: &Workspace) -> Result<()> {
    // Tests search a real index, which the command line creates.
    run("js: build canter", &mut workspace.build_binary("canter"))?;
    for package in PACKAGES {
        let mut tests = npm(workspace, package, &["test"]);
        tests.env("CANTER", workspace.dev_binary("canter"));
        run(&format!("js: test {package}"), &mut tests)?;
    }
    Ok(())
}

/// Runs the packages' tests as a step of all tests, which have built them. Without npm, they are
/// skipped, except in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    match check_npm() {
        Err(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED the tests of the JavaScript packages: {error:#}");
            Ok(())
        }
        Err(error) => Err(error),
        Ok(()) => run_tests(workspace),
    }
}

/// Builds the guest, and every package that contains it.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    check_npm()?;
    guest::build(workspace)?;
    for package in PACKAGES {
        install(workspace, package)?;
        let name = format!("js: build {package}");
        run(&name, &mut npm(workspace, package, &["run", "build"]))?;
    }
    Ok(())
}

/// Tests the hosts and engines with Elasticsearch's JavaScript clients in the folder `package`.
/// Without npm, they are skipped, except in CI.
pub(crate) fn run_clients(
    workspace: &Workspace,
    package: &str,
    hosts: &[(&str, &str)],
) -> Result<()> {
    if let Err(error) = check_npm() {
        if env::var_os("CI").is_none() {
            eprintln!("   SKIPPED Elasticsearch's JavaScript client: {error:#}");
            return Ok(());
        }
        return Err(error);
    }
    install(workspace, package)?;
    for (host, engine) in hosts {
        let mut tests = npm(workspace, package, &["test"]);
        tests
            .env("CANTER", workspace.dev_binary("canter"))
            .env("HOST", host)
            .env("ENGINE", engine);
        run(&format!("clients: {package}, {host}, {engine}"), &mut tests)?;
    }
    Ok(())
}

/// Returns whether npm is available to run the Worker; the packages must be built.
pub(crate) fn is_there() -> bool {
    check_npm().is_ok()
}

fn check_npm() -> Result<()> {
    let output = Command::new("npm").arg("--version").output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        _ => bail!("npm is missing: install Node.js 20 or newer (https://nodejs.org)"),
    }
}

/// Installs the dependencies of the packages.
pub(crate) fn install_all(workspace: &Workspace) -> Result<()> {
    check_npm()?;
    PACKAGES
        .into_iter()
        .chain([clients::JS_TESTS])
        .try_for_each(|package| install(workspace, package))
}

/// Runs `npm ci`, unless the installed packages are those of the lock file.
fn install(workspace: &Workspace, package: &str) -> Result<()> {
    let folder = workspace.root.join(package);
    let lock = fs::read(folder.join("package-lock.json"))
        .with_context(|| format!("{package} has no package-lock.json"))?;
    let installed = folder.join("node_modules/.canter-installed");
    if fs::read(&installed).is_ok_and(|held| held == lock) {
        return Ok(());
    }
    run(
        &format!("js: install {package}"),
        &mut npm(workspace, package, &["ci"]),
    )?;
    step(&format!("js: note {package}"), || note(&installed, &lock))
}

fn note(installed: &Path, lock: &[u8]) -> Result<()> {
    fs::write(installed, lock).with_context(|| format!("cannot write {}", installed.display()))
}

fn npm(workspace: &Workspace, package: &str, args: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command
        .args(args)
        .current_dir(workspace.root.join(package))
        .env("CARGO_TARGET_DIR", &workspace.target_dir);
    command
}
