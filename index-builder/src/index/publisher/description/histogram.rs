//! Documents over time, as the heads of an index's splits say it.

use canter_split_format::{Head, ManifestFile, TimeIndex};

use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Documents by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeHistogram {
    /// Width of a bucket in nanoseconds.
    pub width_ns: i64,
    /// Start of the first bucket in nanoseconds since 1970, a multiple of the width.
    pub start_ns: i64,
    /// Documents of each bucket.
    pub counts: Vec<u64>,
}

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// Widths in which the counts of heads are exact: multiples of all their shorter ones.
const WIDTHS_NS: [i64; 12] = [
    MS,
    10 * MS,
    100 * MS,
    SECOND,
    10 * SECOND,
    60 * SECOND,
    600 * SECOND,
    HOUR,
    6 * HOUR,
    DAY,
    10 * DAY,
    100 * DAY,
];

impl IndexStore {
    /// Returns the histogram of the index, in the narrowest buckets of which there are at most `max_buckets`. `None` for an
    /// index without timestamps, of few documents in many pages, or of a time so long that no width fits.
    ///
    /// # Errors
    /// Errors of [`IndexStore::load_manifest`], or `Data` if a head is missing or damaged.
    pub fn histogram(&self, max_buckets: usize) -> Result<Option<TimeHistogram>, BuildError> {
        let file = self.load_manifest()?;
        let splits = &file.manifest.splits;
        let starts = splits.iter().filter_map(|split| split.time_range);
        let range = starts.reduce(canter_split_format::TimeRange::union);
        let (Some(range), true) = (range, file.pages.is_empty()) else {
            return Ok(None);
        };
        let mut indexes = Vec::new();
        for split in splits {
            let head = head_of(self, &file, &split.id, split.head_len)?;
            indexes.extend(head.time_index);
        }
        let widest = indexes.iter().map(TimeIndex::width_ns).max().unwrap_or(MS);
        let num_of = |width_ns: &i64| {
            let first = range.start_ns.div_euclid(*width_ns);
            let last = range.end_ns.div_euclid(*width_ns);
            usize::try_from(last - first + 1).unwrap_or(usize::MAX)
        };
        let widths = WIDTHS_NS.iter().filter(|width_ns| **width_ns >= widest);
        let width_ns = widths
            .copied()
            .find(|width_ns| num_of(width_ns) <= max_buckets);
        Ok(width_ns.map(|width_ns| {
            let start_ns = range.start_ns.div_euclid(width_ns) * width_ns;
            let count = |bucket: usize| {
                let at = |bucket: usize| {
                    let behind = i64::try_from(bucket).unwrap_or(i64::MAX);
                    start_ns.saturating_add(behind.saturating_mul(width_ns))
                };
                let docs_before = |index: &TimeIndex, time_ns: i64| {
                    u64::from(index.first_doc_at_or_after(time_ns).start)
                };
                let of_split = |index: &TimeIndex| {
                    docs_before(index, at(bucket + 1)) - docs_before(index, at(bucket))
                };
                indexes.iter().map(of_split).sum()
            };
            TimeHistogram {
                width_ns,
                start_ns,
                counts: (0..num_of(&width_ns)).map(count).collect(),
            }
        }))
    }
}

/// Returns the head of a split, from the manifest if that has it.
fn head_of(
    store: &IndexStore,
    file: &ManifestFile,
    split_id: &str,
    head_len: u64,
) -> Result<Head, BuildError> {
    let damaged = |problem: String| BuildError::data(format!("split {split_id}: {problem}"));
    let opened = match file.head(split_id) {
        Some(head) => Head::open(head),
        None => {
            let object = canter_split_format::split_object(split_id);
            let bytes = blocking::run(store.get_range(&object, 0..head_len))?;
            let bytes = bytes.ok_or_else(|| damaged("the object is missing".to_owned()))?;
            Head::open(&bytes)
        }
    };
    opened.map_err(|error| damaged(error.to_string()))
}
