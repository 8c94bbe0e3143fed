//! Digest of ids: the filters of several splits in one object, from which a writer that has seen none
//! of the splits looks up ids with one read.
//!
//! ```text
//!   0        8         12         20                28           28 + json_len
//!   ├────────┼─────────┼──────────┼─────────────────┼────────────┼──────────────────┤
//!   │ magic  │ version │ json_len │ checksum        │ splits,    │ filters, in the  │
//!   │        │ u32     │ u64      │ of what follows │ JSON       │ order of splits  │
//!   └────────┴─────────┴──────────┴─────────────────┴────────────┴──────────────────┘
//! ```
//!
//! A filter is the beginning of the split's file `keys`. Splits of a digest may be gone by now.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::identities::IdentityRange;
use super::keys::KeyFilter;
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{
    KEY_DIGEST_MAGIC, KEY_DIGEST_NAME, KEY_DIGEST_VERSION, checksum64, key_digest_object,
    object_id, read_object_id,
};

/// Reference to a digest in the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyDigestRef {
    /// Hash of the object's bytes.
    #[serde(deserialize_with = "read_object_id")]
    pub id: String,
    /// Length of the object in bytes.
    pub len: u64,
    /// Number of ids in all of its splits.
    pub num_keys: u64,
}

impl KeyDigestRef {
    /// Returns the name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        key_digest_object(&self.id)
    }
}

/// What it takes to look up documents of one split by their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitKeys {
    /// Id of the split.
    pub split_id: String,
    /// Filter of the ids that clients gave, and the range of the file `keys` in the split's object;
    /// `None` if no document has such an id.
    pub keys: Option<(KeyFilter, Range<u64>)>,
    /// Identities of the documents, and the range of their file in the split's object.
    pub identities: Option<(IdentityRange, Range<u64>)>,
}

/// Entry of the JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(deserialize_with = "read_object_id")]
    split: String,
    /// Start and end of the file `keys`, and the length of the filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keys: Option<(u64, u64, u64)>,
    /// Identities, and start and end of their file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identities: Option<(IdentityRange, u64, u64)>,
}

/// Encodes a digest of some splits.
///
/// # Errors
/// The splits cannot be written as JSON.
pub fn write_key_digest(splits: &[SplitKeys]) -> Result<(KeyDigestRef, Vec<u8>), FormatError> {
    let mut filters = Writer::default();
    let mut entries = Vec::new();
    let mut num_keys = 0_u64;
    for split in splits {
        let keys = split.keys.as_ref().map(|(filter, file)| {
            let bytes = filter.to_bytes();
            filters.raw(&bytes);
            num_keys = num_keys.saturating_add(filter.num_keys());
            (file.start, file.end, bytes.len() as u64)
        });
        let identities = split.identities.as_ref();
        entries.push(Entry {
            split: split.split_id.clone(),
            keys,
            identities: identities.map(|(range, file)| (*range, file.start, file.end)),
        });
    }
    let json = serde_json::to_vec(&entries)
        .map_err(|error| FormatError::new(KEY_DIGEST_NAME, error.to_string()))?;
    let json_len = json.len() as u64;
    let body = [json, filters.into_bytes()].concat();
    let mut out = Writer::default();
    out.raw(&KEY_DIGEST_MAGIC);
    out.u32(KEY_DIGEST_VERSION);
    out.u64(json_len);
    out.u64(checksum64(&body));
    out.raw(&body);
    let bytes = out.into_bytes();
    let reference = KeyDigestRef {
        id: object_id(&bytes),
        len: bytes.len() as u64,
        num_keys,
    };
    Ok((reference, bytes))
}

/// Decodes a digest.
///
/// # Errors
/// The bytes are no digest, are damaged or truncated, or have an unknown version.
pub fn read_key_digest(bytes: &[u8]) -> Result<Vec<SplitKeys>, FormatError> {
    let mut reader = Reader::new(KEY_DIGEST_NAME, bytes);
    if reader.raw(KEY_DIGEST_MAGIC.len())? != KEY_DIGEST_MAGIC {
        return Err(reader.error("this is no digest of ids (wrong magic number)"));
    }
    let version = reader.u32()?;
    if version != KEY_DIGEST_VERSION {
        return Err(reader.error(format!(
            "version {version} is not known (this reader knows {KEY_DIGEST_VERSION}): use a newer Canter"
        )));
    }
    let json_len = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
    let wanted = reader.u64()?;
    let body = reader.raw(reader.remaining())?;
    if checksum64(body) != wanted {
        return Err(reader.error("its checksum does not match: the bytes are damaged"));
    }
    let mut body = Reader::new(KEY_DIGEST_NAME, body);
    let json = body.raw(json_len)?;
    let entries: Vec<Entry> =
        serde_json::from_slice(json).map_err(|error| body.error(error.to_string()))?;
    let mut splits = Vec::new();
    for entry in entries {
        let keys = match entry.keys {
            None => None,
            Some((start, end, filter_len)) => {
                let len = usize::try_from(filter_len).unwrap_or(usize::MAX);
                Some((KeyFilter::open(body.raw(len)?)?, start..end))
            }
        };
        splits.push(SplitKeys {
            split_id: entry.split,
            keys,
            identities: entry
                .identities
                .map(|(range, start, end)| (range, start..end)),
        });
    }
    Ok(splits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::split::keys::{Key, KeyHash, write_keys};

    fn split(number: u32, num_keys: u32) -> SplitKeys {
        let keys = (0..num_keys).map(|doc| Key {
            hash: KeyHash::of(&format!("{number} {doc}")),
            doc,
            version: 1,
            seq_no: Some(u64::from(doc)),
        });
        let filter = KeyFilter::open(&write_keys(keys.collect())).unwrap();
        SplitKeys {
            split_id: format!("{number:032x}"),
            keys: (num_keys > 0).then_some((filter, 7_000..9_000)),
            identities: None,
        }
    }

    #[test]
    fn a_digest_has_the_filters_of_its_splits() {
        for splits in [
            vec![],
            vec![split(1, 0)],
            vec![split(1, 200), split(2, 0), split(3, 1)],
        ] {
            let (reference, bytes) = write_key_digest(&splits).unwrap();
            assert_eq!(reference.len, bytes.len() as u64);
            assert_eq!(reference.id, object_id(&bytes));
            assert_eq!(read_key_digest(&bytes).unwrap(), splits);
        }
    }

    #[test]
    fn damage_is_told() {
        let (_, bytes) = write_key_digest(&[split(1, 50), split(2, 60)]).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(read_key_digest(&damaged).is_err(), "byte {at}");
            assert!(read_key_digest(&bytes[..at]).is_err(), "{at} bytes");
        }
    }

    proptest! {
        #[test]
        fn any_json_is_answered(json in "\\[[ -~]{0,80}\\]", rest in prop::collection::vec(any::<u8>(), 0..60)) {
            let body = [json.as_bytes(), &rest].concat();
            let mut out = Writer::default();
            out.raw(&KEY_DIGEST_MAGIC);
            out.u32(KEY_DIGEST_VERSION);
            out.u64(json.len() as u64);
            out.u64(checksum64(&body));
            out.raw(&body);
            let _ = read_key_digest(&out.into_bytes());
        }
    }
}
