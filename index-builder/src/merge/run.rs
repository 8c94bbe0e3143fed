//! One merge from beginning to end.

use std::path::PathBuf;

use canter_doc_mapper::{DocMapper, IndexConfig};

use super::door::guard;
use super::input::{MergeInput, OpenInput};
use super::order::{DocOrder, num_left};
use super::segment::{write_documents, write_segment};
use crate::BuildError;
use crate::packager::{PackagedSplit, SplitFacts, package_split};
use crate::storage::IndexStore;

/// How to merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Where copies of the splits are kept while they are merged: as many bytes as they have. Without it,
    /// the system's folder for temporary files.
    pub temp_folder: Option<PathBuf>,
}

/// Merges splits of the index at `store` into one, which is neither uploaded nor published; `None` if no
/// document is left.
///
/// `config` is the index's, and the merged split's: it may have grown by fields at its end since the splits
/// were built. Documents keep who they are and stand in the index's order. The same inputs, in any order,
/// give the same bytes. Nothing is held whole in memory but the merged split and 50 bytes for each of its
/// documents; the splits are read from copies on this machine. Blocks.
///
/// # Errors
/// `Invalid` for splits that cannot be merged under this config, or a split that is named twice; `Data`,
/// with its name, for one that is damaged or missing; `Limit` for too many documents; `Unavailable` if
/// storage or the temporary files cannot be used.
pub fn merge_splits(
    store: &IndexStore,
    config: &IndexConfig,
    inputs: &[MergeInput],
    options: &MergeOptions,
) -> Result<Option<PackagedSplit>, BuildError> {
    let mapper = DocMapper::new(config).map_err(|error| {
        BuildError::invalid(format!(
            "the doc mapping of `{}` cannot be used",
            store.name()
        ))
        .caused_by(error)
    })?;
    let mut inputs: Vec<&MergeInput> = inputs.iter().collect();
    // The order decides between documents that are in two splits, and which split is named first.
    inputs.sort_by(|left, right| left.entry.id.cmp(&right.entry.id));
    for pair in inputs.windows(2) {
        if let [one, other] = pair
            && one.entry.id == other.entry.id
        {
            return Err(BuildError::invalid(format!(
                "split {} is to be merged with itself: name it once",
                one.entry.id
            )));
        }
    }
    let folder = options
        .temp_folder
        .clone()
        .unwrap_or_else(std::env::temp_dir);
    let open = |input: &&MergeInput| {
        let open = || OpenInput::open(store, input, &mapper, &folder);
        guard(&[&input.entry.id], open)
    };
    let inputs = inputs
        .iter()
        .map(open)
        .collect::<Result<Vec<OpenInput>, BuildError>>()?;
    let ids: Vec<String> = inputs.iter().map(|input| input.id.clone()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    guard(&ids, || write(inputs, &mapper, config))
}

/// The split that holds the documents of these.
fn write(
    inputs: Vec<OpenInput>,
    mapper: &DocMapper,
    config: &IndexConfig,
) -> Result<Option<PackagedSplit>, BuildError> {
    let order = DocOrder::of(&inputs)?;
    if order.num_docs() == 0 {
        return Ok(None);
    }
    let segment = write_segment(&inputs, &order, mapper).map_err(|error| {
        let ids: Vec<&str> = inputs.iter().map(|input| input.id.as_str()).collect();
        let what = format!(
            "one of the splits {}: it cannot be merged: build it again",
            ids.join(", ")
        );
        BuildError::data(what).caused_by(error)
    })?;
    let documents = write_documents(&inputs, &order, mapper)?;
    // What a split says of its input is not checked against anything.
    let raw_num_bytes = inputs.iter().map(raw_num_bytes_left);
    let raw_num_bytes = raw_num_bytes.fold(0, u64::saturating_add);
    let facts = SplitFacts::new(raw_num_bytes, &order.into_identities())?;
    drop(inputs);
    package_split(segment, documents, mapper, config, facts).map(Some)
}

/// Of how many bytes of input the documents are that are left: a split says it of all its documents only,
/// so those that are left have their share.
fn raw_num_bytes_left(input: &OpenInput) -> u64 {
    let num_docs = u128::from(input.num_docs().max(1));
    let left = u128::from(input.raw_num_bytes) * num_left(input) as u128 / num_docs;
    u64::try_from(left).unwrap_or(u64::MAX)
}
