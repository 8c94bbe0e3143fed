//! The settings of an index beside its doc mapping, as plain data with their defaults.

use std::time::Duration;

use serde::Serialize;

use super::units;

/// The doc store's block size in bytes when a config does not say.
///
/// Quickwit's is 1 000 000. Here a hit is fetched by range over the network, and ten hits are ten
/// blocks, so the default is small enough that ten of them take no longer than one request.
pub const DEFAULT_DOCSTORE_BLOCKSIZE: usize = 128 * 1024;

/// How splits are made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexingSettings {
    /// The most seconds a document waits for its split.
    pub commit_timeout_secs: u64,
    /// zstd's level for stored documents. Quickwit's is 8; with a dictionary the first level is nearly as good, and
    /// ten times as fast.
    pub docstore_compression_level: i32,
    /// Bytes of documents that are compressed together, before that.
    pub docstore_blocksize: usize,
    /// A split of this many documents is not merged any more.
    pub split_num_docs_target: u64,
    /// Which splits are merged.
    pub merge_policy: MergePolicy,
    /// What building may use.
    pub resources: IndexingResources,
    /// What one document may add to the dictionaries.
    #[serde(flatten)]
    pub term_limits: TermLimits,
}

/// What one document may add to the dictionaries of its split. A config has only those that differ from the defaults,
/// so that programs which do not know them read all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TermLimits {
    /// How much longer the longest gram of an `ngram` tokenizer may be than the shortest, in characters: each character of
    /// a text begins one gram more than that.
    #[serde(skip_serializing_if = "TermLimits::is_default_diff")]
    pub max_ngram_diff: u64,
    /// The most terms of a document, equal ones counted each time.
    #[serde(skip_serializing_if = "TermLimits::are_default_terms")]
    pub max_doc_terms: u64,
    /// The most bytes of these terms, and of the paths of its values in fields of any shape.
    #[serde(skip_serializing_if = "TermLimits::are_default_bytes")]
    pub max_doc_term_bytes: u64,
}

impl TermLimits {
    /// What a config has that does not say. A document of 1 MiB fits with each of its characters in grams of 5 lengths, and
    /// one of 16 MiB of words.
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

/// What building may use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexingResources {
    /// In bytes.
    pub heap_size: u64,
}

/// Which splits are merged.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MergePolicy {
    /// Splits of similar size and close times.
    StableLog {
        /// Below this many documents all splits are of the same level.
        min_level_num_docs: u64,
        /// Splits per merge.
        merge_factor: u64,
        /// The most splits per merge.
        max_merge_factor: u64,
        /// After this a split is left alone, as it was written: `48h`.
        maturation_period: String,
    },
    /// A split is merged a limited number of times.
    LimitMerge {
        /// The most merges of one document.
        max_merge_ops: u64,
        /// Splits per merge.
        merge_factor: u64,
        /// The most splits per merge.
        max_merge_factor: u64,
        /// After this a split is left alone, as it was written: `48h`.
        maturation_period: String,
        /// The most merges that end an indexing run.
        max_finalize_merge_operations: u64,
        /// Splits of more documents take no part in those.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_finalize_split_num_docs: Option<u64>,
    },
    /// Never.
    NoMerge,
}

impl MergePolicy {
    /// How long after its creation a split may still be merged; `None` when never.
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

/// How documents come in. The first two are accepted for Quickwit's sake: there are no ingest shards here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IngestSettings {
    /// Not used.
    pub min_shards: u64,
    /// Not used: documents are always validated.
    pub validate_docs: bool,
    /// What becomes of a record that is no document.
    #[serde(skip_serializing_if = "OnError::is_default")]
    pub on_error: OnError,
    /// A regular expression for the first line of a record, where records have several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiline_start: Option<String>,
}

/// What becomes of a record that is no document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// It goes to the rejects file.
    #[default]
    Rejects,
    /// It becomes a document of another kind: its text in `_raw`, what is wrong in `_parse_error`.
    Keep,
}

impl OnError {
    fn is_default(&self) -> bool {
        *self == OnError::default()
    }
}

/// How long documents are kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetentionPolicy {
    /// As it was written: `90 days`.
    pub period: String,
    /// `hourly`, `daily`, …, or a cron expression.
    pub schedule: String,
}

impl RetentionPolicy {
    /// The period as a duration; zero for text that never went through a reader and makes no sense.
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
        }
    }
}
