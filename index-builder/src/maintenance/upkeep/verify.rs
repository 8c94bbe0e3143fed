//! Verification of an index: every object to which the manifest refers exists and has the bytes
//! that its name promises.

use canter_split_format::{
    BlockChecksums, Head, ManifestFile, ObjectKind, ObjectName, SplitEntry, object_id,
};
use futures_util::{StreamExt, stream};
use serde::Serialize;

use super::references::References;
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Number of concurrent reads.
const READS_AT_ONCE: usize = 4;

/// Options of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// True if only lengths and heads are checked, rather than every byte.
    pub quick: bool,
}

/// Problem of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Affected object.
    pub object: String,
    /// Description of the problem.
    pub problem: String,
}

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Number of checked objects.
    pub num_objects: u64,
    /// Number of bytes read.
    pub num_bytes: u64,
    /// Number of live splits.
    pub num_splits: u64,
    /// Number of documents in live splits that are not deleted.
    pub num_docs: u64,
    /// Problems, ordered by name; empty for a valid index.
    pub problems: Vec<Problem>,
}

/// Checks every object to which the manifest refers.
///
/// # Errors
/// The manifest or one of its pages cannot be read. Problems of all other objects are in the
/// report.
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

/// Returns the problem that the manifest's sums differ from those of its entries, if there is one.
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
    /// A split, which is compared with its entry.
    Split(SplitEntry),
    /// An object of which only the name is known.
    Whole(ObjectName),
}

impl Check {
    /// Returns the object's name, and either the number of bytes read or the problem.
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

/// Number of bytes of a body that are read at once: a whole number of blocks of any length.
const CHUNK_LEN: u64 = 16 << 20;

/// Checks every block of the body against its checksum.
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
