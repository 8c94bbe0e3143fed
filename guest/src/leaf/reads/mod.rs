//! Reads of a split: those that a query is known to need, those that a search missed, and documents for fields that
//! are not indexed.

mod columns;
mod each_split;
mod entries;
mod lists;
mod near_terms;
mod nearest;
mod objects;
mod rare_words;
mod rerun;
mod scan;
mod warmup;

pub(super) use columns::column_len;
pub(super) use columns::found_paths;
pub(crate) use columns::{list_columns, path_of_column};
pub(crate) use entries::{ScoredTerms, WantedEntries, find_entries, keep_best};
pub(super) use lists::{all_terms, load_blocks};
pub(crate) use near_terms::{TermCounts, WantedTerms, near_terms};
pub(crate) use nearest::{NearestIn, find_nearest};
pub(super) use rare_words::{RareWordSearch, add_rare_words};
pub(super) use rerun::rerun_on_gaps;
pub(super) use scan::{SPLITS_AT_ONCE, ScanBudget, Scanner};
pub(super) use warmup::warm_up;
