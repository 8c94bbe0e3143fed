//! Uploads splits to storage, before any manifest names them.

use super::standing::Standing;
use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::NewSplit;
use crate::index::storage::IndexStore;
use crate::ingest::{CheckpointWriter, Meter, Phase};
use crate::packager::PackagedSplit;
use bytes::Bytes;
use std::sync::mpsc::Receiver;

/// The splits of documents that were collected for one (usually one, several if the documents take too much memory),
/// their position in the input, and the standing after them.
pub(super) type Numbered = (u64, Vec<PackagedSplit>, Option<Standing>);

/// Uploads splits as they arrive, and returns the manifest's data of each, in the order of the
/// input: after those that are uploaded already.
pub(super) fn upload_all(
    store: &IndexStore,
    already: Vec<NewSplit>,
    splits: &Receiver<Numbered>,
    mut checkpoints: CheckpointWriter<'_, '_>,
    meter: &Meter<'_>,
) -> Result<Vec<NewSplit>, BuildError> {
    for split in &already {
        meter.add(&meter.tally.num_splits_packaged, 1);
        meter.add(&meter.tally.num_splits_uploaded, 1);
        meter.add(&meter.tally.num_split_bytes, split.entry.len);
    }
    let mut uploaded: Vec<(u64, NewSplit)> = (0..).zip(already).collect();
    for (split_ord, packaged, standing) in splits {
        let first = uploaded.len();
        for split in packaged {
            let head = split.head().to_vec();
            let name = split.object();
            let len = split.bytes.len() as u64;
            blocking::run(store.put_immutable(&name, Bytes::from(split.bytes)))?;
            let split = NewSplit {
                entry: split.entry,
                head,
                num_columns_outside_head: split.num_columns_outside_head,
            };
            uploaded.push((split_ord, split));
            meter.add(&meter.tally.num_split_bytes, len);
            meter.add(&meter.tally.num_splits_uploaded, 1);
            meter.tell(Phase::Indexing);
        }
        let new = uploaded.iter().skip(first).map(|(_, split)| split);
        blocking::run(checkpoints.add(split_ord, new, standing))?;
    }
    // Stable: splits with the same number stay in order.
    uploaded.sort_by_key(|(split_ord, _)| *split_ord);
    Ok(uploaded.into_iter().map(|(_, split)| split).collect())
}
