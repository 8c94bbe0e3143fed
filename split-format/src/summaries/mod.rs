//! Summaries of a split's documents, read instead of them: filters, rollups, times, co-occurring words,
//! rare words.

mod co_occurrence;
mod filter;
mod rare_words;
mod rollup;
mod time_index;

pub use co_occurrence::{CoOccurrence, TermPlace};
pub(crate) use filter::{
    BLOCK_NUM_BITS, MAX_GROUPS, block_checksum, read_scope, splits_hash, transpose, write_scope,
};
pub use filter::{
    BlockPlace, FilterBlock, FilterGroup, FilterPlace, FilterScope, FiltersRef, Needle, SplitFilter,
};
pub use rare_words::{
    ByteClasses, RareBlock, RareStubs, RareWord, RareWords, RareWordsIndex, RareWordsWriter,
    WrittenRareWords, may_be_rare,
};
pub use rollup::{FieldRollup, Rollup};
pub use time_index::TimeIndex;
