//! `cargo xtask python`: builds and tests the Python package as a wheel.
//!
//! `maturin build --release` makes wheels for distribution (see edge-adapters/python/README.md).
//! This one is for tests: it uses the dev profile and the features of the whole workspace, so that
//! almost nothing is compiled for it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::guest;
use crate::step::{run, run_quietly, step};
use crate::tools::{self, s3_server};
use crate::workspace::Workspace;

const PACKAGE: &str = "edge-adapters/python";
/// Requirements of the package's tests, and of packing the wheel.
const REQUIREMENTS: &str = "edge-adapters/python/tests/requirements.txt";

/// Requirements of the Spark tests: half a gigabyte.
const SPARK_REQUIREMENTS: &str = "edge-adapters/python/tests/spark/requirements.txt";

/// Builds the wheel. With the argument `test`, installs it into a fresh environment and runs its
/// tests; with `spark`, runs those of the data source, which need Java.
pub(crate) fn python(workspace: &Workspace, args: &[String]) -> Result<()> {
    let what = match args {
        [] => "build",
        [only] if only == "test" || only == "spark" => only,
        _ => bail!("usage: cargo xtask python [test|spark]"),
    };
    guest::build(workspace)?;
    match what {
        "test" => run_tests(workspace),
        "spark" => run_spark_tests(workspace),
        _ => build(workspace).map(drop),
    }
}

/// Installs the requirements of the tests.
pub(crate) fn install_tools(workspace: &Workspace) -> Result<()> {
    tools::python(workspace, REQUIREMENTS)?;
    if workspace.tests_everything && tools::java().is_ok() {
        tools::python(workspace, SPARK_REQUIREMENTS)?;
    }
    Ok(())
}

/// Runs the package's tests as a step of all tests. Without Python, they are skipped, except in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    match tools::python(workspace, REQUIREMENTS) {
        Err(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED the tests of the Python package: {error:#}");
            Ok(())
        }
        Err(error) => Err(error),
        Ok(_) => {
            run_tests(workspace)?;
            match workspace.tests_everything {
                true => test_spark(workspace),
                false => Ok(()),
            }
        }
    }
}

/// Runs the Spark tests as a step of all tests. They take minutes, most of them Spark's own, so they belong to the full
/// tests, and to changes of the package (`cargo xtask python spark`). Without Java, they are skipped, except in CI.
fn test_spark(workspace: &Workspace) -> Result<()> {
    match tools::java() {
        Err(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED the tests of Spark: {error:#}");
            Ok(())
        }
        Err(error) => Err(error),
        Ok(()) => run_spark_tests(workspace),
    }
}

/// Builds the wheel, and returns its path.
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
            #[expect(
                clippy::disallowed_methods,
                reason = "a folder of this program's below `target`"
            )]
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

/// Writes the files of the wheel.
fn lay_out(workspace: &Workspace, content: &Path) -> Result<()> {
    let package = workspace.root.join(PACKAGE);
    let version = env!("CARGO_PKG_VERSION");
    let modules = content.join("canter");
    let about = content.join(format!("canter-{version}.dist-info"));
    fs::create_dir_all(&about)?;
    copy_modules(&package.join("canter"), &modules)?;
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

fn copy_modules(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().context("a file without a name")?;
        if path.is_dir() && name != "__pycache__" {
            copy_modules(&path, &to.join(name))?;
        } else if path.is_file() {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Installs the wheel into a fresh environment with access to the packages of `requirements`, and
/// returns its interpreter.
fn install(workspace: &Workspace, requirements: &str) -> Result<PathBuf> {
    let wheel = build(workspace)?;
    let tools = tools::python(workspace, requirements)?;
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
        // Packages for tests only are found in the environment of `requirements`, after the fresh
        // one.
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
    Ok(python)
}

/// Runs the package's tests.
fn run_tests(workspace: &Workspace) -> Result<()> {
    let python = install(workspace, REQUIREMENTS)?;
    let package = workspace.root.join(PACKAGE);
    run(
        "python: types",
        Command::new(&python)
            .args(["-m", "mypy", "--strict", "--no-incremental", "canter"])
            .current_dir(&package),
    )?;
    let tests = package.join("tests");
    let mut tests = pytest(workspace, &python, &tests);
    tests.arg("--ignore").arg(package.join("tests/spark"));
    run("python: tests", &mut tests)
}

fn run_spark_tests(workspace: &Workspace) -> Result<()> {
    let python = install(workspace, SPARK_REQUIREMENTS)?;
    let tests = workspace.root.join(PACKAGE).join("tests/spark");
    let mut tests = pytest(workspace, &python, &tests);
    if let Some(server) = s3_server::install(workspace)? {
        tests.env(s3_server::VARIABLE, server);
    }
    run("python: tests of Spark", &mut tests)
}

fn pytest(workspace: &Workspace, python: &Path, tests: &Path) -> Command {
    let fresh = workspace.target_dir.join("python/fresh");
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
        .arg(tests)
        .env("CANTER_TEST_COMMAND", fresh.join("bin/canter"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // Outside of the package's sources, which Python would import.
        .current_dir(fresh);
    command
}
