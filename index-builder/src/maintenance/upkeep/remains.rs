//! All splits in the store, live or not: each of them can still contain deleted documents.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::{
    HEAD_PREFIX_LEN, Head, Manifest, ManifestFile, ObjectKind, ObjectName, SplitEntry, checksum64,
    head_len_of,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::references::References;
use super::verify::Problem;
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Number of concurrent reads of heads.
const READS_AT_ONCE: usize = 8;
/// Maximum number of splits in a manifest.
const SPLITS_AT_ONCE: usize = 500;

/// All splits in the store.
#[derive(Clone, Debug, Default)]
pub struct StoredSplits {
    /// Manifests that together list all of these splits, without deletions, for searches in place
    /// of the index's own manifest.
    pub manifests: Vec<Vec<u8>>,
    /// Number of split objects.
    pub num_objects: u64,
    /// Ids of the splits that are part of the index.
    pub live: BTreeSet<String>,
    /// Splits that cannot be searched.
    pub problems: Vec<Problem>,
}

/// Lists the store, and reads the head of every split in it.
///
/// # Errors
/// `Data` if the manifest or one of its pages cannot be read, `Unavailable` if storage does not
/// answer.
pub fn stored_splits(store: &IndexStore) -> Result<StoredSplits, BuildError> {
    blocking::run(find(store))
}

async fn find(store: &IndexStore) -> Result<StoredSplits, BuildError> {
    let (loaded, references) = References::load(store).await?;
    let file = loaded.file;
    let mut found = StoredSplits {
        live: references
            .splits
            .into_iter()
            .map(|split| split.id)
            .collect(),
        ..StoredSplits::default()
    };
    let mut objects = Vec::new();
    for (object, len) in store.list(ObjectKind::Split.folder()).await? {
        match ObjectName::parse(&object) {
            Some(name) => objects.push((object, name.id, len)),
            None => found.problems.push(Problem {
                object,
                problem: "it has not the name of a split".to_owned(),
            }),
        }
    }
    found.num_objects = objects.len() as u64;
    let read: Vec<_> = stream::iter(objects)
        .map(async |(object, id, len)| {
            let opened = open(store, &object, id, len).await?;
            Ok::<_, BuildError>((object, opened))
        })
        .buffered(READS_AT_ONCE)
        .try_collect()
        .await?;
    let mut splits = Vec::new();
    for (object, opened) in read {
        match opened {
            Ok(split) => splits.push(split),
            Err(problem) => found.problems.push(Problem { object, problem }),
        }
    }
    for splits in splits.chunks(SPLITS_AT_ONCE) {
        let mut of_splits = ManifestFile::new(Manifest::new(file.manifest.index_config.clone()));
        for (entry, head) in splits {
            of_splits.add_split(entry.clone(), head.clone());
        }
        let bytes = of_splits.to_bytes().map_err(|error| {
            BuildError::internal("a manifest cannot be encoded").caused_by(error)
        })?;
        found.manifests.push(bytes);
    }
    Ok(found)
}

/// Reads a split's head, and returns its entry and the head.
async fn open(
    store: &IndexStore,
    object: &str,
    id: String,
    len: u64,
) -> Result<Result<(SplitEntry, Vec<u8>), String>, BuildError> {
    let read = async |end: u64| store.get_range(object, 0..end.min(len)).await;
    let Some(prefix) = read(HEAD_PREFIX_LEN as u64).await? else {
        return Ok(Err("it is not there any more".to_owned()));
    };
    let head_len = match head_len_of(&prefix) {
        Ok(head_len) if head_len <= len => head_len,
        Ok(_) => return Ok(Err("it is cut short".to_owned())),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let Some(head) = read(head_len).await? else {
        return Ok(Err("it is not there any more".to_owned()));
    };
    let metadata = match Head::open(&head) {
        Ok(opened) => opened.metadata,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let entry = SplitEntry {
        id,
        len,
        head_len,
        head_checksum: checksum64(&head),
        head_offset: None,
        num_docs: u64::from(metadata.num_docs),
        raw_num_bytes: metadata.raw_num_bytes,
        time_range: metadata.time_range,
        // Without tags, any value can be in the split.
        tags: BTreeMap::new(),
        num_merge_ops: 0,
        deletes: None,
    };
    Ok(Ok((entry, head.to_vec())))
}
