//! The manifest: which splits are live, with what a reader needs to leave most of them alone.
//!
//! ```text
//!   0        8         12         20          28                28 + json_len
//!   ├────────┼─────────┼──────────┼───────────┼─────────────────┼──────────────────┤
//!   │ magic  │ version │ json_len │ checksum  │ manifest, JSON  │ inlined heads    │
//!   └────────┴─────────┴──────────┴───────────┴─────────────────┴──────────────────┘
//!                                  XXH3-64 of
//!                                  the JSON       each head: its checksum is in the JSON
//! ```
//!
//! Heads of the newest splits stand in the manifest itself, up to a budget: then one request opens
//! the whole index. A split whose head is not inlined is opened by a range read of its own object.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::codec::{Reader, Writer};
use crate::version::{MANIFEST_MAGIC, MANIFEST_VERSION, checksum64, is_split_id};
use crate::{FormatError, TimeRange};

const NAME: &str = "manifest";

/// How many bytes of heads a manifest carries at most.
const INLINE_BUDGET: u64 = 1 << 20;

/// One live split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitEntry {
    /// Hash of the split's bytes; its object's name is made from it. Reading takes nothing but 32 lower-case
    /// hexadecimal digits: hosts send what gives access to the index along with the object's name.
    #[serde(deserialize_with = "read_split_id")]
    pub id: String,
    /// Number of bytes of the object.
    pub len: u64,
    /// Number of bytes of its head.
    pub head_len: u64,
    /// XXH3-64 of the head's bytes, in hexadecimal.
    #[serde(with = "hex_u64")]
    pub head_checksum: u64,
    /// Where the head stands behind the JSON of this manifest, if it is inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_offset: Option<u64>,
    /// Number of documents.
    pub num_docs: u64,
    /// Number of bytes of the input the documents came from.
    pub raw_num_bytes: u64,
    /// Earliest and latest timestamp, if the index has a timestamp field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range: Option<TimeRange>,
    /// For each tag field with few enough values: all its values in this split. A field that is
    /// absent here may hold anything.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, BTreeSet<String>>,
}

/// The index's config and its live splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The index config, as the doc mapper serialises it.
    pub index_config: serde_json::Value,
    /// Live splits, oldest first (see [`Manifest::sort_splits`]).
    pub splits: Vec<SplitEntry>,
}

impl Manifest {
    /// A manifest without splits.
    pub fn new(index_config: serde_json::Value) -> Self {
        Self {
            index_config,
            splits: Vec::new(),
        }
    }

    /// Brings the splits into their one order: by latest, then earliest timestamp, then id.
    pub fn sort_splits(&mut self) {
        self.splits.sort_by(|left, right| {
            let key =
                |split: &SplitEntry| split.time_range.map(|range| (range.end_ns, range.start_ns));
            (key(left), &left.id).cmp(&(key(right), &right.id))
        });
    }

    /// Number of documents of all live splits.
    pub fn num_docs(&self) -> u64 {
        // The counts come from outside: their sum may not fit.
        self.splits
            .iter()
            .fold(0, |sum, split| sum.saturating_add(split.num_docs))
    }
}

/// A manifest together with the heads it carries: the object as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestFile {
    /// The manifest.
    pub manifest: Manifest,
    /// Heads by split id.
    heads: BTreeMap<String, Vec<u8>>,
}

impl ManifestFile {
    /// A manifest that carries no heads yet.
    pub fn new(manifest: Manifest) -> Self {
        Self {
            manifest,
            heads: BTreeMap::new(),
        }
    }

    /// Adds a split with its head. A split that is live already is left as it is.
    pub fn add_split(&mut self, entry: SplitEntry, head: Vec<u8>) {
        if self
            .manifest
            .splits
            .iter()
            .any(|split| split.id == entry.id)
        {
            return;
        }
        self.heads.insert(entry.id.clone(), head);
        self.manifest.splits.push(entry);
    }

    /// The head of a split, if this manifest carries it. Its checksum is not verified yet.
    pub fn head(&self, split_id: &str) -> Option<&[u8]> {
        self.heads.get(split_id).map(Vec::as_slice)
    }

    /// Takes the head of a split out of this manifest, if it carries it.
    pub fn take_head(&mut self, split_id: &str) -> Option<Vec<u8>> {
        self.heads.remove(split_id)
    }

    /// Sorts the splits, chooses which heads to carry (newest first, within the budget) and encodes.
    ///
    /// # Errors
    /// If the manifest cannot be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut manifest = self.manifest.clone();
        manifest.sort_splits();
        let mut pack: Vec<u8> = Vec::new();
        for split in manifest.splits.iter_mut().rev() {
            split.head_offset = None;
            let Some(head) = self.heads.get(&split.id) else {
                continue;
            };
            if pack.len() as u64 + head.len() as u64 <= INLINE_BUDGET {
                split.head_offset = Some(pack.len() as u64);
                pack.extend_from_slice(head);
            }
        }
        let json = serde_json::to_vec(&manifest)
            .map_err(|error| FormatError::new(NAME, error.to_string()))?;
        let mut out = Writer::default();
        out.raw(&MANIFEST_MAGIC);
        out.u32(MANIFEST_VERSION);
        out.u64(json.len() as u64);
        out.u64(checksum64(&json));
        out.raw(&json);
        out.raw(&pack);
        Ok(out.into_bytes())
    }

    /// Decodes a manifest object. The inlined heads are cut out, not verified: a damaged one costs
    /// its split, not the index.
    ///
    /// # Errors
    /// If the bytes are no manifest, are damaged or cut short.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(NAME, bytes);
        if reader.raw(MANIFEST_MAGIC.len())? != MANIFEST_MAGIC {
            return Err(reader.error("this is not a Canter manifest (wrong magic number)"));
        }
        let version = reader.u32()?;
        if version != MANIFEST_VERSION {
            return Err(reader.error(format!(
                "manifest format version {version} is not known (this reader knows \
                 {MANIFEST_VERSION}): use a newer Canter"
            )));
        }
        let json_len = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
        let wanted = reader.u64()?;
        let json = reader.raw(json_len)?;
        if checksum64(json) != wanted {
            return Err(reader.error("its checksum does not match: the bytes are damaged"));
        }
        let manifest: Manifest =
            serde_json::from_slice(json).map_err(|error| reader.error(error.to_string()))?;
        let pack = reader.raw(reader.remaining())?;
        let mut heads = BTreeMap::new();
        let mut ids = BTreeSet::new();
        let mut left_to_copy = pack.len();
        for split in &manifest.splits {
            if !ids.insert(&split.id) {
                return Err(reader.error(format!("the split {} is named twice", split.id)));
            }
            // Heads do not overlap, so together they are never longer than the pack.
            if let Some(head) = inlined_head(pack, split)
                && let Some(left) = left_to_copy.checked_sub(head.len())
            {
                left_to_copy = left;
                heads.insert(split.id.clone(), head.to_vec());
            }
        }
        Ok(Self { manifest, heads })
    }
}

/// The bytes of an inlined head; a pack that was cut short before it simply has none, and the
/// reader falls back to the split itself.
fn inlined_head<'a>(pack: &'a [u8], split: &SplitEntry) -> Option<&'a [u8]> {
    let start = usize::try_from(split.head_offset?).ok()?;
    let end = start.checked_add(usize::try_from(split.head_len).ok()?)?;
    pack.get(start..end)
}

/// An id that is none may be of any length.
const MAX_SHOWN_CHARS: usize = 64;

fn read_split_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    if is_split_id(&id) {
        return Ok(id);
    }
    let shown: String = id.chars().take(MAX_SHOWN_CHARS).collect();
    Err(D::Error::custom(format!(
        "the split id {shown:?} is not 32 lower-case hexadecimal digits: Canter has not written this \
         manifest, so find out who has"
    )))
}

mod hex_u64 {
    //! A `u64` as 16 hexadecimal digits: JSON numbers lose bits past 2^53 in many readers.

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map_err(|_| D::Error::custom(format!("{text:?} is not a hexadecimal checksum")))
    }
}

#[cfg(test)]
mod tests;
