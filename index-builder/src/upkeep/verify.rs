//! Checking an index: every object that the manifest refers to is there, and has the bytes that its name says.

use canter_split_format::{
    BlockChecksums, Head, ManifestFile, ObjectKind, ObjectName, SplitEntry, object_id,
};
use futures_util::{StreamExt, stream};
use serde::Serialize;

use super::references::References;
use crate::blocking;
use crate::error::BuildError;
use crate::storage::IndexStore;

/// Objects that are read at once.
const READS_AT_ONCE: usize = 4;

/// How to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Look at lengths and heads only, not at every byte.
    pub quick: bool,
}

/// Something that is wrong with an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The object.
    pub object: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Objects that were looked at.
    pub num_objects: u64,
    /// Bytes that were read.
    pub num_bytes: u64,
    /// Live splits.
    pub num_splits: u64,
    /// Documents in them that are not deleted.
    pub num_docs: u64,
    /// What is wrong, by name; nothing is, if it is empty.
    pub problems: Vec<Problem>,
}

/// Looks at every object that the manifest refers to.
///
/// # Errors
/// If the manifest or one of its pages cannot be read; what is wrong with any other object is in the report.
pub fn verify_index(
    store: &IndexStore,
    options: &VerifyOptions,
) -> Result<VerifyReport, BuildError> {
    blocking::run(verify(store, *options))
}

async fn verify(store: &IndexStore, options: VerifyOptions) -> Result<VerifyReport, BuildError> {
    let (loaded, references) = References::load(store).await?;
    let file = loaded.file;
    let mut report = VerifyReport {
        num_splits: references.splits.len() as u64,
        num_docs: references
            .splits
            .iter()
            .map(SplitEntry::num_live_docs)
            .fold(0, u64::saturating_add),
        ..VerifyReport::default()
    };
    let mut checks: Vec<Check> = references.splits.into_iter().map(Check::Split).collect();
    let others = references
        .objects
        .into_iter()
        .filter(|name| name.kind != ObjectKind::Split);
    checks.extend(others.map(Check::Whole));
    let mut results = stream::iter(checks)
        .map(|check| async move { check.run(store, options).await })
        .buffered(READS_AT_ONCE);
    while let Some(result) = results.next().await {
        let (object, found) = result;
        report.num_objects += 1;
        match found {
            Ok(num_bytes) => report.num_bytes += num_bytes,
            Err(problem) => report.problems.push(Problem { object, problem }),
        }
    }
    if let Some(problem) = count_problem(&file, &report) {
        report.problems.push(problem);
    }
    Ok(report)
}

/// The manifest's sums are those of its entries.
fn count_problem(file: &ManifestFile, report: &VerifyReport) -> Option<Problem> {
    let says = (file.num_splits(), file.num_docs());
    (says != (report.num_splits, report.num_docs)).then(|| Problem {
        object: canter_split_format::MANIFEST_OBJECT.to_owned(),
        problem: format!(
            "it says that there are {} splits and {} documents; its entries are {} and have {}",
            says.0, says.1, report.num_splits, report.num_docs
        ),
    })
}

enum Check {
    /// A split, against its entry.
    Split(SplitEntry),
    /// An object of which only the name is known.
    Whole(ObjectName),
}

impl Check {
    /// The object's name, and how many bytes were read or what is wrong.
    async fn run(
        self,
        store: &IndexStore,
        options: VerifyOptions,
    ) -> (String, Result<u64, String>) {
        match self {
            Self::Split(entry) => {
                let object = ObjectName::new(ObjectKind::Split, &entry.id).object();
                let found = check_split(store, &object, &entry, options).await;
                (object, found)
            }
            Self::Whole(name) => {
                let object = name.object();
                let found = check_whole(store, &object, &name.id).await;
                (object, found.map(|bytes| bytes.len() as u64))
            }
        }
    }
}

async fn check_whole(store: &IndexStore, object: &str, id: &str) -> Result<bytes::Bytes, String> {
    let found = store.get(object).await.map_err(|error| error.to_string())?;
    let (bytes, _) = found.ok_or("it is not there")?;
    match object_id(&bytes) == id {
        true => Ok(bytes),
        false => Err(format!(
            "its {} bytes are not those that its name says",
            bytes.len()
        )),
    }
}

async fn check_split(
    store: &IndexStore,
    object: &str,
    entry: &SplitEntry,
    options: VerifyOptions,
) -> Result<u64, String> {
    let told = |error: BuildError| error.to_string();
    match store.len_of(object).await.map_err(told)? {
        None => return Err("it is not there".to_owned()),
        Some(len) if len != entry.len => {
            return Err(format!("it has {len} bytes instead of {}", entry.len));
        }
        Some(_) => {}
    }
    let head = store
        .get_range(object, 0..entry.head_len)
        .await
        .map_err(told)?;
    let head = head.ok_or("it is not there")?;
    if !entry.is_head(&head) {
        return Err("its head is not the one that the manifest names".to_owned());
    }
    let opened = Head::open(&head).map_err(|error| error.to_string())?;
    if u64::from(opened.metadata.num_docs) != entry.num_docs {
        return Err("its head counts other documents than the manifest".to_owned());
    }
    if options.quick {
        return Ok(entry.head_len);
    }
    check_blocks(store, object, entry, &opened.block_checksums).await?;
    Ok(entry.len)
}

/// So many bytes of a body are read at once: a whole number of blocks of any length.
const CHUNK_LEN: u64 = 16 << 20;

/// Every block of the body, by its checksum.
async fn check_blocks(
    store: &IndexStore,
    object: &str,
    entry: &SplitEntry,
    checksums: &BlockChecksums,
) -> Result<(), String> {
    let mut start = entry.head_len;
    while start < entry.len {
        let end = start.saturating_add(CHUNK_LEN).min(entry.len);
        let bytes = store.get_range(object, start..end).await;
        let bytes = bytes.map_err(|error| error.to_string())?;
        let bytes = bytes.ok_or("it is not there")?;
        if bytes.len() as u64 != end - start {
            return Err(format!(
                "a read of {} bytes gave {}",
                end - start,
                bytes.len()
            ));
        }
        let first_block = (start - entry.head_len) / checksums.block_len();
        checksums.verify(first_block, &bytes).map_err(|block| {
            let at = entry.head_len + block * checksums.block_len();
            format!("its bytes from {at} on are damaged")
        })?;
        start = end;
    }
    Ok(())
}
