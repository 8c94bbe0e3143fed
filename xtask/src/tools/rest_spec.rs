//! The YAML tests of OpenSearch and Elasticsearch 7.10, published as artefacts of Maven under the Apache License.

use std::env;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use zip::ZipArchive;

use super::{find, install_debian, once};
use crate::step::run_quietly;
use crate::workspace::Workspace;

/// Published artefact.
struct Artefact {
    what: &'static str,
    group: &'static str,
    version: &'static str,
    /// Folder below that of the tools.
    folder: &'static str,
    /// BLAKE3 checksum.
    checksum: &'static str,
}

const OPENSEARCH: Artefact = Artefact {
    what: "OpenSearch's YAML tests",
    group: "org.opensearch",
    version: "3.1.0",
    folder: "rest-api-spec",
    checksum: "ad65e3091bffccb5a4d21154aaedbe181088e3939b2b0d4eac35cbb596fbac3b",
};

const ELASTICSEARCH: Artefact = Artefact {
    what: "Elasticsearch's YAML tests",
    group: "org.elasticsearch",
    version: "7.10.2",
    folder: "elastic-rest-api-spec",
    checksum: "6affe4a7f353bdf8acbbd245db187e7bff7d70d14d10641e291a2dc3135a1201",
};

const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// Downloads the artefacts with Maven, and unpacks each below `<target>/tools`.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    for artefact in [OPENSEARCH, ELASTICSEARCH] {
        artefact.install(workspace)?;
    }
    Ok(())
}

impl Artefact {
    fn install(&self, workspace: &Workspace) -> Result<()> {
        let folder = workspace.tools_dir().join(self.folder);
        once(self.what, self.version, &folder, || {
            let mvn = find_maven()?;
            let name = format!("{}:rest-api-spec:{}", self.group, self.version);
            run_quietly(
                Command::new(mvn)
                    .args(["--quiet", "--batch-mode", PLUGIN])
                    .arg(format!("-Dartifact={name}"))
                    .arg(format!("-DoutputDirectory={}", folder.display()))
                    .current_dir(&folder),
            )?;
            let archive = folder.join(format!("rest-api-spec-{}.jar", self.version));
            unpack(&archive, &folder, self.checksum)
        })
    }
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

fn unpack(archive: &Path, folder: &Path, checksum: &str) -> Result<()> {
    let bytes = fs::read(archive);
    let bytes = bytes.with_context(|| format!("cannot read {}", archive.display()))?;
    let found = blake3::hash(&bytes).to_hex();
    ensure!(
        &*found == checksum,
        "{} has the checksum {found}, not {checksum}",
        archive.display()
    );
    let mut archive = ZipArchive::new(File::open(archive)?)?;
    archive.extract(folder).context("cannot unpack the tests")
}
