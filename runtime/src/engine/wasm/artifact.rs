//! The file that holds a precompiled component: native code, and what proves that it may be loaded.
//!
//! ```text
//!   0   8   magic "CANTERCW"
//!   8   4   format version, little endian
//!  12  16   xxh3-128 of the component it was compiled from
//!  28  16   xxh3-128 of the code
//!  44   …   the code, as wasmtime serialises it (with wasmtime's version and settings inside)
//! ```
//!
//! The checksums find damage and mix-ups, not malice: whoever can write this file can run code.

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

const MAGIC: &[u8; 8] = b"CANTERCW";
const VERSION: u32 = 1;
const HEADER_LEN: usize = 44;

/// Why a file is not the precompiled form of a component.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum ArtifactError {
    #[error("it is not a precompiled guest")]
    Magic,
    #[error("its format version is {0}, and this program reads {VERSION}")]
    Version(u32),
    #[error("it was compiled from another guest component")]
    OtherComponent,
    #[error("its code is damaged")]
    Damaged,
}

/// Wraps `code`, compiled from `component`, in the file's format.
pub(super) fn seal(component: &[u8], code: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER_LEN + code.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&xxh3_128(component).to_le_bytes());
    file.extend_from_slice(&xxh3_128(code).to_le_bytes());
    file.extend_from_slice(code);
    file
}

/// The code in `file`, if it is whole and was compiled from `component` (when that is given).
pub(super) fn open<'a>(
    file: &'a [u8],
    component: Option<&[u8]>,
) -> Result<&'a [u8], ArtifactError> {
    let (header, code) = file
        .split_at_checked(HEADER_LEN)
        .ok_or(ArtifactError::Magic)?;
    let (magic, header) = header.split_at(8);
    let (version, header) = header.split_at(4);
    let (component_hash, code_hash) = header.split_at(16);
    if magic != MAGIC {
        return Err(ArtifactError::Magic);
    }
    let version = version.try_into().map_or(0, u32::from_le_bytes);
    if version != VERSION {
        return Err(ArtifactError::Version(version));
    }
    if component.is_some_and(|component| component_hash != xxh3_128(component).to_le_bytes()) {
        return Err(ArtifactError::OtherComponent);
    }
    if code_hash != xxh3_128(code).to_le_bytes() {
        return Err(ArtifactError::Damaged);
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_artifact_opens() {
        let file = seal(b"component", b"code");
        assert_eq!(open(&file, Some(b"component")), Ok(&b"code"[..]));
        assert_eq!(open(&file, None), Ok(&b"code"[..]));
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let file = seal(b"component", b"code");
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert!(open(&damaged, Some(b"component")).is_err(), "byte {at}");
        }
    }

    #[test]
    fn every_truncation_is_noticed() {
        let file = seal(b"component", b"code");
        for len in 0..file.len() {
            assert!(
                open(&file[..len], Some(b"component")).is_err(),
                "{len} bytes"
            );
        }
    }

    #[test]
    fn the_code_of_another_component_is_refused() {
        let file = seal(b"component", b"code");
        assert_eq!(
            open(&file, Some(b"other")),
            Err(ArtifactError::OtherComponent)
        );
    }
}
