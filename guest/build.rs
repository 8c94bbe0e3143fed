//! Names this build of the guest by a hash of all that it is made from.
//!
//! The name is part of every key under which a host keeps what the guest computed: a guest that was
//! changed in any way never takes up what another one left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the guest is made from, relative to this package.
const SOURCES: [&str; 4] = [
    "src",
    "../doc-mapper/src",
    "../split-format/src",
    "../Cargo.lock",
];

fn main() -> io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = blake3::Hasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        hash_into(&mut hasher, &root.join(source), source)?;
    }
    let hash = hasher.finalize().to_hex();
    let build = hash.get(..16).unwrap_or_default();
    println!("cargo::rustc-env=CANTER_GUEST_BUILD={build}");
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
    // A package that is built outside this workspace has no lock file of ours.
    #[expect(
        clippy::disallowed_methods,
        reason = "the guest performs no I/O, but this is what builds it"
    )]
    let read = fs::read(path);
    let bytes = match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes?,
    };
    hasher.update(name.as_bytes());
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(&bytes);
    Ok(())
}
