//! Tests that templates and guide list exactly the existing settings.

use std::collections::BTreeSet;

use crate::{indexer, search};

const TEMPLATES: [&str; 2] = [
    include_str!("../deploy/template.yaml"),
    include_str!("../deploy/main.tf"),
];
const PREFIX: &str = "CANTER_";
const GUIDE: &str = include_str!("../README.md");

/// Returns the variables that a text mentions.
fn named(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
    text.split(|c| !is_part(c))
        .filter(|word| word.len() > PREFIX.len() && word.starts_with(PREFIX))
        .collect()
}

#[test]
fn templates_and_guide_name_known_settings_only() {
    let known: BTreeSet<&str> = search::VARIABLES
        .iter()
        .chain(indexer::VARIABLES)
        .copied()
        .collect();
    for text in TEMPLATES.into_iter().chain([GUIDE]) {
        let unknown: Vec<_> = named(text).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}

#[test]
fn the_guide_names_all_settings() {
    let named = named(GUIDE);
    for name in search::VARIABLES.iter().chain(indexer::VARIABLES) {
        assert!(named.contains(name), "{name}");
    }
}
