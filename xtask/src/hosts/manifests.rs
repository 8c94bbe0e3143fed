//! Validates the Kubernetes manifests of the examples against Kubernetes' schemas; unknown fields
//! are errors.

use std::env;
use std::process::Command;

use anyhow::Result;

use crate::step::run;
use crate::tools;
use crate::workspace::Workspace;

/// Requirements of the check; their folder names the environment.
const REQUIREMENTS: &str = "examples/serve/requirements.txt";

const MANIFESTS: [&str; 2] = [
    "examples/serve/kubernetes.yaml",
    "examples/indexed-job/job.yaml",
];

/// Installs the requirements of the check, which is one of the full tests: the validator takes half a minute to install.
pub(crate) fn install_tools(workspace: &Workspace) -> Result<()> {
    match workspace.tests_everything {
        true => tools::python(workspace, REQUIREMENTS).map(drop),
        false => Ok(()),
    }
}

/// Runs the check as a step of all tests. Without Python, it is skipped, except in CI.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let python = match tools::python(workspace, REQUIREMENTS) {
        Ok(python) => python,
        Err(error) if env::var_os("CI").is_none() => {
            eprintln!("   SKIPPED the manifests for Kubernetes: {error:#}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let manifests = MANIFESTS.map(|manifest| workspace.root.join(manifest));
    run(
        "test: manifests for Kubernetes",
        Command::new(python.with_file_name("kubernetes-validate"))
            .args(["--strict", "--quiet"])
            .args(manifests),
    )
}
