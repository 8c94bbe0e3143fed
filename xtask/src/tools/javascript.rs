//! Deno and the browser driver from npm, with the versions and hashes of
//! `tests/conformance/package-lock.json`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::{find, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

pub(super) fn install(workspace: &Workspace) -> Result<()> {
    let wanted = workspace.root.join("tests/conformance");
    let folder = workspace.tools_dir().join("javascript");
    let lock = fs::read_to_string(wanted.join("package-lock.json"))?;
    let version = format!(
        "(package-lock.json, {} bytes, {:x})",
        lock.len(),
        hash(&lock)
    );
    once("npm packages", &version, &folder, || {
        let npm = find(&["npm"]).context("there is no npm")?;
        for name in ["package.json", "package-lock.json", ".npmrc"] {
            fs::copy(wanted.join(name), folder.join(name)).with_context(|| name)?;
        }
        // `install` rather than `ci`: the lock file lists Deno's program for one platform only, and
        // `install` adds another to this copy. Packages in the lock file keep their versions and
        // hashes.
        run_quietly(
            Command::new(npm)
                .args(["install", "--silent"])
                .current_dir(&folder),
        )
    })
}

/// Identifies a version of the lock file; no cryptographic hash is needed.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
