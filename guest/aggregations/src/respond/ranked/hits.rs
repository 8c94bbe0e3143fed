//! Hits of buckets. Documents are not known here: the answer has a mark for each, which [`fill_hits`] replaces.

use serde_json::json;

use super::super::Writer;
use super::super::metrics::Shown;
use crate::key::Key;
use crate::numbers::Number;
use crate::request::{TopBy, TopHits};

/// Character around the number of a hit in an answer. JSON never has it as it is.
const MARK: char = '\u{1}';

/// Answer of aggregations, with the hits that are still to be written.
#[derive(Debug)]
pub struct Answer {
    /// JSON, but for the marks of hits.
    pub json: String,
    /// Hits by their numbers. Those that pipelines cut off have no mark.
    pub hits: Vec<ShownHit>,
}

/// Hit whose document is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownHit {
    /// Number of the form in which it is shown.
    pub form: usize,
    /// Id of its split.
    pub split_id: String,
    /// Number of its document there.
    pub doc: u32,
    /// Path of the object that is shown instead, and its place among all of that path in the document.
    pub object: Option<(String, u32)>,
    /// Values of the keys of the order.
    pub sort: Vec<HitValue>,
}

/// Value by which hits are sorted.
#[derive(Clone, Debug, PartialEq)]
pub enum HitValue {
    /// Integer.
    Integer(i128),
    /// Number, such as a score.
    Number(f64),
    /// Boolean.
    Bool(bool),
    /// Nanoseconds since 1970.
    Date(i64),
    /// Text.
    Text(String),
    /// IPv6 address.
    Address(u128),
    /// No value.
    Missing,
}

impl HitValue {
    fn of(key: Option<&Key>) -> Self {
        match key {
            Some(Key::Number(Number::Integer(integer))) => Self::Integer(*integer),
            Some(Key::Number(Number::Float(number))) => Self::Number(*number),
            Some(Key::Bool(flag)) => Self::Bool(*flag),
            Some(Key::Date(time_ns)) => Self::Date(*time_ns),
            Some(Key::Text(text)) => Self::Text(text.clone()),
            Some(Key::Address(address)) => Self::Address(*address),
            _ => Self::Missing,
        }
    }
}

/// Returns the numbers of the hits that an answer has, in its order.
pub fn marked(json: &str) -> Vec<usize> {
    let parts = json.split(MARK).skip(1).step_by(2);
    parts.filter_map(|number| number.parse().ok()).collect()
}

/// Replaces the marks of an answer.
pub fn fill_hits(json: &str, text_of: impl Fn(usize) -> String) -> String {
    let mut filled = String::with_capacity(json.len());
    for (place, part) in json.split(MARK).enumerate() {
        match part.parse() {
            Ok(number) if place % 2 == 1 => filled.push_str(&text_of(number)),
            _ => filled.push_str(part),
        }
    }
    filled
}

impl Writer<'_> {
    /// Writes hits that show their documents, with marks for these.
    pub(in crate::respond) fn marked_hits(
        &self,
        form: usize,
        request: &TopHits,
        found: &Shown<'_>,
    ) -> String {
        let list = found.top_list();
        let found = list.map_or(&[][..], |list| &list.hits);
        let by_score = request.sort.iter().position(|key| key.by == TopBy::Score);
        let mut hits = self.hits.borrow_mut();
        let (mut marks, mut max_score) = (Vec::new(), None);
        for hit in found.iter().skip(request.from) {
            let Some(place) = &hit.place else {
                continue;
            };
            let score = by_score.and_then(|at| hit.sort.get(at).and_then(Option::as_ref));
            if let Some(Key::Number(score)) = score {
                max_score = Some(score.to_f64().max(max_score.unwrap_or(f64::NEG_INFINITY)));
            }
            marks.push(format!("{MARK}{}{MARK}", hits.len()));
            hits.push(ShownHit {
                form,
                split_id: place.split.clone(),
                doc: place.doc,
                object: place.object.clone(),
                sort: hit
                    .sort
                    .iter()
                    .map(|key| HitValue::of(key.as_ref()))
                    .collect(),
            });
        }
        let num_docs = list.map_or(0, |list| list.num_docs);
        let max_score = json!(max_score);
        format!(
            "{{\"hits\":{{\"total\":{{\"value\":{num_docs},\"relation\":\"eq\"}},\"max_score\":{max_score},\
             \"hits\":[{}]}}}}",
            marks.join(",")
        )
    }
}
