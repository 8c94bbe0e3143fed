//! `demo`, `test` and `dist`: sequences of steps.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::hosts::{conformance, manifests};
use crate::packages::{clients, npm, python};
use crate::step::{run, run_quietly, step};
use crate::tools::s3_server;
use crate::workspace::Workspace;
use crate::{beside, guest, lints};

/// Builds the guest and the command line, and runs `canter demo`.
pub(crate) fn demo(workspace: &Workspace, args: &[String]) -> Result<()> {
    if !workspace.dev_binary("canter").exists() {
        eprintln!(
            "The first demo compiles Canter, its search engine twice: as WebAssembly and for this machine. That \
             takes about 8 minutes on two cores; the demo itself takes half a minute."
        );
    }
    let component = guest::build_component(workspace)?;
    run("demo: build canter", &mut workspace.build_lean_binaries())?;
    guest::precompile(workspace, &component)?;
    run_quietly(
        Command::new(workspace.dev_binary("canter"))
            .arg("demo")
            .args(args),
    )
}

/// Runs everything that CI checks, or one part of it, so that several machines can share the work: format, lints and the
/// tests of `crates`; every one of the `hosts`; the `packages` for JavaScript and Python, with the clients. Only the dev profile is used on the host, and flags never differ
/// between steps, so that nothing compiles twice.
pub(crate) fn test(workspace: &Workspace, args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => test_all(workspace),
        ["crates"] => {
            prepare_crates(workspace)?;
            run_crates_tests(workspace)
        }
        ["hosts"] => {
            guest::build(workspace)?;
            build_programs(workspace)?;
            conformance::prepare(workspace, conformance::tested_hosts(workspace))?;
            test_hosts(workspace)
        }
        ["packages"] => {
            npm::build(workspace)?;
            npm::test(workspace)?;
            test_python_and_clients(workspace)
        }
        _ => bail!("usage: cargo xtask test [crates|hosts|packages]"),
    }
}

/// Tests the packages for JavaScript beside the hosts and what follows them: both often wait for one process, which leaves a
/// processor to the other. The tests of crates have the machine for themselves: some count connections, of which a busy client
/// opens more.
fn test_all(workspace: &Workspace) -> Result<()> {
    prepare_crates(workspace)?;
    // Each runs whatever the others do, and logs its failures.
    let crates = run_crates_tests(workspace);
    conformance::prepare(workspace, conformance::tested_hosts(workspace))?;
    let javascript = beside::start(workspace, beside::Lane::JavaScript)?;
    let hosts = test_hosts(workspace);
    let others = test_python_and_clients(workspace);
    let javascript = javascript.finish();
    crates.and(hosts).and(others).and(javascript)
}

fn test_python_and_clients(workspace: &Workspace) -> Result<()> {
    python::test(workspace)?;
    clients::test(workspace)
}

fn test_hosts(workspace: &Workspace) -> Result<()> {
    conformance::test(workspace)?;
    conformance::test_yaml(workspace)?;
    match workspace.tests_everything {
        true => manifests::test(workspace),
        false => Ok(()),
    }
}

/// Builds the programs that the hosts' test runs; the tests of crates build them, too.
fn build_programs(workspace: &Workspace) -> Result<()> {
    for name in conformance::PROGRAMS
        .into_iter()
        .chain([conformance::YAML_PROGRAM])
    {
        run(
            &format!("test: build {name}"),
            &mut workspace.build_binary(name),
        )?;
    }
    Ok(())
}

/// Tests of all crates, as arguments of cargo.
const CRATES_TESTS: [&str; 4] = ["test", "--workspace", "--exclude", "canter-guest-component"];

/// Checks format and lints, and builds the tests of all crates and what they need.
fn prepare_crates(workspace: &Workspace) -> Result<()> {
    run(
        "test: format",
        &mut workspace.cargo(&["fmt", "--all", "--check"]),
    )?;
    let needs = beside::start(workspace, beside::Lane::Needs)?;
    if !workspace.lints_in_passing {
        lint(workspace)?;
    }
    run(
        "test: compile tests",
        workspace.cargo(&CRATES_TESTS).arg("--no-run"),
    )?;
    if workspace.lints_in_passing {
        let benches = [
            "build",
            "--workspace",
            "--exclude",
            "canter-guest-component",
            "--bench",
            "*",
        ];
        run("test: compile benches", &mut workspace.cargo(&benches))?;
    }
    needs.finish()?;
    guest::build(workspace)
}

fn run_crates_tests(workspace: &Workspace) -> Result<()> {
    let mut tests = workspace.cargo(&CRATES_TESTS);
    // One run says all that fails.
    tests.arg("--no-fail-fast");
    lints::stand_aside(&mut tests);
    if let Some(server) = s3_server::install(workspace)? {
        tests.env(s3_server::VARIABLE, server);
    }
    run("test: tests", &mut tests)
}

/// Runs clippy and rustdoc as steps of their own.
fn lint(workspace: &Workspace) -> Result<()> {
    run(
        "test: lints",
        &mut workspace.cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]),
    )?;
    run(
        "test: documentation",
        workspace
            .cargo(&[
                "doc",
                "--workspace",
                "--exclude",
                "canter-guest-component",
                "--no-deps",
            ])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}

/// Features of the release binary: all except compiling the guest, whose compiled form is embedded.
const DIST_FEATURES: &str = "remote,doctor,serve,mcp,native,parquet,vrl,otlp";

/// Builds the release binary with the guest embedded, and copies it to `<target>/dist`.
pub(crate) fn dist(workspace: &Workspace) -> Result<()> {
    guest::build(workspace)?;
    run(
        "dist: build canter",
        workspace
            .cargo(&[
                "build",
                "--release",
                "--package",
                "canter-cli",
                "--no-default-features",
                "--features",
                DIST_FEATURES,
            ])
            .env("CANTER_EMBED_GUEST", "1"),
    )?;
    step("dist: copy", || {
        let name = format!("canter{}", std::env::consts::EXE_SUFFIX);
        let folder = workspace.target_dir.join("dist");
        fs::create_dir_all(&folder)?;
        let (from, to) = (
            workspace.target_dir.join("release").join(&name),
            folder.join(&name),
        );
        // A running binary must not be overwritten.
        let temporary = to.with_extension("new");
        fs::copy(&from, &temporary)
            .and_then(|_| fs::rename(&temporary, &to))
            .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        let num_bytes = fs::metadata(&to)?.len();
        eprintln!("   {}: {:.1} MB", to.display(), num_bytes as f64 / 1e6);
        Ok(())
    })
}
