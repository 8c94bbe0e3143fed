//! Splits into storage, before any manifest names them.

use crate::blocking;
use crate::error::BuildError;
use crate::ingest::{Meter, Phase};
use crate::packager::PackagedSplit;
use crate::publisher::NewSplit;
use crate::storage::IndexStore;
use bytes::Bytes;
use std::sync::mpsc::Receiver;

/// A packaged split and its place in the input.
pub(super) type Numbered = (u64, PackagedSplit);

/// Uploads splits as they come, and returns what the manifest needs of each, in the order of the
/// input.
pub(super) fn upload_all(
    store: &IndexStore,
    splits: &Receiver<Numbered>,
    meter: &Meter<'_>,
) -> Result<Vec<NewSplit>, BuildError> {
    let runtime = blocking::runtime()?;
    let mut uploaded: Vec<(u64, NewSplit)> = Vec::new();
    for (split_ord, split) in splits {
        let head = split.head().to_vec();
        let name = split.object();
        let len = split.bytes.len() as u64;
        runtime.block_on(store.put_immutable(&name, Bytes::from(split.bytes)))?;
        uploaded.push((
            split_ord,
            NewSplit {
                entry: split.entry,
                head,
                num_columns_outside_head: split.num_columns_outside_head,
            },
        ));
        meter.add(&meter.tally.num_split_bytes, len);
        meter.add(&meter.tally.num_splits_uploaded, 1);
        meter.tell(Phase::Indexing);
    }
    uploaded.sort_by_key(|(split_ord, _)| *split_ord);
    Ok(uploaded.into_iter().map(|(_, split)| split).collect())
}
