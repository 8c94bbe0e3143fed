//! What is read of a split: what a query is known to need, what a search missed, and documents for fields that are not
//! indexed.

mod lists;
mod rerun;
mod scan;
mod warmup;

pub(super) use rerun::rerun_on_gaps;
pub(super) use scan::{SPLITS_AT_ONCE, ScanBudget, Scanner};
pub(super) use warmup::warm_up;
