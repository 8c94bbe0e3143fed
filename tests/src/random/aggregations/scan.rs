//! Scan of the documents for the aggregations of a request.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::expect::{Expect, scalar};
use super::zones;
use crate::random::asked::query::Node;
use crate::random::schema::Kind;
use crate::random::truth::table::{Scalar, Table, literal};

/// Queries of a request's aggregations, by their text.
pub(in crate::random) type Filters = BTreeMap<String, Node>;

/// Documents, and the parts of a request besides its aggregations.
pub(super) struct Scan<'a> {
    pub(super) table: &'a Table,
    pub(super) filters: &'a Filters,
}

impl Table {
    /// Returns the problem of the aggregations over `docs`, if any.
    pub(in crate::random) fn check_aggs(
        &self,
        aggs: &Map<String, Value>,
        filters: &Filters,
        docs: &[usize],
        actual: &Value,
    ) -> Result<(), String> {
        let scan = Scan {
            table: self,
            filters,
        };
        Expect::Object(scan.level(aggs, docs)).check(actual)
    }
}

/// Key of a bucket, with one value for each field.
#[derive(Clone, Debug)]
pub(super) struct Key(pub(super) Vec<Option<Scalar>>);

impl Key {
    pub(super) fn one(value: Scalar) -> Key {
        Key(vec![Some(value)])
    }
}

/// Compares values: numbers come first, then Booleans, dates, texts and addresses.
pub(super) fn compare(left: &Scalar, right: &Scalar) -> Ordering {
    let class = |value: &Scalar| match value {
        Scalar::Int(_) | Scalar::Float(_) => 0,
        Scalar::Bool(_) => 1,
        Scalar::Date(_) => 2,
        Scalar::Text(_) => 3,
        Scalar::Ip(_) => 4,
        Scalar::Bytes(_) => 5,
    };
    left.compare(right)
        .unwrap_or_else(|| class(left).cmp(&class(right)))
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let orders = pairs.map(|(left, right)| match (left, right) {
            (Some(left), Some(right)) => compare(left, right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

/// Documents by key.
pub(super) type Groups = BTreeMap<Key, Vec<usize>>;

impl Scan<'_> {
    pub(super) fn level(&self, aggs: &Map<String, Value>, docs: &[usize]) -> Vec<(String, Expect)> {
        let of_one = |(name, agg): (&String, &Value)| (name.clone(), self.one(agg, docs));
        aggs.iter().map(of_one).collect()
    }

    fn one(&self, agg: &Value, docs: &[usize]) -> Expect {
        let (kind, body) = kind_of(agg);
        let none = Map::new();
        let inside = agg["aggs"].as_object().unwrap_or(&none);
        match kind {
            "terms" => self.terms(body, inside, docs),
            "rare_terms" => self.rare_terms(body, inside, docs),
            "multi_terms" => self.multi_terms(body, inside, docs),
            "composite" => self.composite(body, inside, docs),
            "histogram" => self.histogram(body, inside, docs),
            "date_histogram" => self.date_histogram(body, inside, docs),
            "auto_date_histogram" => self.auto_date_histogram(body, inside, docs),
            "range" | "date_range" | "ip_range" => self.ranges(kind, body, inside, docs),
            "filter" => self.filter(body, inside, docs),
            "filters" => self.filters(body, inside, docs),
            "adjacency_matrix" => self.adjacency_matrix(body, inside, docs),
            "ip_prefix" => self.ip_prefix(body, inside, docs),
            "missing" => self.missing(body, inside, docs),
            _ => self.metric(kind, body, docs),
        }
    }

    /// Returns a document's values in a column. An integer in an untyped field stays an integer,
    /// whatever the other values.
    pub(super) fn column(&self, doc: usize, path: &str) -> Vec<Scalar> {
        let mut fields = self.table.setup.fields.iter();
        let Some(field) = fields.position(|field| field.path == path) else {
            return Vec::new();
        };
        let is_json = matches!(self.table.setup.fields[field].kind, Kind::Json { .. });
        let values = self.table.column(doc, field).into_iter();
        let whole = |value: Scalar| match value {
            Scalar::Float(float) if is_json && float.fract() == 0.0 && float.abs() < 1e15 => {
                Scalar::Int(float as i128)
            }
            Scalar::Float(float) => Scalar::Float(float + 0.0),
            value => value,
        };
        values.map(whole).collect()
    }

    /// Returns whether a field is mapped as dates.
    pub(super) fn is_date(&self, path: &str) -> bool {
        let mut fields = self.table.setup.fields.iter();
        fields.any(|field| field.path == path && matches!(field.kind, Kind::Date { .. }))
    }

    /// Returns whether a field is mapped as floating-point numbers.
    pub(super) fn is_float(&self, path: &str) -> bool {
        let mut fields = self.table.setup.fields.iter();
        fields.any(|field| field.path == path && field.kind == Kind::F64)
    }

    /// Returns numbers, and dates of a field that is mapped as dates.
    pub(super) fn numbers(&self, doc: usize, path: &str) -> Vec<Scalar> {
        let is_date = self.is_date(path);
        let mut values = self.column(doc, path);
        values.retain(|value| match value {
            Scalar::Int(_) | Scalar::Float(_) => true,
            Scalar::Date(_) => is_date,
            _ => false,
        });
        values
    }

    pub(super) fn dates(&self, doc: usize, path: &str) -> Vec<i64> {
        let values = self.column(doc, path).into_iter();
        let dates = values.filter_map(|value| match value {
            Scalar::Date(nanos) => Some(nanos),
            _ => None,
        });
        dates.collect()
    }

    /// Groups documents by their keys; a document with several equal keys counts once.
    pub(super) fn group(&self, docs: &[usize], keys: impl Fn(usize) -> Vec<Key>) -> Groups {
        let mut groups = Groups::new();
        for doc in docs {
            for key in keys(*doc).into_iter().collect::<BTreeSet<Key>>() {
                groups.entry(key).or_default().push(*doc);
            }
        }
        groups
    }

    /// Returns a bucket that begins with these fields.
    pub(super) fn bucket(
        &self,
        fields: Vec<(&str, Value)>,
        docs: &[usize],
        inside: &Map<String, Value>,
    ) -> Expect {
        let fields = fields.into_iter().chain([("doc_count", json!(docs.len()))]);
        let fields = fields.map(|(name, value)| (name.to_owned(), Expect::Is(value)));
        Expect::Object(fields.chain(self.level(inside, docs)).collect())
    }
}

/// Returns the kind of an aggregation, and its parameters.
pub(super) fn kind_of(agg: &Value) -> (&str, &Value) {
    let entries = agg.as_object().into_iter().flatten();
    let mut kinds = entries.filter(|(name, _)| *name != "aggs");
    kinds
        .next()
        .map_or(("", &Value::Null), |(kind, body)| (kind, body))
}

/// Returns a value in a request.
pub(super) fn given(value: &Value) -> Option<Scalar> {
    match value {
        Value::String(text) => Some(Scalar::Text(text.clone())),
        Value::Bool(flag) => Some(Scalar::Bool(*flag)),
        value => scalar(value),
    }
}

/// Returns the milliseconds of a date, as an integer if possible.
pub(super) fn millis(nanos: i64) -> Value {
    match nanos % 1_000_000 {
        0 => json!(nanos / 1_000_000),
        _ => json!(nanos as f64 / 1e6),
    }
}

/// Returns a key on its own, and the text shown with it.
pub(super) fn shown(key: &Scalar) -> (Value, Option<String>) {
    match key {
        Scalar::Int(int) => (whole(*int), None),
        Scalar::Float(float) => (json!(float), None),
        Scalar::Bool(flag) => (json!(u8::from(*flag)), Some(flag.to_string())),
        Scalar::Date(nanos) => (
            millis(*nanos),
            Some(zones::text(*nanos, None, &TimeZone::UTC)),
        ),
        other => (json!(literal(other)), None),
    }
}

fn whole(int: i128) -> Value {
    match (i64::try_from(int), u64::try_from(int)) {
        (Ok(int), _) => json!(int),
        (_, Ok(int)) => json!(int),
        _ => json!(int as f64),
    }
}

/// Returns an element of a composite key.
pub(super) fn part(key: Option<&Scalar>) -> Value {
    match key {
        None => Value::Null,
        Some(Scalar::Bool(flag)) => json!(flag),
        Some(key) => shown(key).0,
    }
}

/// Returns the text of a key for lists of values and patterns.
pub(super) fn words(key: &Scalar) -> String {
    match shown(key) {
        (_, Some(text)) | (Value::String(text), None) => text,
        (value, None) => value.to_string(),
    }
}
