//! The patterns that every pipeline knows: Logstash's, without the Elastic Common Schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Names and patterns.
static PATTERNS: LazyLock<BTreeMap<&str, &str>> =
    LazyLock::new(|| ::grok::patterns().iter().copied().collect());

/// Returns the built-in patterns by name.
#[must_use]
pub fn builtin_patterns() -> &'static BTreeMap<&'static str, &'static str> {
    &PATTERNS
}
