//! How much of a long test runs: a part of its cases usually, all of them with `CI_FULL`.

/// Whether all cases are wanted: `CI_FULL` is set, as it is each night.
#[must_use]
pub fn is_full() -> bool {
    std::env::var("CI_FULL").is_ok_and(|value| !value.is_empty())
}

/// Returns a number of cases: `full` if all are wanted, else `usual`.
#[must_use]
pub fn usual_or_full(usual: usize, full: usize) -> usize {
    if is_full() { full } else { usual }
}
