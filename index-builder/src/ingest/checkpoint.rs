//! Checkpoints of a large ingest: its uploaded splits, and the position of the input after them, so that the same
//! ingest, run again after an interruption, only builds what is missing.
//!
//! ```text
//!   checkpoints/<ingest>-0.json, -1, …: the splits since the one before │ the standing after the last of them
//! ```
//!
//! Their names are derived from the first source, the config and the options that decide where splits end. The input is
//! read again from its beginning, which is cheap compared to building, and compared with the checkpoint. A publication
//! is still one atomic swap, after which checkpoints are removed; garbage collection keeps the splits of recent
//! checkpoints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_formats::Zone;
use canter_split_format::{SplitEntry, object_id, split_object};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use super::options::IngestOptions;
use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::NewSplit;
use crate::index::storage::{CHECKPOINTS_FOLDER, IndexStore, checkpoint_object, is_checkpoint};
use crate::input::source::Source;
use crate::pipeline::Standing;
use crate::transform::Transform;

/// Maximum age of a checkpoint: an older one is garbage, since its ingest will not be run again.
pub(crate) const MAX_CHECKPOINT_AGE_MS: u64 = 7 * 24 * 3_600_000;
/// Version of the checkpoint format: others are ignored.
const VERSION: u32 = 1;
/// Assumed maximum compression ratio: without enough input for one checkpoint, their existence is not even
/// checked. Compressed input is shorter than its contents.
const COMPRESSION: u64 = 16;
/// Number of heads that are read at once.
const READS_AT_ONCE: usize = 8;

/// A checkpoint object.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    version: u32,
    /// Start of the ingest, in milliseconds since 1970.
    at_ms: u64,
    /// The file of rejected records.
    rejects_path: Option<PathBuf>,
    /// Number of splits in the previous checkpoints, which another run may have written.
    num_splits_before: u64,
    splits: Vec<KeptSplit>,
    standing: Standing,
}

impl Checkpoint {
    /// Returns the objects that it names.
    pub(crate) fn objects(&self) -> Vec<String> {
        let ids = self.splits.iter().map(|split| &split.entry.id);
        ids.map(|id| split_object(id)).collect()
    }
}

/// Parses a checkpoint; `None` if it is invalid or outdated.
pub(crate) fn read_checkpoint(bytes: &[u8]) -> Option<Checkpoint> {
    serde_json::from_slice(bytes).ok()
}

/// An uploaded split. Its head is read from it.
#[derive(Debug, Serialize, Deserialize)]
struct KeptSplit {
    entry: SplitEntry,
    num_columns_outside_head: u64,
}

/// Progress of an interrupted ingest.
pub(crate) struct Resumed {
    /// In the order of the input.
    pub(crate) splits: Vec<NewSplit>,
    pub(crate) standing: Standing,
}

/// The checkpoints of one ingest.
pub(crate) struct Checkpoints<'a> {
    store: &'a IndexStore,
    options: &'a IngestOptions,
    /// `None` if the sources could not be recognized again.
    name: Option<String>,
    /// Number of existing objects.
    num_objects: u64,
    /// Number of splits in these.
    num_splits: u64,
}

impl<'a> Checkpoints<'a> {
    pub(super) fn new(
        store: &'a IndexStore,
        options: &'a IngestOptions,
        config: &IndexConfig,
        sources: &[Source],
    ) -> Result<Checkpoints<'a>, BuildError> {
        let is_kept = sources.iter().all(Source::is_kept);
        let name = is_kept.then(|| name_of(options, config, sources));
        Ok(Checkpoints {
            store,
            options,
            name: name.transpose()?,
            num_objects: 0,
            num_splits: 0,
        })
    }

    /// Returns the progress of the same ingest if it was interrupted and left checkpoints. `total_stored_bytes` is the
    /// length of the stored input, if known.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer.
    pub(super) fn load(
        &mut self,
        total_stored_bytes: Option<u64>,
    ) -> Result<Option<Resumed>, BuildError> {
        let least = self.options.checkpoint_raw_num_bytes / COMPRESSION;
        match self.name.clone() {
            Some(name) if total_stored_bytes.is_none_or(|len| len >= least) => {
                blocking::run(self.read(&name))
            }
            _ => Ok(None),
        }
    }

    async fn read(&mut self, name: &str) -> Result<Option<Resumed>, BuildError> {
        let mut resumed: Option<Resumed> = None;
        loop {
            let Some((bytes, _)) = self
                .store
                .get(&checkpoint_object(name, self.num_objects))
                .await?
            else {
                return Ok(resumed);
            };
            let Some(checkpoint) = self.usable(&bytes) else {
                return Ok(resumed);
            };
            let Some(splits) = read_splits(self.store, checkpoint.splits).await? else {
                return Ok(resumed);
            };
            self.num_objects += 1;
            self.num_splits += splits.len() as u64;
            let mut standing = checkpoint.standing;
            let mut all = Vec::new();
            if let Some(before) = resumed.take() {
                standing.add_counts_of(before.standing);
                all = before.splits;
            }
            all.extend(splits);
            resumed = Some(Resumed {
                splits: all,
                standing,
            });
        }
    }

    /// Parses the next checkpoint, if this ingest can continue from it: it may be from an earlier version, or from a
    /// run with another rejects file.
    fn usable(&self, bytes: &[u8]) -> Option<Checkpoint> {
        let checkpoint = read_checkpoint(bytes)?;
        let path = &checkpoint.rejects_path;
        let has_rejects = checkpoint.standing.rejects_by_reason.is_empty()
            || (*path == self.options.rejects_path
                && path.as_ref().is_none_or(|path| path.is_file()));
        let is_next =
            checkpoint.version == VERSION && checkpoint.num_splits_before == self.num_splits;
        (is_next && has_rejects).then_some(checkpoint)
    }

    /// Removes the checkpoints, as far as possible: a later garbage collection removes the rest.
    pub(super) fn remove(&mut self) {
        let Some(name) = &self.name else {
            return;
        };
        let all = async {
            // From the last one on, so that the remaining ones are still a prefix.
            for ord in (0..self.num_objects).rev() {
                self.store
                    .delete_if_there(&checkpoint_object(name, ord))
                    .await?;
            }
            Ok::<(), BuildError>(())
        };
        if self.num_objects > 0 {
            // Failing to remove obsolete objects is not an error.
            let _ = blocking::run(all);
            (self.num_objects, self.num_splits) = (0, 0);
        }
    }

    /// Writes the next checkpoint.
    async fn write(
        &mut self,
        name: &str,
        splits: Vec<KeptSplit>,
        standing: Standing,
    ) -> Result<(), BuildError> {
        let num_splits = splits.len() as u64;
        let checkpoint = Checkpoint {
            version: VERSION,
            at_ms: self.options.ingested_at_ms,
            rejects_path: self.options.rejects_path.clone(),
            num_splits_before: self.num_splits,
            splits,
            standing,
        };
        let bytes = serde_json::to_vec(&checkpoint).map_err(|error| {
            BuildError::internal("a checkpoint cannot be written as JSON").caused_by(error)
        })?;
        let object = checkpoint_object(name, self.num_objects);
        self.store.overwrite(&object, Bytes::from(bytes)).await?;
        self.num_objects += 1;
        self.num_splits += num_splits;
        Ok(())
    }
}

/// Receives uploaded splits in any order, and writes them into checkpoints in the order of the input.
pub(crate) struct CheckpointWriter<'c, 'a> {
    checkpoints: &'c mut Checkpoints<'a>,
    /// Number of the next split in order.
    next_ord: u64,
    early: BTreeMap<u64, (Vec<KeptSplit>, Option<Standing>)>,
    splits: Vec<KeptSplit>,
    standing: Option<Standing>,
    /// Number of input bytes covered by the last checkpoint.
    written_raw_num_bytes: u64,
}

impl<'c, 'a> CheckpointWriter<'c, 'a> {
    pub(crate) fn new(checkpoints: &'c mut Checkpoints<'a>, resumed: Option<&Resumed>) -> Self {
        CheckpointWriter {
            checkpoints,
            next_ord: resumed.map_or(0, |resumed| resumed.splits.len() as u64),
            early: BTreeMap::new(),
            splits: Vec::new(),
            standing: None,
            written_raw_num_bytes: resumed.map_or(0, |resumed| resumed.standing.num_raw_bytes),
        }
    }

    /// Records the uploaded splits of one place in the input, and writes a checkpoint when it is due. `standing` is
    /// the position of the input after them; the last ones have none.
    pub(crate) async fn add(
        &mut self,
        split_ord: u64,
        splits: impl Iterator<Item = &NewSplit>,
        standing: Option<Standing>,
    ) -> Result<(), BuildError> {
        let Some(name) = self.checkpoints.name.clone() else {
            return Ok(());
        };
        let kept = splits.map(|split| KeptSplit {
            entry: split.entry.clone(),
            num_columns_outside_head: split.num_columns_outside_head,
        });
        self.early.insert(split_ord, (kept.collect(), standing));
        while let Some((kept, standing)) = self.early.remove(&self.next_ord) {
            self.next_ord += 1;
            self.splits.extend(kept);
            if let Some(mut standing) = standing {
                if let Some(before) = self.standing.take() {
                    standing.add_counts_of(before);
                }
                self.standing = Some(standing);
            }
        }
        let every = self.checkpoints.options.checkpoint_raw_num_bytes;
        let is_due =
            |standing: &mut Standing| standing.num_raw_bytes - self.written_raw_num_bytes >= every;
        if let Some(standing) = self.standing.take_if(is_due) {
            self.written_raw_num_bytes = standing.num_raw_bytes;
            let splits = std::mem::take(&mut self.splits);
            self.checkpoints.write(&name, splits, standing).await?;
        }
        Ok(())
    }
}

/// The garbage among an index's checkpoints, and the splits that the others need.
#[derive(Debug, Default)]
pub(crate) struct FoundCheckpoints {
    /// Ids of splits that must be kept.
    pub(crate) split_ids: Vec<String>,
    /// Obsolete objects, with their lengths.
    pub(crate) abandoned: Vec<(String, u64)>,
    /// Number of other checkpoints.
    pub(crate) num_kept: u64,
    /// Objects in the folder whose names are not those of checkpoints, and which are never deleted.
    pub(crate) unknown: Vec<String>,
}

/// Reads all checkpoints of an index.
///
/// # Errors
/// `Unavailable` if storage does not answer.
pub(crate) async fn find_checkpoints(
    store: &IndexStore,
    now_ms: u64,
) -> Result<FoundCheckpoints, BuildError> {
    let mut found = FoundCheckpoints::default();
    for (name, len) in store.list(CHECKPOINTS_FOLDER).await? {
        if !is_checkpoint(&name) {
            found.unknown.push(name);
            continue;
        }
        let Some((bytes, _)) = store.get(&name).await? else {
            // Its ingest has ended since.
            continue;
        };
        match read_checkpoint(&bytes) {
            Some(checkpoint) if now_ms.saturating_sub(checkpoint.at_ms) < MAX_CHECKPOINT_AGE_MS => {
                let ids = checkpoint.splits.into_iter().map(|split| split.entry.id);
                found.split_ids.extend(ids);
                found.num_kept += 1;
            }
            // An unreadable checkpoint is useless.
            _ => found.abandoned.push((name, len)),
        }
    }
    Ok(found)
}

/// Returns the name of an ingest's checkpoints. Sources that begin alike produce the same splits with the same config
/// and options, as far as they are alike: the fingerprint of a position tells how far. An ingest therefore continues
/// even if new objects follow the others.
fn name_of(
    options: &IngestOptions,
    config: &IndexConfig,
    sources: &[Source],
) -> Result<String, BuildError> {
    let origin = sources.first().map(Source::origin);
    let IngestOptions {
        split_num_docs_target,
        max_split_raw_num_bytes,
        format,
        columns,
        year,
        zone,
        multiline_start,
        transform,
        max_line_num_bytes,
        ..
    } = options;
    let all = (
        VERSION,
        origin,
        config,
        (
            split_num_docs_target,
            max_split_raw_num_bytes,
            max_line_num_bytes,
        ),
        (
            format.map(|format| format.name()),
            columns,
            year,
            zone.as_ref().map(Zone::name),
            multiline_start,
        ),
    );
    let mut bytes = serde_json::to_vec(&all).map_err(|error| {
        BuildError::internal("an index config cannot be written as JSON").caused_by(error)
    })?;
    let transform = transform.as_ref().map(Transform::fingerprint);
    bytes.extend(transform.iter().flat_map(|text| text.bytes()));
    Ok(object_id(&bytes))
}

/// Reads splits with their heads; `None` if one does not exist any more.
async fn read_splits(
    store: &IndexStore,
    splits: Vec<KeptSplit>,
) -> Result<Option<Vec<NewSplit>>, BuildError> {
    let read = stream::iter(splits)
        .map(
            async |KeptSplit {
                       entry,
                       num_columns_outside_head,
                   }| {
                let name = split_object(&entry.id);
                let head = store.get_range(&name, 0..entry.head_len).await?;
                let head = head.filter(|head| entry.is_head(head));
                Ok::<_, BuildError>(head.map(|head| NewSplit {
                    entry,
                    head: head.to_vec(),
                    num_columns_outside_head,
                }))
            },
        )
        .buffered(READS_AT_ONCE)
        .try_collect::<Vec<Option<NewSplit>>>()
        .await?;
    Ok(read.into_iter().collect())
}

#[cfg(test)]
mod tests;
