//! Categories of texts, from their patterns.
//!
//! ```text
//!   patterns of all splits ──merged──▶ patterns with more values ──words──▶ categories, most documents first
//! ```

use std::collections::BTreeMap;

use canter_patterns::{merged, words_of};
use serde_json::Value;

use super::super::Writer;
use super::super::buckets::Row;
use super::super::outcome::{BucketList, Outcome};
use crate::Result;
use crate::key::Key;
use crate::request::Categories;

/// Maximum number of patterns that are compared with each other. Those of fewest documents stay as they are.
const MAX_COMPARED: usize = 10_000;

/// Texts of which only values differ.
#[derive(Default)]
struct Category {
    /// The pattern of most documents among its own, and how many these are.
    pattern: (u64, String),
    count: u64,
    /// Buckets of its patterns.
    places: Vec<usize>,
}

impl Writer<'_> {
    pub(in crate::respond) fn categories<'r>(
        &self,
        request: &Categories,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let all = categories_of(row).into_iter();
        let mut all: Vec<(String, Category)> = all
            .filter(|(_, category)| category.count >= request.min_doc_count)
            .collect();
        // In the order of keys before, which decides among equals.
        canter_sorting::sort_by(&mut all, |(one, left), (other, right)| {
            (right.count, one).cmp(&(left.count, other))
        });
        all.truncate(request.size);
        self.add_buckets(row.aggregation, all.len())?;
        let mut map: Vec<Option<u32>> = vec![None; row.places().end];
        for (new, (_, category)) in (0..).zip(&all) {
            for place in &category.places {
                if let Some(slot) = map.get_mut(*place) {
                    *slot = Some(new);
                }
            }
        }
        let keys = (0..).map(Key::Place).take(all.len()).collect();
        let node = row.folded(keys, &map);
        let folded = Row::new(row.aggregation, Some(&node), Some(0));
        let mut buckets = Vec::with_capacity(all.len());
        for (place, (key, category)) in all.into_iter().enumerate() {
            let fields = vec![
                ("regex", Value::from(regex_of(&category.pattern.1))),
                ("pattern", Value::from(category.pattern.1)),
                ("key", Value::from(key.as_str())),
            ];
            buckets.push(self.bucket(&folded, Some(place), Some(key), fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: Vec::new(),
        }))
    }
}

/// Returns the categories of a row by their words.
fn categories_of(row: &Row<'_, '_>) -> BTreeMap<String, Category> {
    let patterns = row.places().filter_map(|place| match row.key(place) {
        Some(Key::Text(text)) => Some((text.as_str(), row.count(place), place)),
        _ => None,
    });
    let mut patterns: Vec<(&str, u64, usize)> = patterns.collect();
    canter_sorting::sort_by(&mut patterns, |left, right| {
        (right.1, left.0).cmp(&(left.1, right.0))
    });
    let compared = patterns.iter().take(MAX_COMPARED);
    let compared: Vec<&str> = compared.map(|(text, ..)| *text).collect();
    let merged = merged(&compared);
    let mut categories: BTreeMap<String, Category> = BTreeMap::new();
    for (nth, (text, count, place)) in patterns.into_iter().enumerate() {
        let pattern = merged.get(nth).map_or(text, String::as_str);
        let words: Vec<&str> = words_of(pattern).collect();
        let category = categories.entry(words.join(" ")).or_default();
        category.count = category.count.saturating_add(count);
        category.places.push(place);
        if count > category.pattern.0 {
            category.pattern = (count, pattern.to_owned());
        }
    }
    categories
}

/// Returns a regular expression that the texts of a pattern match.
fn regex_of(pattern: &str) -> String {
    let words: Vec<String> = words_of(pattern).map(escaped).collect();
    match words.is_empty() {
        true => ".*?".to_owned(),
        false => format!(".*?{}.*?", words.join(".+?")),
    }
}

fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for char in word.chars() {
        if !char.is_alphanumeric() && !matches!(char, '_' | '-') && char.is_ascii() {
            text.push('\\');
        }
        text.push(char);
    }
    text
}
