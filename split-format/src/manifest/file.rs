//! Manifest: the live splits, with the data that lets readers skip most of them.
//!
//! ```text
//!   0        8         12         20          28                28 + json_len
//!   ├────────┼─────────┼──────────┼───────────┼─────────────────┼───────────┬──────────────────┤
//!   │ magic  │ version │ json_len │ checksum  │ manifest, JSON  │ (table)   │ inlined heads    │
//!   └────────┴─────────┴──────────┴───────────┴─────────────────┴───────────┴──────────────────┘
//!                                  XXH3-64 of                     version 2   each head: its
//!                                  the JSON                       only        checksum is in the JSON
//! ```
//!
//! The manifest carries the heads of the newest splits, up to a budget, so that one request opens
//! the whole index. A split whose head is not inlined is opened by a range read of its own object.
//!
//! An index with many splits names most of them in pages ([`crate::PageRef`]), which the table
//! references; the JSON then only contains the newest ones. Without pages and ledgers there is no
//! table, and the version is 1; without a ledger of sources it is 2.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{MANIFEST_MAGIC, MANIFEST_VERSION, MANIFEST_WITHOUT_PAGES, checksum64};

use super::condemned::Condemned;
use super::entry::SplitEntry;
use super::ledger::Ledger;
use super::sources::Sources;
use super::table::{Table, TableContents};
use crate::page::{MAX_PACKED_HEAD, PageRef};
use crate::split::KeyDigestRef;

pub(super) const NAME: &str = "manifest";

/// Maximum size of the heads in a manifest, in bytes.
const INLINE_BUDGET: u64 = 1 << 20;
/// Maximum size of the heads in a manifest with pages, which is rewritten for every few documents.
const INLINE_BUDGET_WITH_PAGES: u64 = 1 << 19;
/// Number of splits above which the oldest move to pages.
const MAX_NEWEST: usize = 48;

/// Index config and live splits: all of them, or the newest ones of an index with pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Index config, as serialized by the doc mapper.
    pub index_config: serde_json::Value,
    /// Live splits, oldest first (see [`Manifest::sort_splits`]).
    pub splits: Vec<SplitEntry>,
    /// Least sequence number that no document of a client's id has had.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub next_seq_no: u64,
    /// Digests of ids, each of splits that no other has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_digests: Vec<KeyDigestRef>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Manifest {
    /// Creates a manifest without splits.
    pub fn new(index_config: serde_json::Value) -> Self {
        Self {
            index_config,
            splits: Vec::new(),
            next_seq_no: 0,
            key_digests: Vec::new(),
        }
    }

    /// Sorts the splits: by latest timestamp, then earliest, then id.
    pub fn sort_splits(&mut self) {
        canter_sorting::sort_by(&mut self.splits, |left, right| {
            left.order().cmp(&right.order())
        });
    }

    /// Returns the number of documents in all live splits that are not deleted.
    pub fn num_docs(&self) -> u64 {
        // Untrusted counts: their sum may overflow.
        self.splits
            .iter()
            .fold(0, |sum, split| sum.saturating_add(split.num_live_docs()))
    }
}

/// Manifest with the heads that it carries, as stored in its object.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestFile {
    /// The manifest.
    pub manifest: Manifest,
    /// Pages of splits that the manifest does not name itself, oldest first.
    pub pages: Vec<PageRef>,
    /// Former splits that the manifest does not name itself.
    pub ledger: Ledger,
    /// Unreferenced objects on their way to deletion.
    pub condemned: Condemned,
    /// Progress of the ingest of each source.
    pub sources: Sources,
    /// Heads by split id.
    heads: BTreeMap<String, Vec<u8>>,
}

impl ManifestFile {
    /// Creates a manifest that carries no heads yet.
    pub fn new(manifest: Manifest) -> Self {
        Self {
            manifest,
            pages: Vec::new(),
            ledger: Ledger::default(),
            condemned: Condemned::new(),
            sources: Sources::default(),
            heads: BTreeMap::new(),
        }
    }

    /// Returns the number of live splits.
    pub fn num_splits(&self) -> u64 {
        let paged = self.pages.iter().map(|page| page.num_splits);
        paged.fold(self.manifest.splits.len() as u64, u64::saturating_add)
    }

    /// Returns the number of documents in all live splits that are not deleted.
    pub fn num_docs(&self) -> u64 {
        let paged = self
            .pages
            .iter()
            .map(|page| page.num_docs.saturating_sub(page.num_deleted));
        paged.fold(self.manifest.num_docs(), u64::saturating_add)
    }

    /// Removes the oldest splits if there are too many or their heads are too long, each with its
    /// head if this carries it. The caller moves them to pages.
    pub fn take_overflow(&mut self) -> Vec<(SplitEntry, Option<Vec<u8>>)> {
        // A head that is too long for a page takes one read there too.
        let heads_len = |splits: &[SplitEntry]| -> u64 {
            let packable = splits
                .iter()
                .filter(|split| split.head_len <= MAX_PACKED_HEAD);
            packable.fold(0, |sum, split| sum.saturating_add(split.head_len))
        };
        self.manifest.sort_splits();
        let splits = &self.manifest.splits;
        let budget = match self.pages.is_empty() {
            true => INLINE_BUDGET,
            false => INLINE_BUDGET_WITH_PAGES,
        };
        if splits.len() <= MAX_NEWEST && heads_len(splits) <= budget {
            return Vec::new();
        }
        let are_few = |from: &usize| {
            let left = splits.get(*from..).unwrap_or_default();
            left.len() <= MAX_NEWEST / 3 && heads_len(left) <= INLINE_BUDGET_WITH_PAGES / 2
        };
        let num_taken = (0..=splits.len()).find(are_few).unwrap_or(splits.len());
        let taken = splits.iter().take(num_taken);
        let taken = canter_sorting::set_of(taken.map(|split| split.id.clone()));
        self.take_splits(|split| taken.contains(&split.id))
    }

    /// Removes splits, each with its head if this carries it.
    pub fn take_splits(
        &mut self,
        is_taken: impl Fn(&SplitEntry) -> bool,
    ) -> Vec<(SplitEntry, Option<Vec<u8>>)> {
        let splits = std::mem::take(&mut self.manifest.splits);
        let (taken, left): (Vec<_>, Vec<_>) = splits.into_iter().partition(is_taken);
        self.manifest.splits = left;
        let with_heads = taken.into_iter().map(|split| {
            let head = self.take_head(&split.id);
            (split, head)
        });
        with_heads.collect()
    }

    /// Adds a split with its head. A split that is already live stays unchanged.
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

    /// Returns the head of a split, if this manifest carries it, without verifying its checksum.
    pub fn head(&self, split_id: &str) -> Option<&[u8]> {
        self.heads.get(split_id).map(Vec::as_slice)
    }

    /// Removes and returns the head of a split, if this manifest carries it.
    pub fn take_head(&mut self, split_id: &str) -> Option<Vec<u8>> {
        self.heads.remove(split_id)
    }

    /// Sorts the splits, selects the heads to carry (newest first, within the budget) and encodes
    /// the manifest.
    ///
    /// # Errors
    /// The manifest cannot be serialized to JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut manifest = self.manifest.clone();
        manifest.sort_splits();
        let table = Table::of(self);
        let budget = match self.pages.is_empty() {
            true => INLINE_BUDGET,
            false => INLINE_BUDGET_WITH_PAGES,
        };
        let mut pack: Vec<u8> = Vec::new();
        for split in manifest.splits.iter_mut().rev() {
            split.head_offset = None;
            let Some(head) = self.heads.get(&split.id) else {
                continue;
            };
            if pack.len() as u64 + head.len() as u64 <= budget {
                split.head_offset = Some(pack.len() as u64);
                pack.extend_from_slice(head);
            }
        }
        let json = serde_json::to_vec(&manifest)
            .map_err(|error| FormatError::new(NAME, error.to_string()))?;
        let mut out = Writer::default();
        out.raw(&MANIFEST_MAGIC);
        out.u32(match &table {
            None => MANIFEST_WITHOUT_PAGES,
            Some(table) => table.version(),
        });
        out.u64(json.len() as u64);
        out.u64(checksum64(&json));
        out.raw(&json);
        if let Some(table) = table {
            table.write(&mut out)?;
        }
        out.raw(&pack);
        Ok(out.into_bytes())
    }

    /// Decodes a manifest object. Inlined heads are extracted without verification: a damaged one
    /// affects its split, not the index.
    ///
    /// # Errors
    /// The bytes are no manifest, or are damaged or truncated.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(NAME, bytes);
        if reader.raw(MANIFEST_MAGIC.len())? != MANIFEST_MAGIC {
            return Err(reader.error("this is not a Canter manifest (wrong magic number)"));
        }
        let version = reader.u32()?;
        if !(MANIFEST_WITHOUT_PAGES..=MANIFEST_VERSION).contains(&version) {
            return Err(reader.error(format!(
                "manifest format version {version} is not known (this reader knows \
                 {MANIFEST_WITHOUT_PAGES} to {MANIFEST_VERSION}): use a newer Canter"
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
        let TableContents {
            pages,
            ledger,
            condemned,
            sources,
        } = match version {
            MANIFEST_WITHOUT_PAGES => TableContents::default(),
            _ => Table::read(&mut reader, version)?,
        };
        let pack = reader.raw(reader.remaining())?;
        let mut heads = BTreeMap::new();
        let mut ids = BTreeSet::new();
        let mut left_to_copy = pack.len();
        for split in &manifest.splits {
            if !ids.insert(&split.id) {
                return Err(reader.error(format!("the split {} is named twice", split.id)));
            }
            // Heads do not overlap, so together they never exceed the pack.
            if let Some(head) = inlined_head(pack, split)
                && let Some(left) = left_to_copy.checked_sub(head.len())
            {
                left_to_copy = left;
                heads.insert(split.id.clone(), head.to_vec());
            }
        }
        Ok(Self {
            manifest,
            pages,
            ledger,
            condemned,
            sources,
            heads,
        })
    }
}

/// Returns the bytes of an inlined head. A pack truncated before it has none; the reader then falls
/// back to the split.
fn inlined_head<'a>(pack: &'a [u8], split: &SplitEntry) -> Option<&'a [u8]> {
    let start = usize::try_from(split.head_offset?).ok()?;
    let end = start.checked_add(usize::try_from(split.head_len).ok()?)?;
    pack.get(start..end)
}

#[cfg(test)]
mod tests;
