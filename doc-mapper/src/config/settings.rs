//! Settings of an index besides its doc mapping, as plain data with their defaults.

use std::time::Duration;

use serde::Serialize;

use super::units;

/// Default size of a block in the doc store, in bytes.
///
/// Quickwit's default is 1 000 000. Here, a hit is fetched by a range request, and ten hits are ten
/// blocks, so the default is small enough that ten blocks take no longer than one request.
pub const DEFAULT_DOCSTORE_BLOCKSIZE: usize = 128 * 1024;

/// Settings for building splits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexingSettings {
    /// Maximum time in seconds that a document waits for its split.
    pub commit_timeout_secs: u64,
    /// zstd level for stored documents. Quickwit's default is 8; with a dictionary, level 1
    /// compresses almost as well and ten times as fast.
    pub docstore_compression_level: i32,
    /// Number of uncompressed bytes of documents that are compressed together.
    pub docstore_blocksize: usize,
    /// Number of documents from which a split is no longer merged.
    pub split_num_docs_target: u64,
    /// Policy for merging splits.
    pub merge_policy: MergePolicy,
    /// Resources for building.
    pub resources: IndexingResources,
    /// Limits of the terms of one document.
    #[serde(flatten)]
    pub term_limits: TermLimits,
    /// True if words with digits of few documents leave the dictionaries (docs/decisions/rare-words.md).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rare_words: bool,
}

/// Limits of the terms that one document adds to the dictionaries of its split. Configs only
/// contain differences from the defaults, so that older programs can read all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TermLimits {
    /// Maximum difference in characters between the longest and the shortest gram of an `ngram`
    /// tokenizer: each character of a text starts one gram more than that.
    #[serde(skip_serializing_if = "TermLimits::is_default_diff")]
    pub max_ngram_diff: u64,
    /// Maximum number of terms of a document, including repetitions.
    #[serde(skip_serializing_if = "TermLimits::are_default_terms")]
    pub max_doc_terms: u64,
    /// Maximum size in bytes of these terms, and of the paths of values in fields of any shape.
    #[serde(skip_serializing_if = "TermLimits::are_default_bytes")]
    pub max_doc_term_bytes: u64,
}

impl TermLimits {
    /// Default limits. A document of 1 MiB fits with grams of 5 lengths for each of its characters,
    /// and one of 16 MiB with words.
    const DEFAULT: TermLimits = TermLimits {
        max_ngram_diff: 4,
        max_doc_terms: 10_000_000,
        max_doc_term_bytes: 128 << 20,
    };

    fn is_default_diff(diff: &u64) -> bool {
        *diff == TermLimits::DEFAULT.max_ngram_diff
    }

    fn are_default_terms(terms: &u64) -> bool {
        *terms == TermLimits::DEFAULT.max_doc_terms
    }

    fn are_default_bytes(bytes: &u64) -> bool {
        *bytes == TermLimits::DEFAULT.max_doc_term_bytes
    }
}

impl Default for TermLimits {
    fn default() -> TermLimits {
        TermLimits::DEFAULT
    }
}

/// Resources for building.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexingResources {
    /// Memory in bytes.
    pub heap_size: u64,
}

/// Policy for merging splits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MergePolicy {
    /// Merges splits of similar size and similar times.
    StableLog {
        /// Number of documents below which all splits have the same level.
        min_level_num_docs: u64,
        /// Number of splits in a merge.
        merge_factor: u64,
        /// Maximum number of splits in a merge.
        max_merge_factor: u64,
        /// Age after which a split is never merged, as written: `48h`.
        maturation_period: String,
    },
    /// Merges each split a limited number of times.
    LimitMerge {
        /// Maximum number of merges of one document.
        max_merge_ops: u64,
        /// Number of splits in a merge.
        merge_factor: u64,
        /// Maximum number of splits in a merge.
        max_merge_factor: u64,
        /// Age after which a split is never merged, as written: `48h`.
        maturation_period: String,
        /// Maximum number of merges at the end of an indexing run.
        max_finalize_merge_operations: u64,
        /// Maximum number of documents of a split in these merges.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_finalize_split_num_docs: Option<u64>,
    },
    /// Never merges.
    NoMerge,
}

impl MergePolicy {
    /// Returns the age up to which a split may be merged; `None` for no merges.
    pub fn maturation_period(&self) -> Option<Duration> {
        match self {
            MergePolicy::StableLog {
                maturation_period, ..
            }
            | MergePolicy::LimitMerge {
                maturation_period, ..
            } => units::parse_duration(maturation_period).ok(),
            MergePolicy::NoMerge => None,
        }
    }
}

/// Settings for ingestion. The first two exist for Quickwit's sake: there are no ingest shards
/// here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IngestSettings {
    /// Unused.
    pub min_shards: u64,
    /// Unused: documents are always validated.
    pub validate_docs: bool,
    /// Treatment of records that cannot be parsed.
    #[serde(skip_serializing_if = "OnError::is_default")]
    pub on_error: OnError,
    /// Regular expression for the first line of a record, if records have several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiline_start: Option<String>,
    /// Time zone of log times that name none: a name or an offset. It is validated by the parser of log times, not
    /// here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
}

/// Treatment of records that cannot be parsed as documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// Writes the record to the rejects file.
    #[default]
    Rejects,
    /// Stores a document with the record's text in `_raw`, and the problem in `_parse_error`.
    Keep,
}

impl OnError {
    fn is_default(&self) -> bool {
        *self == OnError::default()
    }
}

/// Retention of documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetentionPolicy {
    /// Period as written, such as `90 days`.
    pub period: String,
    /// `hourly`, `daily`, …, or a cron expression.
    pub schedule: String,
}

impl RetentionPolicy {
    /// Returns the period as a duration; zero for invalid text, which no reader accepts.
    pub fn period(&self) -> Duration {
        units::parse_duration(&self.period).unwrap_or_default()
    }
}

impl Default for MergePolicy {
    fn default() -> MergePolicy {
        MergePolicy::StableLog {
            min_level_num_docs: 100_000,
            merge_factor: 10,
            max_merge_factor: 12,
            maturation_period: "48h".to_string(),
        }
    }
}

impl Default for IndexingSettings {
    fn default() -> IndexingSettings {
        IndexingSettings {
            commit_timeout_secs: 60,
            docstore_compression_level: 1,
            docstore_blocksize: DEFAULT_DOCSTORE_BLOCKSIZE,
            split_num_docs_target: 10_000_000,
            merge_policy: MergePolicy::default(),
            resources: IndexingResources {
                heap_size: 2_000_000_000,
            },
            term_limits: TermLimits::default(),
            rare_words: true,
        }
    }
}

impl Default for IngestSettings {
    fn default() -> IngestSettings {
        IngestSettings {
            min_shards: 1,
            validate_docs: true,
            on_error: OnError::default(),
            multiline_start: None,
            time_zone: None,
        }
    }
}
