//! Statistics of a field's values over many documents.

use super::times::Times;
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

/// Maximum length of a text that is kept to be shown.
const MAX_SHOWN_BYTES: usize = 64;
/// Maximum number of distinct values that are counted.
const MAX_DISTINCT: usize = 1_000;
/// Maximum number of distinct integers that are codes, such as those of HTTP.
const MAX_CODES: usize = 64;
/// Up to this number of distinct integers they need not be repeated.
const FEW_CODES: usize = 4;
/// Integers up to this are exact as floating-point numbers.
const MAX_EXACT: u64 = 1 << 53;

/// The fields of an object, in the order of first occurrence.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    order: Vec<String>,
    by_name: BTreeMap<String, Shape>,
}

/// The values of one field.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Number of documents that have it.
    pub(super) num_docs: u64,
    pub(super) num_integers: u64,
    pub(super) num_negative: u64,
    /// Number of integers that only fit into an unsigned type.
    pub(super) num_large: u64,
    /// Number of integers that a floating-point type would round.
    pub(super) num_inexact: u64,
    /// Numbers of integers that are levels of bunyan and pino, and of syslog.
    pub(super) num_tens: u64,
    pub(super) num_severities: u64,
    pub(super) num_fractions: u64,
    pub(super) num_booleans: u64,
    pub(super) num_objects: u64,
    pub(super) num_strings: u64,
    /// Number of strings that are IP addresses.
    pub(super) num_ips: u64,
    /// Number of strings that mean a missing value: `""`, `-`.
    pub(super) num_blank: u64,
    /// Statistics of strings and numbers as times.
    pub(super) times: Times,
    /// Number of lists of the above: their values are counted individually.
    pub(super) num_lists: u64,
    /// Number of lists of lists.
    pub(super) num_others: u64,
    /// Number of strings of several words, whatever stands between them.
    pub(super) num_parted: u64,
    pub(super) num_spaces: u64,
    pub(super) max_len: usize,
    pub(super) distinct: BTreeSet<String>,
    /// Hashes of the longer ones.
    distinct_long: BTreeSet<u64>,
    /// Distinct integers, one more than codes may have at most.
    codes: BTreeSet<i128>,
    pub(super) inside: Shapes,
}

impl Shapes {
    pub(super) fn add(&mut self, object: &Map<String, Value>) {
        for (name, value) in object {
            if value.is_null() {
                continue;
            }
            if !self.by_name.contains_key(name) {
                self.order.push(name.clone());
            }
            let shape = self.by_name.entry(name.clone()).or_default();
            shape.num_docs += 1;
            match value {
                Value::Array(values) => {
                    shape.num_lists += 1;
                    values.iter().for_each(|value| shape.add(value));
                }
                value => shape.add(value),
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Shape)> {
        let shape = |name: &String| {
            Some((
                self.by_name.get_key_value(name)?.0.as_str(),
                self.by_name.get(name)?,
            ))
        };
        self.order.iter().filter_map(shape)
    }

    /// Returns the number of distinct values of a field, as far as they were counted.
    pub(super) fn num_distinct(&self, name: &str) -> usize {
        self.by_name.get(name).map_or(0, Shape::num_distinct)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns whether a text has letters or digits on both sides of something else: a path, an address, a name with a dot.
fn is_parted(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    words.next().is_some_and(|first| first.len() < text.len())
}

impl Shape {
    /// Returns the number of values in all documents.
    pub(super) fn num_values(&self) -> u64 {
        self.num_integers
            + self.num_fractions
            + self.num_booleans
            + self.num_objects
            + self.num_strings
            + self.num_others
    }

    /// Returns the number of values that are neither objects nor nested lists.
    pub(super) fn num_scalars(&self) -> u64 {
        self.num_values() - self.num_objects - self.num_others
    }

    pub(super) fn is_distinct_known(&self) -> bool {
        self.num_distinct() < MAX_DISTINCT
    }

    /// Returns the number of distinct texts, as far as they were counted.
    pub(super) fn num_distinct(&self) -> usize {
        self.distinct.len() + self.distinct_long.len()
    }

    /// Returns whether texts are repeated, and few: three times each on average.
    pub(super) fn is_repeated(&self) -> bool {
        self.is_distinct_known() && (self.num_distinct() as u64) * 3 < self.num_strings
    }

    /// Returns whether values are few integers, each of which is repeated.
    pub(super) fn are_codes(&self) -> bool {
        let num_codes = self.codes.len();
        self.num_integers > 0
            && self.num_integers + self.num_blank == self.num_values()
            && num_codes <= MAX_CODES
            && (num_codes <= FEW_CODES || num_codes as u64 * 3 <= self.num_integers)
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.num_booleans += 1,
            Value::Number(number) => self.add_number(number),
            Value::String(text) => {
                self.num_strings += 1;
                self.num_blank += u64::from(is_blank(text));
                self.times.add_text(text);
                self.num_ips += u64::from(text.parse::<IpAddr>().is_ok());
                self.num_parted += u64::from(is_parted(text));
                self.num_spaces += memchr::memchr_iter(b' ', text.as_bytes()).count() as u64;
                self.max_len = self.max_len.max(text.len());
                if self.is_distinct_known() {
                    match text.len() {
                        ..=MAX_SHOWN_BYTES => self.distinct.insert(text.clone()),
                        _ => self.distinct_long.insert(hash_of(text)),
                    };
                }
            }
            Value::Object(object) => {
                self.num_objects += 1;
                self.inside.add(object);
            }
            Value::Array(_) => self.num_others += 1,
        }
    }

    fn add_number(&mut self, number: &Number) {
        self.times.add_number(number);
        if self.codes.len() <= MAX_CODES {
            self.codes.extend(number.as_i128());
        }
        match (number.as_u64(), number.as_i64()) {
            (Some(value), signed) => {
                self.num_integers += 1;
                self.num_large += u64::from(signed.is_none());
                self.num_inexact += u64::from(value > MAX_EXACT);
                self.num_tens += u64::from(matches!(value, 10 | 20 | 30 | 40 | 50 | 60));
                self.num_severities += u64::from(value < 8);
            }
            (None, Some(value)) => {
                self.num_integers += 1;
                self.num_negative += 1;
                self.num_inexact += u64::from(value.unsigned_abs() > MAX_EXACT);
            }
            (None, None) => self.num_fractions += 1,
        }
    }
}

/// Returns whether a text means a missing value.
fn is_blank(text: &str) -> bool {
    matches!(text.trim_ascii(), "" | "-")
}
