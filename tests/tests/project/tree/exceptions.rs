//! Exceptions to the rules of the tree. The test fails for an entry that is no longer needed, and for one whose value
//! has grown beyond its number: the lists become shorter, never longer.

use std::collections::BTreeMap;

/// Crates in which files of several folders import each other in circles, with the number of these files.
pub(super) const CIRCLES: &[(&str, usize)] = &[];

/// Folders with more entries than [`super::sizes::MAX_ENTRIES`].
pub(super) const FOLDERS: &[(&str, usize)] = &[];

/// Files with more lines than [`super::sizes::MAX_LINES`], tests aside.
pub(super) const FILES: &[(&str, usize)] = &[];

/// Functions with more lines than [`super::functions::MAX_LINES`], as `file::name`.
pub(super) const FUNCTIONS: &[(&str, usize)] =
    &[("tests/src/random/aggregations/metrics.rs::top_hits", 84)];

/// Compares sizes above the limit with the exceptions.
pub(super) fn check(what: &str, found: &BTreeMap<String, usize>, exceptions: &[(&str, usize)]) {
    let allowed: BTreeMap<&str, usize> = exceptions.iter().copied().collect();
    assert_eq!(
        allowed.len(),
        exceptions.len(),
        "{what}: an entry stands twice"
    );
    let more = found.iter().filter(|(name, size)| {
        let allowed = allowed.get(name.as_str());
        allowed.is_none_or(|allowed| *size > allowed)
    });
    let more: Vec<_> = more.collect();
    assert!(more.is_empty(), "{what}, too many: divide them. {more:#?}");
    let unneeded = allowed.keys().filter(|name| !found.contains_key(**name));
    let unneeded: Vec<_> = unneeded.collect();
    assert!(
        unneeded.is_empty(),
        "{what}: take these out of the exceptions. {unneeded:#?}"
    );
}

#[test]
fn an_exception_is_needed_and_does_not_grow() {
    let found = |entries: &[(&str, usize)]| {
        let entries = entries
            .iter()
            .map(|(name, size)| ((*name).to_owned(), *size));
        entries.collect::<BTreeMap<_, _>>()
    };
    let fails = |entries: &[(&str, usize)]| {
        let found = found(entries);
        std::panic::catch_unwind(|| check("lines", &found, &[("a", 10)])).is_err()
    };
    assert!(!fails(&[("a", 10)]));
    assert!(!fails(&[("a", 9)]));
    assert!(fails(&[("a", 11)]));
    assert!(fails(&[("a", 9), ("b", 9)]));
    assert!(fails(&[]));
}
