//! Results as the answer has them: Elasticsearch's JSON.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::terms::PlainTerms;

/// The key of the number of documents.
pub(super) const DOC_COUNT: &str = "doc_count";

/// The results of one level, by the names of the aggregations.
pub(crate) type Level<'r> = Vec<(&'r str, Outcome<'r>)>;

/// The result of one aggregation.
#[derive(Debug)]
pub(crate) enum Outcome<'r> {
    /// Several buckets, in a list or by name, and what is said of all of them.
    Buckets(BucketList<'r>),
    /// Terms with nothing inside, as they stand in the partial result. Where there are pipelines, which look at
    /// buckets, there are none of these.
    Terms(PlainTerms<'r>),
    /// The one bucket of a filter.
    Bucket(Bucket<'r>),
    /// A number, or several.
    Metric(Value),
}

#[derive(Debug)]
pub(crate) struct BucketList<'r> {
    pub(crate) buckets: Vec<Bucket<'r>>,
    /// Whether each stands under its name.
    pub(crate) is_keyed: bool,
    pub(crate) before: Vec<(&'static str, Value)>,
}

#[derive(Debug, Default)]
pub(crate) struct Bucket<'r> {
    /// What it is called where buckets have names.
    pub(crate) name: Option<String>,
    /// Its key in all forms that an answer shows.
    pub(crate) fields: Vec<(&'static str, Value)>,
    pub(crate) doc_count: u64,
    pub(crate) inside: Level<'r>,
}

impl Serialize for Outcome<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Buckets(list) => list.serialize(serializer),
            Self::Terms(terms) => terms.serialize(serializer),
            Self::Bucket(bucket) => bucket.serialize(serializer),
            Self::Metric(value) => value.serialize(serializer),
        }
    }
}

impl Serialize for BucketList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.before {
            map.serialize_entry(name, value)?;
        }
        match self.is_keyed {
            true => map.serialize_entry("buckets", &Named(&self.buckets))?,
            false => map.serialize_entry("buckets", &Listed(&self.buckets))?,
        }
        map.end()
    }
}

struct Listed<'a, 'r>(&'a [Bucket<'r>]);

impl Serialize for Listed<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for bucket in self.0 {
            list.serialize_element(bucket)?;
        }
        list.end()
    }
}

struct Named<'a, 'r>(&'a [Bucket<'r>]);

impl Serialize for Named<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for bucket in self.0 {
            map.serialize_entry(bucket.name.as_deref().unwrap_or_default(), bucket)?;
        }
        map.end()
    }
}

impl Serialize for Bucket<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry(DOC_COUNT, &self.doc_count)?;
        for (name, outcome) in &self.inside {
            map.serialize_entry(name, outcome)?;
        }
        map.end()
    }
}

/// A whole answer.
pub(crate) struct All<'r>(pub(crate) Level<'r>);

impl Serialize for All<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, outcome) in &self.0 {
            map.serialize_entry(name, outcome)?;
        }
        map.end()
    }
}
