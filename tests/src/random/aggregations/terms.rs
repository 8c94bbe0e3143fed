//! Buckets by value: `terms` and similar aggregations, and `composite`.

use std::cmp::Ordering;

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::expect::{Expect, scalar};
use super::histograms::{float, place};
use super::scan::{Groups, Key, Scan, compare, given, part, shown, words};
use super::zones;
use crate::random::truth::table::Scalar;

/// Predicate that a pattern stands for.
type Matches = fn(&str) -> bool;

/// Patterns that requests draw from, with equivalent predicates.
pub(super) const PATTERNS: [(&str, Matches); 4] = [
    ("[a-eA-E].*", |text| {
        text.starts_with(|c: char| ('a'..='e').contains(&c) || ('A'..='E').contains(&c))
    }),
    ("(time|alpha|beta)", |text| {
        ["time", "alpha", "beta"].contains(&text)
    }),
    ("-?[0-9]+", |text| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }),
    ("10[.]0[.].*", |text| text.starts_with("10.0.")),
];

struct Candidate {
    key: Key,
    num_docs: usize,
    bucket: Expect,
}

impl Scan<'_> {
    /// Returns the values of a document that have a bucket, or the substitute for missing ones.
    fn terms_of(&self, body: &Value, doc: usize) -> Vec<Scalar> {
        let mut values = self.column(doc, body["field"].as_str().unwrap_or_default());
        if values.is_empty() {
            // Converted like a value of the field.
            let is_float = self.is_float(body["field"].as_str().unwrap_or_default());
            values.extend(given(&body["missing"]).map(|value| match value.as_f64() {
                Some(float) if is_float => Scalar::Float(float),
                _ => value,
            }));
        }
        values
    }

    fn chosen(&self, body: &Value, docs: &[usize]) -> Groups {
        let is_in = |key: &Scalar| {
            let fits = |choice: &Value| match choice {
                Value::String(pattern) => {
                    let (_, fits) = PATTERNS.iter().find(|(known, _)| known == pattern).unwrap();
                    fits(&words(key))
                }
                values => {
                    values
                        .as_array()
                        .into_iter()
                        .flatten()
                        .any(|value| match scalar(value) {
                            Some(number) => number.compare(key) == Some(Ordering::Equal),
                            None => {
                                value.as_str().map_or(value.to_string(), str::to_owned)
                                    == words(key)
                            }
                        })
                }
            };
            (body["include"].is_null() || fits(&body["include"]))
                && (body["exclude"].is_null() || !fits(&body["exclude"]))
        };
        self.group(docs, |doc| {
            let values = self.terms_of(body, doc).into_iter();
            values.filter(is_in).map(Key::one).collect()
        })
    }

    pub(super) fn terms(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        self.ordered(body, inside, self.chosen(body, docs))
    }

    pub(super) fn rare_terms(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let most = body["max_doc_count"].as_u64().unwrap_or(1) as usize;
        let mut groups: Vec<(Key, Vec<usize>)> = self.chosen(body, docs).into_iter().collect();
        groups.retain(|(_, docs)| docs.len() <= most);
        groups.sort_by_key(|(_, docs)| docs.len());
        let buckets = groups
            .iter()
            .map(|(key, docs)| self.bucket(fields_of(key), docs, inside));
        Expect::Object(vec![(
            "buckets".to_owned(),
            Expect::List(buckets.collect()),
        )])
    }

    pub(super) fn multi_terms(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let groups = self.group(docs, |doc| {
            let sources = body["terms"].as_array().into_iter().flatten();
            product(
                sources.map(|source| self.terms_of(source, doc).into_iter().map(Some).collect()),
            )
        });
        self.ordered(body, inside, groups)
    }

    fn ordered(&self, body: &Value, inside: &Map<String, Value>, groups: Groups) -> Expect {
        let least = body["min_doc_count"].as_u64().unwrap_or(1) as usize;
        let groups = groups.into_iter().filter(|(_, docs)| docs.len() >= least);
        let mut candidates: Vec<Candidate> = groups
            .map(|(key, docs)| Candidate {
                bucket: self.bucket(fields_of(&key), &docs, inside),
                num_docs: docs.len(),
                key,
            })
            .collect();
        let orders: Vec<(&String, &Value)> = match &body["order"] {
            Value::Array(orders) => orders
                .iter()
                .filter_map(Value::as_object)
                .flatten()
                .collect(),
            order => order.as_object().into_iter().flatten().collect(),
        };
        candidates.sort_by(|left, right| {
            if orders.is_empty() {
                return right.num_docs.cmp(&left.num_docs);
            }
            let found = orders
                .iter()
                .map(|(by, direction)| in_order(left, right, by, *direction == "desc"));
            found.fold(Ordering::Equal, Ordering::then)
        });
        let size = body["size"].as_u64().unwrap_or(10) as usize;
        let others = candidates.split_off(size.min(candidates.len()));
        let num_others: usize = others.iter().map(|other| other.num_docs).sum();
        Expect::Object(vec![
            ("doc_count_error_upper_bound".to_owned(), Expect::is(0)),
            ("sum_other_doc_count".to_owned(), Expect::is(num_others)),
            (
                "buckets".to_owned(),
                Expect::List(
                    candidates
                        .into_iter()
                        .map(|candidate| candidate.bucket)
                        .collect(),
                ),
            ),
        ])
    }

    pub(super) fn composite(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let sources: Vec<(&String, &String, &Value)> = body["sources"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|source| {
                let (name, source) = source.as_object()?.iter().next()?;
                let (kind, source) = source.as_object()?.iter().next()?;
                Some((name, kind, source))
            })
            .collect();
        let groups = self.group(docs, |doc| {
            product(
                sources
                    .iter()
                    .map(|(_, kind, source)| self.source(kind, source, doc)),
            )
        });
        let mut groups: Vec<(Key, Vec<usize>)> = groups.into_iter().collect();
        groups.sort_by(|(left, _), (right, _)| {
            let keys = left.0.iter().zip(&right.0).zip(&sources);
            let found = keys.map(|((left, right), (_, _, source))| {
                order_of_keys(source, left.as_ref(), right.as_ref())
            });
            found.fold(Ordering::Equal, Ordering::then)
        });
        let shown = |key: &Key| -> Value {
            let parts = key.0.iter().zip(&sources);
            let parts = parts.map(|(key, (name, kind, source))| {
                ((*name).clone(), self.source_key(kind, source, key.as_ref()))
            });
            Value::Object(parts.collect())
        };
        let after = &body["after"];
        let start = match after {
            Value::Null => 0,
            after => {
                let is_it = |(key, _): &(Key, Vec<usize>)| {
                    Expect::Is(after.clone()).check(&shown(key)).is_ok() || shown(key) == *after
                };
                // Missing keys are skipped.
                groups
                    .iter()
                    .position(is_it)
                    .map_or(groups.len(), |place| place + 1)
            }
        };
        let size = body["size"].as_u64().unwrap_or(10) as usize;
        let page: Vec<&(Key, Vec<usize>)> = groups.iter().skip(start).take(size).collect();
        let buckets = page
            .iter()
            .map(|(key, docs)| match self.bucket(Vec::new(), docs, inside) {
                Expect::Object(mut fields) => {
                    fields.push(("key".to_owned(), numbers_alike(&shown(key))));
                    Expect::Object(fields)
                }
                other => other,
            });
        let mut fields = vec![("buckets".to_owned(), Expect::List(buckets.collect()))];
        if let Some((key, _)) = page.last() {
            fields.push(("after_key".to_owned(), numbers_alike(&shown(key))));
        }
        Expect::Object(fields)
    }

    fn source(&self, kind: &str, source: &Value, doc: usize) -> Vec<Option<Scalar>> {
        let path = source["field"].as_str().unwrap_or_default();
        let mut values: Vec<Option<Scalar>> = match kind {
            "terms" => self.column(doc, path).into_iter().map(Some).collect(),
            "histogram" => {
                let interval = source["interval"].as_f64().unwrap();
                let values = self.numbers(doc, path).into_iter();
                let place = |value: Scalar| Scalar::Int(place(float(&value), interval, 0.0).into());
                values.map(|value| Some(place(value))).collect()
            }
            _ => {
                let buckets = zones::Buckets::read(source);
                let dates = self.dates(doc, path).into_iter();
                dates
                    .map(|nanos| Some(Scalar::Date(buckets.start(nanos))))
                    .collect()
            }
        };
        if values.is_empty() && source["missing_bucket"] == json!(true) {
            values.push(None);
        }
        values
    }

    /// Returns the key of a composite's source as shown.
    fn source_key(&self, kind: &str, source: &Value, key: Option<&Scalar>) -> Value {
        match (kind, key) {
            ("histogram", Some(key)) => json!(float(key) * source["interval"].as_f64().unwrap()),
            ("date_histogram", Some(Scalar::Date(nanos))) if source["format"].is_string() => {
                let zone = zones::zone(source["time_zone"].as_str());
                json!(zones::text(*nanos, source["format"].as_str(), &zone))
            }
            // A number that would be read back as another value is written as text.
            ("terms", Some(Scalar::Date(nanos)))
                if nanos % 1_000_000 != 0
                    || !self.is_date(source["field"].as_str().unwrap_or_default()) =>
            {
                json!(zones::text(*nanos, None, &TimeZone::UTC))
            }
            (_, key) => part(key),
        }
    }
}

/// Expects an object whose numbers may be written in either form.
fn numbers_alike(value: &Value) -> Expect {
    let entries = value.as_object().into_iter().flatten();
    Expect::Object(
        entries
            .map(|(name, value)| (name.clone(), Expect::Is(value.clone())))
            .collect(),
    )
}

/// Returns the Cartesian product.
fn product(lists: impl Iterator<Item = Vec<Option<Scalar>>>) -> Vec<Key> {
    lists.fold(vec![Key(Vec::new())], |keys, values| {
        let longer = |key: &Key| -> Vec<Key> {
            let with =
                |value: &Option<Scalar>| Key([&key.0[..], std::slice::from_ref(value)].concat());
            values.iter().map(with).collect()
        };
        keys.iter().flat_map(longer).collect()
    })
}

/// Compares two keys of a source of `composite`.
fn order_of_keys(source: &Value, left: Option<&Scalar>, right: Option<&Scalar>) -> Ordering {
    let is_descending = source["order"] == "desc";
    let is_first = match source["missing_order"].as_str() {
        Some("first") => true,
        Some("last") => false,
        _ => !is_descending,
    };
    match (left, right) {
        (Some(left), Some(right)) if is_descending => compare(right, left),
        (Some(left), Some(right)) => compare(left, right),
        (left, right) if is_first => left.is_some().cmp(&right.is_some()),
        (left, right) => left.is_none().cmp(&right.is_none()),
    }
}

fn fields_of(key: &Key) -> Vec<(&'static str, Value)> {
    let (value, text) = match &key.0[..] {
        [Some(key)] => shown(key),
        keys => {
            let parts = keys.iter().map(|key| match key {
                Some(date @ Scalar::Date(_)) => json!(words(date)),
                key => part(key.as_ref()),
            });
            let parts: Vec<Value> = parts.collect();
            let texts: Vec<String> = keys.iter().flatten().map(words).collect();
            (json!(parts), Some(texts.join("|")))
        }
    };
    let text = text.map(|text| ("key_as_string", json!(text)));
    [("key", value)].into_iter().chain(text).collect()
}

fn in_order(left: &Candidate, right: &Candidate, by: &str, is_descending: bool) -> Ordering {
    let order = match by {
        "_count" => left.num_docs.cmp(&right.num_docs),
        "_key" => left.key.cmp(&right.key),
        path => match [left, right].map(|candidate| metric(&candidate.bucket, path)) {
            [None, None] => Ordering::Equal,
            // A missing number comes last in either direction.
            [None, Some(_)] => return Ordering::Greater,
            [Some(_), None] => return Ordering::Less,
            [Some(left), Some(right)] => left.total_cmp(&right),
        },
    };
    if is_descending {
        order.reverse()
    } else {
        order
    }
}

/// Returns the number at the end of a path such as `a>b.sum`.
fn metric(bucket: &Expect, path: &str) -> Option<f64> {
    let mut at = bucket;
    let mut rest = path;
    while let Some((name, next)) = rest.split_once('>') {
        (at, rest) = (at.get(name)?, next);
    }
    // A name may contain dots.
    if let Some(whole) = at.get(rest) {
        return whole.get("value")?.as_f64();
    }
    match rest.split_once('.') {
        _ if rest == "_count" => at.get("doc_count")?.as_f64(),
        Some((name, property)) => at.get(name)?.get(property)?.as_f64(),
        None => None,
    }
}
