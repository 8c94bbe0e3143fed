//! Names this build of the guest by a hash of everything that it is built from: the sources of our
//! crates, the features of this one, and the versions of external crates, which are in the lock file.
//!
//! The name is part of every key under which a host keeps results of the guest, so a changed guest
//! never uses the entries of another one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Sources of the guest, relative to this package. A test compares the list with the guest's
/// dependencies among the packages of this workspace.
const SOURCES: [&str; 30] = [
    "Cargo.toml",
    "src",
    "aggregations/Cargo.toml",
    "aggregations/build.rs",
    "aggregations/src",
    "bitpacking/Cargo.toml",
    "bitpacking/src",
    "datasketches/Cargo.toml",
    "datasketches/src",
    "geo/Cargo.toml",
    "geo/src",
    "names/Cargo.toml",
    "names/src",
    "nearest/Cargo.toml",
    "nearest/src",
    "patterns/Cargo.toml",
    "patterns/src",
    "sorting/Cargo.toml",
    "sorting/src",
    "vectors/Cargo.toml",
    "vectors/src",
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

/// The workspace's manifest, and the beginnings of the headings under which it lists features and
/// replacements of dependencies. Its profiles change no answer.
const WORKSPACE: (&str, [&str; 2]) = ("../Cargo.toml", ["[workspace.dependencies", "[patch"]);

/// Prefix of the variables in which cargo names the enabled features.
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

/// Adds the sections of the workspace's manifest that concern dependencies.
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

/// Reads a file; a missing one counts as empty, because a package that is built outside of this workspace has
/// neither its lock file nor its manifest.
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
