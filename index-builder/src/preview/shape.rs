//! What the values of a field look like, over many documents.

use canter_doc_mapper::infer_rfc3339;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Distinct values are counted up to here.
const MAX_DISTINCT: usize = 1_000;

/// The fields of an object, in the order in which they were first seen.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    order: Vec<String>,
    by_name: BTreeMap<String, Shape>,
}

/// The values of one field.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Documents that have it.
    pub(super) num_docs: u64,
    pub(super) num_integers: u64,
    pub(super) num_negative: u64,
    pub(super) num_fractions: u64,
    pub(super) num_booleans: u64,
    pub(super) num_objects: u64,
    pub(super) num_strings: u64,
    /// Of the strings.
    pub(super) num_dates: u64,
    pub(super) num_ips: u64,
    /// Integers that are seconds, or parts of them, of our days.
    pub(super) num_unix_times: u64,
    /// Lists of anything above: values are counted one by one.
    pub(super) num_lists: u64,
    /// Lists of lists, numbers that fit no type.
    pub(super) num_others: u64,
    pub(super) num_spaces: u64,
    pub(super) max_len: usize,
    pub(super) distinct: BTreeSet<String>,
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

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

impl Shape {
    /// Values of all documents.
    pub(super) fn num_values(&self) -> u64 {
        self.num_integers
            + self.num_fractions
            + self.num_booleans
            + self.num_objects
            + self.num_strings
            + self.num_others
    }

    pub(super) fn is_distinct_known(&self) -> bool {
        self.distinct.len() < MAX_DISTINCT
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.num_booleans += 1,
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => {
                    self.num_integers += 1;
                    self.num_unix_times += u64::from(is_unix_time(number));
                }
                (None, Some(_)) => {
                    self.num_integers += 1;
                    self.num_negative += 1;
                }
                (None, None) => self.num_fractions += 1,
            },
            Value::String(text) => {
                self.num_strings += 1;
                self.num_dates += u64::from(infer_rfc3339(text).is_some());
                self.num_ips += u64::from(text.parse::<IpAddr>().is_ok());
                self.num_spaces += memchr::memchr_iter(b' ', text.as_bytes()).count() as u64;
                self.max_len = self.max_len.max(text.len());
                if self.is_distinct_known() && text.len() <= 64 {
                    self.distinct.insert(text.clone());
                }
            }
            Value::Object(object) => {
                self.num_objects += 1;
                self.inside.add(object);
            }
            Value::Array(_) => self.num_others += 1,
        }
    }
}

/// From 2001 to 2100, in seconds, milliseconds, microseconds or nanoseconds.
fn is_unix_time(number: u64) -> bool {
    const SECONDS: std::ops::Range<u64> = 978_307_200..4_102_444_800;
    let units = [1, 1_000, 1_000_000, 1_000_000_000_u64];
    units.iter().any(|unit| SECONDS.contains(&(number / unit)))
}
