//! Installer of the S3 server for tests, if it is missing and Go is available.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result};

use crate::step::{run, step};
use crate::workspace::Workspace;

/// Variable that names the program for the tests.
pub(crate) const VARIABLE: &str = "CANTER_VERSITYGW";
/// Variable that makes a missing server an error.
const REQUIRE_VARIABLE: &str = "CANTER_REQUIRE_S3";

const PACKAGE: &str = "github.com/versity/versitygw/cmd/versitygw";
const VERSION: &str = "v1.8.0";

/// Returns the program: the one named in the environment, the installed one, or a new installation.
/// Returns `None` without Go to build it; the tests that need it then report that they are skipped.
///
/// # Errors
/// A server is required (in CI, or by `CANTER_REQUIRE_S3`) and unavailable.
pub(crate) fn install(workspace: &Workspace) -> Result<Option<PathBuf>> {
    if let Some(program) = env::var_os(VARIABLE).filter(|program| !program.is_empty()) {
        return Ok(Some(program.into()));
    }
    let folder = workspace.tools_dir();
    let program = folder.join(format!("versitygw{}", env::consts::EXE_SUFFIX));
    // The program does not know its own version.
    let marker = folder.join("versitygw.version");
    if program.is_file() && fs::read_to_string(&marker).is_ok_and(|found| found == VERSION) {
        return Ok(Some(program));
    }
    let is_required = env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value != "0");
    let Some(go) = find_go() else {
        anyhow::ensure!(
            !is_required,
            "{REQUIRE_VARIABLE} is set, and there is no Go to install versitygw with: install Go, or \
             name the program in {VARIABLE}"
        );
        return step("test: S3 server", || {
            eprintln!(
                "   Go is not installed, so neither is versitygw: tests against a real S3 server are \
                 skipped, each by name"
            );
            Ok(None)
        });
    };
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let installed = run(
        &format!("test: install versitygw {VERSION}"),
        Command::new(go)
            .args(["install", &format!("{PACKAGE}@{VERSION}")])
            .env("GOBIN", &folder),
    );
    match installed {
        Ok(()) => {
            fs::write(&marker, VERSION)?;
            Ok(Some(program))
        }
        Err(error) if is_required || env::var_os("CI").is_some() => Err(error),
        Err(error) => {
            eprintln!("   {error:#}: tests against a real S3 server are skipped, each by name");
            Ok(None)
        }
    }
}

/// Returns the Go command on the path, or where its installer puts it.
pub(crate) fn find_go() -> Option<PathBuf> {
    ["go", "/usr/local/go/bin/go"]
        .into_iter()
        .find(|go| {
            Command::new(go)
                .arg("version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        })
        .map(PathBuf::from)
}
