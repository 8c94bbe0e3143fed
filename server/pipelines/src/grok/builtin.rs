//! The patterns that every pipeline knows: those of Logstash, of which `patterns.txt` is a part.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Names and patterns.
static PATTERNS: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("patterns.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).collect()
});

/// Returns the built-in patterns by name.
#[must_use]
pub fn builtin_patterns() -> &'static BTreeMap<&'static str, &'static str> {
    &PATTERNS
}
