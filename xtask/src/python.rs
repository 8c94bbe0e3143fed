//! `cargo xtask python`: the Python package as a wheel, built and tested.
//!
//! A wheel to give away is made by `maturin build --release` (see edge-adapters/python/README.md). This one is for tests:
//! the module of the dev profile, with the features of the whole workspace, so that next to nothing compiles for it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::guest;
use crate::step::{run, run_quietly, step};
use crate::tools;
use crate::workspace::Workspace;

const PACKAGE: &str = "edge-adapters/python";
/// What tests of the package need, and what packs the wheel.
const REQUIREMENTS: &str = "edge-adapters/python/tests/requirements.txt";

/// Builds the wheel; with the argument `test`, installs it into a fresh environment and runs its tests.
pub(crate) fn python(workspace: &Workspace, args: &[String]) -> Result<()> {
    let runs_tests = match args {
        [] => false,
        [only] if only == "test" => true,
        _ => bail!("usage: cargo xtask python [test]"),
    };
    guest::build(workspace)?;
    match runs_tests {
        true => run_tests(workspace),
        false => build(workspace).map(drop),
    }
}

/// The package's tests as a step of all tests. Without Python they are skipped, but not in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    match tools::python(workspace, REQUIREMENTS) {
        Err(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED the tests of the Python package: {error:#}");
            Ok(())
        }
        Err(error) => Err(error),
        Ok(_) => run_tests(workspace),
    }
}

/// Builds the wheel.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    run(
        "python: build the module",
        &mut workspace.cargo(&[
            "build",
            "--workspace",
            "--exclude",
            "canter-guest-component",
            "--lib",
        ]),
    )?;
    let python = tools::python(workspace, REQUIREMENTS)?;
    step("python: pack the wheel", || {
        let folder = workspace.target_dir.join("python");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let content = folder.join("content");
        lay_out(workspace, &content)?;
        let mut pack = Command::new(python);
        pack.args(["-m", "wheel", "pack", "--dest-dir"])
            .arg(&folder)
            .arg(&content);
        run_quietly(&mut pack)?;
        let wheels = fs::read_dir(&folder)?;
        let mut wheels = wheels.filter_map(|entry| Some(entry.ok()?.path()));
        let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
        wheels.find(is_wheel).context("no wheel was packed")
    })
}

/// The files of the wheel.
fn lay_out(workspace: &Workspace, content: &Path) -> Result<()> {
    let package = workspace.root.join(PACKAGE);
    let version = env!("CARGO_PKG_VERSION");
    let modules = content.join("canter");
    let about = content.join(format!("canter-{version}.dist-info"));
    fs::create_dir_all(&modules)?;
    fs::create_dir_all(&about)?;
    for entry in fs::read_dir(package.join("canter"))? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, modules.join(name))?;
        }
    }
    let library = format!(
        "{}_canter{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    );
    let built = workspace.target_dir.join("debug").join(library);
    let ending = match cfg!(windows) {
        true => "pyd",
        false => "abi3.so",
    };
    fs::copy(&built, modules.join(format!("_canter.{ending}")))
        .with_context(|| format!("cannot copy {}", built.display()))?;
    let platform = format!("{}_{}", env::consts::OS, env::consts::ARCH);
    ensure!(!platform.contains('-'), "no tag for {platform}");
    fs::write(
        about.join("WHEEL"),
        format!(
            "Wheel-Version: 1.0\nGenerator: canter xtask\nRoot-Is-Purelib: false\nTag: cp310-abi3-{platform}\n"
        ),
    )?;
    fs::write(
        about.join("METADATA"),
        format!(
            "Metadata-Version: 2.4\nName: canter\nVersion: {version}\nRequires-Python: >=3.10\n"
        ),
    )?;
    fs::write(
        about.join("entry_points.txt"),
        "[console_scripts]\ncanter = canter._command:main\n",
    )?;
    Ok(())
}

/// Installs the wheel into a fresh environment, and runs the package's tests there.
fn run_tests(workspace: &Workspace) -> Result<()> {
    let wheel = build(workspace)?;
    let tools = tools::python(workspace, REQUIREMENTS)?;
    let package = workspace.root.join(PACKAGE);
    let fresh = workspace.target_dir.join("python/fresh");
    let python = fresh.join("bin/python");
    step("python: install the wheel", || {
        run_quietly(Command::new(&tools).args(["-m", "venv"]).arg(&fresh))?;
        let mut install = Command::new(&python);
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        run_quietly(install.arg(&wheel))?;
        // What only tests need is there already: it is looked for behind the fresh environment.
        let sites = Command::new(&tools)
            .args(["-c", "import site; print(site.getsitepackages()[0])"])
            .output()?;
        let behind = String::from_utf8(sites.stdout)?;
        let fresh_site = fresh
            .join("lib")
            .read_dir()?
            .next()
            .context("no library")??;
        fs::write(fresh_site.path().join("site-packages/tests.pth"), behind)?;
        Ok(())
    })?;
    run(
        "python: types",
        Command::new(&python)
            .args(["-m", "mypy", "--strict", "--no-incremental", "canter"])
            .current_dir(&package),
    )?;
    run(
        "python: tests",
        Command::new(&python)
            .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
            .arg(package.join("tests"))
            // Not where the package's sources are, which Python would import.
            .current_dir(&fresh)
            .env("CANTER_TEST_COMMAND", fresh.join("bin/canter")),
    )
}
