//! Aggregations with a fixed number of buckets: ranges, filters, and the documents without a value.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::expect::Expect;
use super::expect::scalar;
use super::scan::{Key, Scan, compare, millis};
use super::zones;
use crate::random::dates;
use crate::random::truth::table::{Scalar, ip, literal};

type Ends = (Option<Scalar>, Option<Scalar>);

impl Scan<'_> {
    pub(super) fn filter(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        self.bucket(Vec::new(), &self.matching(body, docs), inside)
    }

    fn matching(&self, query: &Value, docs: &[usize]) -> Vec<usize> {
        let node = &self.filters[query.as_str().unwrap()];
        let docs = docs.iter().copied();
        docs.filter(|doc| self.table.matches(*doc, node)).collect()
    }

    pub(super) fn filters(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let queries: Vec<(Option<String>, &Value)> = match &body["filters"] {
            Value::Object(named) => named
                .iter()
                .map(|(name, query)| (Some(name.clone()), query))
                .collect(),
            list => list
                .as_array()
                .into_iter()
                .flatten()
                .map(|query| (None, query))
                .collect(),
        };
        let mut rest: Vec<usize> = docs.to_vec();
        let mut buckets = Vec::new();
        for (name, query) in &queries {
            let docs = self.matching(query, docs);
            rest.retain(|doc| !docs.contains(doc));
            buckets.push((name.clone(), self.bucket(Vec::new(), &docs, inside)));
        }
        let key = body["other_bucket_key"].as_str();
        if key.is_some() || body["other_bucket"] == json!(true) {
            let name = key.unwrap_or("_other_").to_owned();
            buckets.push((Some(name), self.bucket(Vec::new(), &rest, inside)));
        }
        let buckets = match body["filters"].is_object() {
            true => Expect::Object(
                buckets
                    .into_iter()
                    .map(|(name, b)| (name.unwrap_or_default(), b))
                    .collect(),
            ),
            false => Expect::List(buckets.into_iter().map(|(_, bucket)| bucket).collect()),
        };
        Expect::Object(vec![("buckets".to_owned(), buckets)])
    }

    pub(super) fn adjacency_matrix(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let mut named: Vec<(&String, Vec<usize>)> = body["filters"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, query)| (name, self.matching(query, docs)))
            .collect();
        named.sort();
        let separator = body["separator"].as_str().unwrap_or("&");
        let mut buckets = Vec::new();
        let mut add = |key: String, docs: &[usize]| {
            if !docs.is_empty() {
                buckets.push(self.bucket(vec![("key", json!(key))], docs, inside));
            }
        };
        for (nth, (name, docs)) in named.iter().enumerate() {
            if body["show_only_intersecting"] != json!(true) {
                add((*name).clone(), docs);
            }
            for (other, others) in &named[nth + 1..] {
                let both = docs.iter().copied().filter(|doc| others.contains(doc));
                let both: Vec<usize> = both.collect();
                add(format!("{name}{separator}{other}"), &both);
            }
        }
        Expect::Object(vec![("buckets".to_owned(), Expect::List(buckets))])
    }

    pub(super) fn ip_prefix(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        let len = body["prefix_length"].as_u64().unwrap();
        let is_ipv6 = body["is_ipv6"] == json!(true);
        let num_free = if is_ipv6 { 128 - len } else { 32 - len };
        let prefix = |address: u128| match num_free {
            128 => 0,
            free => address >> free << free,
        };
        let groups = self.group(docs, |doc| {
            let values = self.column(doc, path).into_iter();
            let of_kind = values.filter_map(|value| match value {
                Scalar::Ip(address) => {
                    let is_ipv4 = (address >> 32) == 0xffff;
                    (is_ipv6 || is_ipv4).then(|| Key::one(Scalar::Ip(prefix(address))))
                }
                _ => None,
            });
            of_kind.collect()
        });
        let least = body["min_doc_count"].as_u64().unwrap_or(1);
        let groups = groups
            .into_iter()
            .filter(|(_, docs)| docs.len() as u64 >= least);
        let is_keyed = body["keyed"] == json!(true);
        let buckets = groups.map(|(key, docs)| {
            let mut name = literal(key.0[0].as_ref().unwrap());
            if body["append_prefix_length"] == json!(true) {
                name = format!("{name}/{len}");
            }
            let mut fields = vec![("is_ipv6", json!(is_ipv6)), ("prefix_length", json!(len))];
            if !is_ipv6 {
                let mask = u32::MAX
                    .checked_shl(32 - u32::try_from(len).unwrap())
                    .unwrap_or(0);
                fields.push((
                    "netmask",
                    json!(std::net::Ipv4Addr::from_bits(mask).to_string()),
                ));
            }
            if !is_keyed {
                fields.push(("key", json!(name)));
            }
            (name, self.bucket(fields, &docs, inside))
        });
        let buckets = match is_keyed {
            true => Expect::Object(buckets.collect()),
            false => Expect::List(buckets.map(|(_, bucket)| bucket).collect()),
        };
        Expect::Object(vec![("buckets".to_owned(), buckets)])
    }

    pub(super) fn missing(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        let docs = docs.iter().copied();
        let docs: Vec<usize> = docs
            .filter(|doc| self.column(*doc, path).is_empty())
            .collect();
        self.bucket(Vec::new(), &docs, inside)
    }

    pub(super) fn ranges(
        &self,
        kind: &str,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        let is_taken = |value: &Scalar| match kind {
            "range" => matches!(value, Scalar::Int(_) | Scalar::Float(_)),
            "date_range" => matches!(value, Scalar::Date(_)),
            _ => matches!(value, Scalar::Ip(_)),
        };
        let missing = end_of(kind, &body["missing"]);
        let values = |doc: usize| -> Vec<Scalar> {
            let mut values = self.column(doc, path);
            values.retain(is_taken);
            if values.is_empty() {
                values.extend(missing.clone());
            }
            values
        };
        let ranges = body["ranges"].as_array().into_iter().flatten();
        let mut ranges: Vec<(Ends, &Value)> =
            ranges.map(|range| (ends_of(kind, range), range)).collect();
        ranges.sort_by(|((from, to), _), ((other_from, other_to), _)| {
            order(from, other_from, Ordering::Less).then(order(to, other_to, Ordering::Greater))
        });
        let is_keyed = body["keyed"] == json!(true);
        let mut named = Vec::new();
        for ((from, to), range) in ranges {
            let is_in = |value: &Scalar| {
                from.as_ref()
                    .is_none_or(|from| compare(value, from).is_ge())
                    && to.as_ref().is_none_or(|to| compare(value, to).is_lt())
            };
            let docs = docs.iter().copied();
            let docs: Vec<usize> = docs.filter(|doc| values(*doc).iter().any(is_in)).collect();
            let name = match (range["key"].as_str(), range["mask"].as_str()) {
                (Some(name), _) | (None, Some(name)) => name.to_owned(),
                _ => format!(
                    "{}-{}",
                    self.end_text(body, from.as_ref()),
                    self.end_text(body, to.as_ref())
                ),
            };
            let mut fields = self.fields_of_ends(body, from.as_ref(), to.as_ref());
            if !is_keyed {
                fields.push(("key", json!(name)));
            }
            named.push((name, self.bucket(fields, &docs, inside)));
        }
        let buckets = match is_keyed {
            true => Expect::Object(named),
            false => Expect::List(named.into_iter().map(|(_, bucket)| bucket).collect()),
        };
        Expect::Object(vec![("buckets".to_owned(), buckets)])
    }

    /// Returns the fields of a bucket that show its ends.
    fn fields_of_ends(
        &self,
        body: &Value,
        from: Option<&Scalar>,
        to: Option<&Scalar>,
    ) -> Vec<(&'static str, Value)> {
        let mut fields = Vec::new();
        for (field, text, end) in [("from", "from_as_string", from), ("to", "to_as_string", to)] {
            match end {
                Some(Scalar::Date(nanos)) => {
                    fields.push((field, millis(*nanos)));
                    fields.push((text, json!(self.end_text(body, end))));
                }
                Some(Scalar::Ip(_)) => fields.push((field, json!(self.end_text(body, end)))),
                Some(end) => fields.push((field, json!(end.as_f64()))),
                None => {}
            }
        }
        fields
    }

    fn end_text(&self, body: &Value, end: Option<&Scalar>) -> String {
        match end {
            None => "*".to_owned(),
            Some(Scalar::Date(nanos)) => {
                let zone = zones::zone(body["time_zone"].as_str());
                zones::text(*nanos, body["format"].as_str(), &zone)
            }
            Some(Scalar::Ip(_)) => literal(end.unwrap()),
            Some(end) => end.as_f64().unwrap_or_default().to_string(),
        }
    }
}

/// Compares range ends; an open one is before or after all others.
fn order(left: &Option<Scalar>, right: &Option<Scalar>, open: Ordering) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => compare(left, right),
        (None, None) => Ordering::Equal,
        (None, Some(_)) => open,
        (Some(_), None) => open.reverse(),
    }
}

fn end_of(kind: &str, end: &Value) -> Option<Scalar> {
    match (kind, end) {
        (_, Value::Null) => None,
        ("date_range", Value::String(text)) => dates::read(text).map(Scalar::Date),
        ("date_range", end) => end
            .as_i64()
            .map(|millis| Scalar::Date(millis * dates::MILLISECOND)),
        ("ip_range", end) => ip(end.as_str()?).map(Scalar::Ip),
        (_, end) => scalar(end).map(|end| match end {
            Scalar::Float(float) => Scalar::Float(float + 0.0),
            end => end,
        }),
    }
}

fn ends_of(kind: &str, range: &Value) -> Ends {
    let Some(mask) = range["mask"].as_str() else {
        return (end_of(kind, &range["from"]), end_of(kind, &range["to"]));
    };
    let (base, bits) = mask.split_once('/').unwrap();
    let bits: u32 = bits.parse().unwrap();
    let free = if base.contains(':') {
        128 - bits
    } else {
        32 - bits
    };
    let first = ip(base).unwrap() >> free << free;
    (
        Some(Scalar::Ip(first)),
        Some(Scalar::Ip(first + (1 << free))),
    )
}
