//! Precompiled component: native code, followed by a seal that shows that it can be loaded.
//!
//! ```text
//!   0   …   the code, as wasmtime serialises it (with wasmtime's version and settings inside)
//!  -44  8   magic "CANTERCW"
//!  -36  4   format version, little endian
//!  -32 16   xxh3-128 of the component it was compiled from
//!  -16 16   xxh3-128 of the code
//! ```
//!
//! The code comes first, so that it is at the beginning of a page wherever the whole is mapped, and
//! can be executed in place. The checksums detect damage and mix-ups, not malice: whoever can write
//! this file can run code.

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

const MAGIC: &[u8; 8] = b"CANTERCW";
/// Format version. It must also change with the code that is inserted into the component before
/// compilation (`polls.rs`).
const VERSION: u32 = 3;
const SEAL_LEN: usize = 44;

/// Reason why bytes are not the precompiled form of a component.
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

/// Origin of the bytes, which determines their checks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<'a> {
    /// Part of this program, checked when it was built.
    #[cfg_attr(
        not(canter_embed_guest),
        allow(dead_code, reason = "no guest is embedded")
    )]
    Checked,
    /// Possibly damaged.
    Unchecked,
    /// Possibly damaged, or compiled from another component than this one.
    Of(&'a [u8]),
}

/// Appends the seal to `code`, which was compiled from `component`.
#[cfg(feature = "compile")]
pub(super) fn seal(component: &[u8], code: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(code.len() + SEAL_LEN);
    sealed.extend_from_slice(code);
    sealed.extend_from_slice(MAGIC);
    sealed.extend_from_slice(&VERSION.to_le_bytes());
    sealed.extend_from_slice(&xxh3_128(component).to_le_bytes());
    sealed.extend_from_slice(&xxh3_128(code).to_le_bytes());
    sealed
}

/// Returns the code in `sealed`, if it is intact and was compiled from the expected component.
pub(super) fn open<'a>(sealed: &'a [u8], origin: Origin<'_>) -> Result<&'a [u8], ArtifactError> {
    let code_len = sealed.len().checked_sub(SEAL_LEN);
    let (code, seal) = code_len
        .and_then(|code_len| sealed.split_at_checked(code_len))
        .ok_or(ArtifactError::Magic)?;
    let (magic, seal) = seal.split_at(8);
    let (version, seal) = seal.split_at(4);
    let (component_hash, code_hash) = seal.split_at(16);
    if magic != MAGIC {
        return Err(ArtifactError::Magic);
    }
    let version = version.try_into().map_or(0, u32::from_le_bytes);
    if version != VERSION {
        return Err(ArtifactError::Version(version));
    }
    if let Origin::Of(component) = origin
        && component_hash != xxh3_128(component).to_le_bytes()
    {
        return Err(ArtifactError::OtherComponent);
    }
    if !matches!(origin, Origin::Checked) && code_hash != xxh3_128(code).to_le_bytes() {
        return Err(ArtifactError::Damaged);
    }
    Ok(code)
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_artifact_opens() {
        let sealed = seal(b"component", b"code");
        for origin in [Origin::Of(b"component"), Origin::Unchecked, Origin::Checked] {
            assert_eq!(open(&sealed, origin), Ok(&b"code"[..]));
        }
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let sealed = seal(b"component", b"code");
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            let opened = open(&damaged, Origin::Of(b"component"));
            assert!(opened.is_err(), "byte {at}");
        }
    }

    #[test]
    fn every_truncation_is_noticed() {
        let sealed = seal(b"component", b"code");
        for len in 0..sealed.len() {
            let opened = open(&sealed[..len], Origin::Of(b"component"));
            assert!(opened.is_err(), "{len} bytes");
        }
    }

    #[test]
    fn the_code_of_another_component_is_refused() {
        let sealed = seal(b"component", b"code");
        assert_eq!(
            open(&sealed, Origin::Of(b"other")),
            Err(ArtifactError::OtherComponent)
        );
    }
}
