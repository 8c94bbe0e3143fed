//! Ledger: the ids of all splits that were ever published, so that a repeated ingest is recognized
//! whatever became of its splits: merged, deleted, expired.
//!
//! ```text
//!   manifest ──▶ recent ids │ references ──▶ ledger/<hash>.ids: magic · version · sorted ids
//! ```
//!
//! It excludes the ids of splits that the manifest names itself. Its objects have two levels: those
//! of the first are written when there are enough recent ids, and overlap each other; those of the
//! second partition all ids, so that one of them tells whether an id is known.

use std::collections::BTreeSet;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{
    LEDGER_MAGIC, LEDGER_NAME, LEDGER_VERSION, id_bytes, id_of_bytes, ledger_object, object_id,
};

/// Number of recent ids above which they are written to an object.
const MAX_RECENT: usize = 512;
/// Number of objects of the first level that are merged into the second.
const MAX_YOUNG: usize = 8;
/// Maximum number of ids in an object of the second level.
const MAX_IDS: usize = 4_096;
/// Minimum length of a reference in bytes.
const MIN_REF_LEN: usize = 16 + 1 + 1 + 32;

/// Id of a split as a number.
pub type SplitNumber = u128;

/// Reference to an object of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRef {
    /// First 128 bits of the BLAKE3 hash of its bytes, in hexadecimal.
    pub id: String,
    /// True if the object is of the second level.
    pub is_settled: bool,
    /// Number of ids.
    pub num_ids: u64,
    /// Smallest id.
    pub first: SplitNumber,
    /// Largest id.
    pub last: SplitNumber,
}

/// Ledger in a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Ids that are in no object yet.
    pub recent: BTreeSet<SplitNumber>,
    /// References to the objects.
    pub objects: Vec<LedgerRef>,
}

/// Encoded object of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLedger {
    /// Reference for the manifest.
    pub object: LedgerRef,
    /// Bytes of the object.
    pub bytes: Vec<u8>,
}

/// Returns the id of a split as a number; `None` if it is invalid.
pub fn split_number(id: &str) -> Option<SplitNumber> {
    id_bytes(id).ok().map(u128::from_be_bytes)
}

impl LedgerRef {
    /// Returns the name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        ledger_object(&self.id)
    }

    /// Decodes the ids of the object.
    ///
    /// # Errors
    /// The bytes differ from the referenced ones.
    pub fn open(&self, bytes: &[u8]) -> Result<BTreeSet<SplitNumber>, FormatError> {
        let mut reader = Reader::new(LEDGER_NAME, bytes);
        if object_id(bytes) != self.id {
            return Err(reader.error(format!(
                "{} has other bytes than its name says",
                self.object()
            )));
        }
        if reader.raw(LEDGER_MAGIC.len())? != LEDGER_MAGIC {
            return Err(reader.error("this is no part of a ledger (wrong magic number)"));
        }
        let version = reader.u32()?;
        if version != LEDGER_VERSION {
            return Err(reader.error(format!(
                "ledger format version {version} is not known (this reader knows {LEDGER_VERSION}): \
                 use a newer Canter"
            )));
        }
        let mut ids = BTreeSet::new();
        while !reader.is_empty() {
            ids.insert(u128::from_be_bytes(reader.array()?));
        }
        Ok(ids)
    }
}

impl Ledger {
    /// Returns whether the ledger is empty.
    pub fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.objects.is_empty()
    }

    /// Returns the number of ids.
    pub fn num_ids(&self) -> u64 {
        let written = self.objects.iter().map(|object| object.num_ids);
        written.fold(self.recent.len() as u64, u64::saturating_add)
    }

    /// Returns the objects that may contain one of these ids.
    pub fn objects_for(&self, ids: &BTreeSet<SplitNumber>) -> Vec<&LedgerRef> {
        let may_hold = |object: &&LedgerRef| {
            let runs_forwards = object.first <= object.last;
            runs_forwards && ids.range(object.first..=object.last).next().is_some()
        };
        self.objects.iter().filter(may_hold).collect()
    }

    /// Returns whether the recent ids should be written ([`Ledger::settle`]).
    pub fn is_due(&self) -> bool {
        self.recent.len() > MAX_RECENT
    }

    /// Returns the objects to read and merge when the recent ids are written: none, or all.
    pub fn objects_to_merge(&self) -> &[LedgerRef] {
        let young = self.objects.iter().filter(|object| !object.is_settled);
        match young.count() + 1 >= MAX_YOUNG {
            true => &self.objects,
            false => &[],
        }
    }

    /// Moves the recent ids to objects, together with `merged`, the ids of
    /// [`Ledger::objects_to_merge`]. Returns the objects to write.
    pub fn settle(&mut self, merged: BTreeSet<SplitNumber>) -> Vec<WrittenLedger> {
        let is_settled = !self.objects_to_merge().is_empty();
        if is_settled {
            self.objects.clear();
        }
        let mut ids = std::mem::take(&mut self.recent);
        ids.extend(merged);
        let ids: Vec<SplitNumber> = ids.into_iter().collect();
        let written = ids.chunks(MAX_IDS);
        let written: Vec<WrittenLedger> = written
            .filter_map(|ids| write_ids(is_settled, ids))
            .collect();
        let objects = written.iter().map(|written| written.object.clone());
        self.objects.extend(objects);
        written
    }

    pub(crate) fn write(&self, out: &mut Writer) -> Result<(), FormatError> {
        out.varint(self.recent.len() as u64);
        for id in &self.recent {
            out.raw(&id.to_be_bytes());
        }
        out.varint(self.objects.len() as u64);
        for object in &self.objects {
            out.raw(&id_bytes(&object.id)?);
            out.varint(u64::from(object.is_settled));
            out.varint(object.num_ids);
            out.raw(&object.first.to_be_bytes());
            out.raw(&object.last.to_be_bytes());
        }
        Ok(())
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let mut ledger = Self::default();
        for _ in 0..reader.count(16)? {
            let id = u128::from_be_bytes(reader.array()?);
            ledger.recent.insert(id);
        }
        for _ in 0..reader.count(MIN_REF_LEN)? {
            ledger.objects.push(LedgerRef {
                id: id_of_bytes(reader.array()?),
                is_settled: reader.varint()? != 0,
                num_ids: reader.varint()?,
                first: u128::from_be_bytes(reader.array()?),
                last: u128::from_be_bytes(reader.array()?),
            });
        }
        Ok(ledger)
    }
}

fn write_ids(is_settled: bool, ids: &[SplitNumber]) -> Option<WrittenLedger> {
    let mut out = Writer::default();
    out.raw(&LEDGER_MAGIC);
    out.u32(LEDGER_VERSION);
    for id in ids {
        out.raw(&id.to_be_bytes());
    }
    let bytes = out.into_bytes();
    Some(WrittenLedger {
        object: LedgerRef {
            id: object_id(&bytes),
            is_settled,
            num_ids: ids.len() as u64,
            first: *ids.first()?,
            last: *ids.last()?,
        },
        bytes,
    })
}

#[cfg(test)]
mod tests;
