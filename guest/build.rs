//! Names this build of the guest by a hash of all that it is made from: the sources of our crates, the
//! features of this one, and the versions of everybody else's, which stand in the lock file.
//!
//! The name is part of every key under which a host keeps what the guest computed: a guest that was
//! changed in any way never takes up what another one left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the guest is made from, relative to this package. A test compares the list with the packages of
/// this workspace that the guest depends on.
const SOURCES: [&str; 22] = [
    "Cargo.toml",
    "src",
    "aggregations/Cargo.toml",
    "aggregations/build.rs",
    "aggregations/src",
    "bitpacking/Cargo.toml",
    "bitpacking/src",
    "datasketches/Cargo.toml",
    "datasketches/src",
    "names/Cargo.toml",
    "names/src",
    "sorting/Cargo.toml",
    "sorting/src",
    "matching/Cargo.toml",
    "matching/src",
    "../doc-mapper/Cargo.toml",
    "../doc-mapper/src",
    "../protocol/Cargo.toml",
    "../protocol/src",
    "../split-format/Cargo.toml",
    "../split-format/src",
    "../Cargo.lock",
];

/// Where the workspace says which features of its dependencies are on, and which are replaced, under headings
/// that begin so. What it says of profiles changes no answer.
const WORKSPACE: (&str, [&str; 2]) = ("../Cargo.toml", ["[workspace.dependencies", "[patch"]);

/// Begins the names of variables in which cargo names the features that are on.
const FEATURE: &str = "CARGO_FEATURE_";

fn main() -> io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = blake3::Hasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        hash_into(&mut hasher, &root.join(source), source)?;
    }
    hash_sections(&mut hasher, &root)?;
    let mut features: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with(FEATURE))
        .collect();
    features.sort();
    for feature in features {
        hasher.update(feature.as_bytes());
        hasher.update(&[0]);
    }
    let hash = hasher.finalize().to_hex();
    let build = hash.get(..16).unwrap_or_default();
    println!("cargo::rustc-env=CANTER_GUEST_BUILD={build}");
    Ok(())
}

/// Adds the sections of the workspace's manifest that say what dependencies are like.
fn hash_sections(hasher: &mut blake3::Hasher, root: &Path) -> io::Result<()> {
    let (file, headings) = WORKSPACE;
    println!("cargo::rerun-if-changed={file}");
    let manifest = String::from_utf8_lossy(&read(&root.join(file))?).into_owned();
    let mut is_wanted = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_wanted = headings.iter().any(|heading| line.starts_with(heading));
        }
        if is_wanted {
            hasher.update(line.as_bytes());
            hasher.update(b"\n");
        }
    }
    Ok(())
}

/// Adds a file, or all files of a folder in the order of their names.
fn hash_into(hasher: &mut blake3::Hasher, path: &Path, name: &str) -> io::Result<()> {
    if path.is_dir() {
        let mut names = fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        for child in names {
            let child_name = format!("{name}/{}", child.to_string_lossy());
            hash_into(hasher, &path.join(child), &child_name)?;
        }
        return Ok(());
    }
    let bytes = read(path)?;
    hasher.update(name.as_bytes());
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(&bytes);
    Ok(())
}

/// The bytes of a file; none if there is none: a package that is built outside this workspace has neither its
/// lock file nor its manifest.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the guest performs no I/O, but this is what builds it"
    )]
    let read = fs::read(path);
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        bytes => bytes,
    }
}
