//! `cargo xtask check`: format, clippy and unit tests of the packages that differ from the main
//! branch.
//!
//! Cargo selects features of dependencies by the chosen packages, so `-p CRATE` alone would compile
//! tantivy, tokio and others again. The changed packages are therefore combined with packages that
//! enable all features of the workspace, and share the artifacts of `cargo xtask test`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step::run;
use crate::workspace::Workspace;

/// Packages that together enable every feature that the workspace uses; `CONTRIBUTING.md` describes
/// how to verify this. They also use all public interfaces, so that breaking changes are noticed.
const WHOLE: [&str; 4] = ["canter-cli", "canter-tests", "canter-benches", "xtask"];

/// Default features of members, which their dependents disable.
const DEFAULTS: &str = "canter-index-builder/default,canter-runtime/default,canter-stores/default";

/// Package for WebAssembly only, which is linted where it is compiled.
const COMPONENT: &str = "canter-guest-component";

/// Formats, lints and tests the changed packages.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    run(
        "check: format",
        &mut workspace.cargo(&["fmt", "--all", "--check"]),
    )?;
    let changed = changed_packages(workspace)?;
    if changed.is_empty() {
        eprintln!("   no package differs from the main branch");
        return Ok(());
    }
    let shown: Vec<&str> = changed.iter().map(String::as_str).collect();
    eprintln!("   changed: {}", shown.join(", "));
    let mut lints = workspace.cargo(&["clippy"]);
    choose(&mut lints, &changed);
    lints.args(["--all-targets", "--", "--deny", "warnings"]);
    run("check: lints", &mut lints)?;
    let mut tests = workspace.cargo(&["test"]);
    choose(&mut tests, &changed);
    run("check: unit tests", tests.args(["--lib", "--bins"]))
}

fn choose(cargo: &mut Command, changed: &BTreeSet<String>) {
    let others = WHOLE.iter().filter(|name| !changed.contains(**name));
    for name in changed.iter().map(String::as_str).chain(others.copied()) {
        cargo.args(["--package", name]);
    }
    cargo.args(["--features", DEFAULTS]);
}

/// Returns the names of the packages with files that are new or differ from the main branch.
fn changed_packages(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let base = merge_base(workspace)?;
    let differs = git(workspace, &["diff", "--name-only", &base])?;
    let is_new = git(workspace, &["ls-files", "--others", "--exclude-standard"])?;
    let files = differs.lines().chain(is_new.lines());
    let packages = files.filter_map(|file| package_of(&workspace.root, Path::new(file)));
    Ok(packages.filter(|name| name != COMPONENT).collect())
}

/// Returns the commit at which this branch left the main one.
fn merge_base(workspace: &Workspace) -> Result<String> {
    for main in ["origin/main", "main"] {
        if let Ok(base) = git(workspace, &["merge-base", "HEAD", main]) {
            return Ok(base.trim().to_owned());
        }
    }
    bail!("there is neither a branch main nor origin/main to compare with")
}

fn git(workspace: &Workspace, args: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .args(args)
        .current_dir(&workspace.root)
        .output()
        .context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the name of the package that contains a file, which is the nearest one above it.
fn package_of(root: &Path, file: &Path) -> Option<String> {
    let folders = file.ancestors().skip(1);
    let manifest = folders
        .map(|folder| root.join(folder).join("Cargo.toml"))
        .find_map(|manifest| fs::read_to_string(manifest).ok())?;
    let behind = manifest.split_once("[package]")?.1;
    let name = behind
        .lines()
        .find_map(|line| line.strip_prefix("name = "))?;
    Some(name.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_nearest_package_above_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let check = |file: &str, expect: Option<&str>| {
            let found = package_of(&root, Path::new(file));
            assert_eq!(found.as_deref(), expect, "{file}");
        };
        check("xtask/src/check.rs", Some("xtask"));
        check("guest/src/query/mod.rs", Some("canter-guest"));
        check("guest/names/src/lib.rs", Some("canter-names"));
        check("README.md", None);
    }
}
