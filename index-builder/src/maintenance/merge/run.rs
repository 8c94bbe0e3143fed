//! Complete run of a merge.

use std::path::PathBuf;

use canter_doc_mapper::{DocMapper, IndexConfig};

use super::door::guard;
use super::input::{MergeInput, OpenInput};
use super::order::{DocOrder, num_left};
use super::segment::{merge_vectors, write_documents, write_segment};
use crate::BuildError;
use crate::index::storage::IndexStore;
use crate::packager::{PackagedSplit, SplitFacts, package_split};

/// Options of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Folder for copies of the splits during the merge, which take as many bytes as the splits.
    /// Defaults to the system's temporary folder.
    pub temp_folder: Option<PathBuf>,
}

/// Merges splits of the index at `store` into one, which is neither uploaded nor published. Returns
/// `None` if no document is left.
///
/// `config` is the config of the index and of the merged split; fields may have been appended to it
/// since the splits were built. Documents keep their identities and are in the order of the index.
/// The same inputs result in the same bytes, regardless of their order. In memory there are only
/// the merged split, 50 bytes for each of its documents, and the vectors of the splits, which are else read from local
/// copies.
/// Blocks the thread.
///
/// # Errors
/// `Invalid` for splits that cannot be merged under this config and for duplicates; `Data` with the
/// name of a damaged or missing split; `Limit` for too many documents; `Unavailable` if storage or
/// the temporary files cannot be used.
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
    // This order decides ties between documents of different splits, and which split an error names
    // first.
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

/// Writes the split with the documents of the inputs.
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
    let vectors = merge_vectors(&inputs, &order, mapper)?;
    // The input sizes in splits are not validated, so their sum can overflow.
    let raw_num_bytes = inputs.iter().map(raw_num_bytes_left);
    let raw_num_bytes = raw_num_bytes.fold(0, u64::saturating_add);
    let facts = SplitFacts::new(raw_num_bytes, &order.into_identities())?;
    drop(inputs);
    package_split(segment, documents, &vectors, mapper, config, facts).map(Some)
}

/// Returns the number of input bytes of the remaining documents. A split only knows the number for
/// all documents, so this is a proportional share.
fn raw_num_bytes_left(input: &OpenInput) -> u64 {
    let num_docs = u128::from(input.num_docs().max(1));
    let left = u128::from(input.raw_num_bytes) * num_left(input) as u128 / num_docs;
    u64::try_from(left).unwrap_or(u64::MAX)
}
