//! OpenSearch's YAML tests, which it publishes as an artefact of Maven under the Apache License.

use std::env;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use zip::ZipArchive;

use super::{find, install_debian, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

const VERSION: &str = "3.1.0";
/// BLAKE3 checksum of the artefact.
const CHECKSUM: &str = "ad65e3091bffccb5a4d21154aaedbe181088e3939b2b0d4eac35cbb596fbac3b";
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// Downloads the artefact with Maven, and unpacks it below `<target>/tools/rest-api-spec`.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let folder = workspace.tools_dir().join("rest-api-spec");
    once("OpenSearch's YAML tests", VERSION, &folder, || {
        let mvn = find_maven()?;
        run_quietly(
            Command::new(mvn)
                .args(["--quiet", "--batch-mode", PLUGIN])
                .arg(format!("-Dartifact=org.opensearch:rest-api-spec:{VERSION}"))
                .arg(format!("-DoutputDirectory={}", folder.display()))
                .current_dir(&folder),
        )?;
        unpack(
            &folder.join(format!("rest-api-spec-{VERSION}.jar")),
            &folder,
        )
    })
}

fn find_maven() -> Result<&'static str> {
    if find(&["mvn"]).is_none() {
        ensure!(
            env::var_os("CI").is_some() && find(&["apt-get"]).is_some(),
            "there is no mvn on the path"
        );
        install_debian("maven")?;
    }
    Ok("mvn")
}

fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let bytes = fs::read(archive);
    let bytes = bytes.with_context(|| format!("cannot read {}", archive.display()))?;
    let found = blake3::hash(&bytes).to_hex();
    ensure!(
        &*found == CHECKSUM,
        "{} has the checksum {found}, not {CHECKSUM}",
        archive.display()
    );
    let mut archive = ZipArchive::new(File::open(archive)?)?;
    archive.extract(folder).context("cannot unpack the tests")
}
