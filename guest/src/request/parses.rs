//! Counters of parses, for the test that each session parses once.

use std::cell::Cell;

/// Part of a request that is parsed.
#[derive(Clone, Copy)]
pub(crate) enum Parsed {
    Query,
    Sort,
    Aggregations,
}

thread_local! {
    static COUNTS: Cell<[u32; 3]> = const { Cell::new([0; 3]) };
}

/// Counts one parse.
pub(crate) fn note(parsed: Parsed) {
    let mut counts = COUNTS.get();
    counts[parsed as usize] += 1;
    COUNTS.set(counts);
}

/// Returns how many queries, orders and aggregations this thread has parsed since the last call.
pub(crate) fn take() -> [u32; 3] {
    COUNTS.take()
}
