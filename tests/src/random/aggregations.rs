//! Aggregations as the documentation of Elasticsearch has them, by going through the documents.

use serde_json::{Map, Value, json};

use super::dates;
use super::schema::Setup;
use super::table::{Scalar, Table};

#[derive(Clone, Debug)]
pub(super) struct Agg {
    pub(super) field: usize,
    pub(super) what: What,
    pub(super) sub: Option<Box<Agg>>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Terms {
        size: usize,
        by_key: Option<bool>,
    },
    Histogram {
        interval: f64,
        offset: f64,
        fills_gaps: bool,
    },
    DateHistogram {
        days: i64,
        fills_gaps: bool,
    },
    Range {
        ranges: Vec<(Option<f64>, Option<f64>)>,
    },
    Metric(Metric),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    Avg,
    Sum,
    Min,
    Max,
    ValueCount,
    Stats,
}

impl Metric {
    pub(super) const ALL: [Metric; 6] = [
        Metric::Avg,
        Metric::Sum,
        Metric::Min,
        Metric::Max,
        Metric::ValueCount,
        Metric::Stats,
    ];

    fn name(self) -> &'static str {
        match self {
            Metric::Avg => "avg",
            Metric::Sum => "sum",
            Metric::Min => "min",
            Metric::Max => "max",
            Metric::ValueCount => "value_count",
            Metric::Stats => "stats",
        }
    }
}

impl Agg {
    /// As a request has it, under the name `a`; what is within it is named `b`.
    pub(super) fn json(&self, paths: &[&str]) -> Value {
        json!({ "a": self.body(paths) })
    }

    /// What kind of aggregation it is.
    pub(super) fn signature(&self, setup: &Setup) -> String {
        let what = format!("{:?}", self.what);
        let what = what.split([' ', '{']).next().unwrap_or_default();
        let sub = self
            .sub
            .as_ref()
            .map(|sub| format!(" of {}", sub.signature(setup)));
        format!(
            "{what} {}{}",
            setup.fields[self.field].signature(),
            sub.unwrap_or_default()
        )
    }

    fn body(&self, paths: &[&str]) -> Value {
        let field = paths[self.field];
        let (name, what) = match &self.what {
            What::Terms { size, by_key } => {
                let mut terms = json!({ "field": field, "size": size });
                if let Some(is_ascending) = by_key {
                    terms["order"] = json!({ "_key": if *is_ascending { "asc" } else { "desc" } });
                }
                ("terms", terms)
            }
            What::Histogram {
                interval,
                offset,
                fills_gaps,
            } => (
                "histogram",
                json!({ "field": field, "interval": interval, "offset": offset, "min_doc_count": i32::from(!fills_gaps) }),
            ),
            What::DateHistogram { days, fills_gaps } => (
                "date_histogram",
                json!({ "field": field, "fixed_interval": format!("{days}d"), "min_doc_count": i32::from(!fills_gaps) }),
            ),
            What::Range { ranges } => {
                let ranges: Vec<Value> = ranges
                    .iter()
                    .map(|(from, to)| {
                        let mut range = Map::new();
                        range.extend(from.map(|from| ("from".to_owned(), from.into())));
                        range.extend(to.map(|to| ("to".to_owned(), to.into())));
                        Value::Object(range)
                    })
                    .collect();
                ("range", json!({ "field": field, "ranges": ranges }))
            }
            What::Metric(metric) => (metric.name(), json!({ "field": field })),
        };
        let mut body = json!({ name: what });
        if let Some(sub) = &self.sub {
            body["aggs"] = json!({ "b": sub.body(paths) });
        }
        body
    }
}

/// A bucket as it must be: its key, and its documents.
struct Bucket {
    key: Scalar,
    docs: Vec<usize>,
}

impl Table {
    /// What is wrong with an aggregation over `docs`.
    pub(super) fn check_agg(
        &self,
        agg: &Agg,
        docs: &[usize],
        actual: &Value,
    ) -> Result<(), String> {
        match &agg.what {
            What::Metric(metric) => self.check_metric(*metric, agg.field, docs, actual),
            What::Terms { size, by_key } => self.check_terms(agg, *size, *by_key, docs, actual),
            What::Histogram {
                interval,
                offset,
                fills_gaps,
            } => {
                let key = |value: &Scalar| {
                    let value = value.as_f64()?;
                    Some(Scalar::Float(
                        ((value - offset) / interval).floor() * interval + offset,
                    ))
                };
                let buckets = self.buckets(agg.field, docs, key);
                self.check_histogram(agg, filled(buckets, *interval, *fills_gaps), actual)
            }
            What::DateHistogram { days, fills_gaps } => {
                let width = days * 86_400 * dates::SECOND;
                let key = |value: &Scalar| match value {
                    Scalar::Date(nanos) => Some(Scalar::Float(
                        (nanos.div_euclid(width) * (width / dates::MILLISECOND)) as f64,
                    )),
                    _ => None,
                };
                let buckets = self.buckets(agg.field, docs, key);
                let width = (width / dates::MILLISECOND) as f64;
                self.check_histogram(agg, filled(buckets, width, *fills_gaps), actual)
            }
            What::Range { ranges } => self.check_ranges(agg, ranges, docs, actual),
        }
    }

    /// The documents by key; one with several values of a key is in its bucket once.
    fn buckets(
        &self,
        field: usize,
        docs: &[usize],
        key: impl Fn(&Scalar) -> Option<Scalar>,
    ) -> Vec<Bucket> {
        let mut buckets: Vec<Bucket> = Vec::new();
        for doc in docs {
            let mut keys: Vec<Scalar> = Vec::new();
            for key in self.column(*doc, field).iter().filter_map(&key) {
                if !keys
                    .iter()
                    .any(|other| other.compare(&key) == Some(std::cmp::Ordering::Equal))
                {
                    keys.push(key);
                }
            }
            for key in keys {
                let same = |bucket: &&mut Bucket| {
                    bucket.key.compare(&key) == Some(std::cmp::Ordering::Equal)
                };
                match buckets.iter_mut().find(same) {
                    Some(bucket) => bucket.docs.push(*doc),
                    None => buckets.push(Bucket {
                        key,
                        docs: vec![*doc],
                    }),
                }
            }
        }
        buckets
    }

    fn check_terms(
        &self,
        agg: &Agg,
        size: usize,
        by_key: Option<bool>,
        docs: &[usize],
        actual: &Value,
    ) -> Result<(), String> {
        let buckets = self.buckets(agg.field, docs, |value| Some(value.clone()));
        let got = bucket_list(actual)?;
        if got.len() != size.min(buckets.len()) {
            let keys: Vec<&Value> = got.iter().map(|bucket| &bucket["key"]).collect();
            let wanted: Vec<&Scalar> = buckets.iter().map(|bucket| &bucket.key).collect();
            return Err(format!(
                "{} buckets instead of {}: {keys:?} and {wanted:?}",
                got.len(),
                size.min(buckets.len())
            ));
        }
        let mut counts: Vec<usize> = buckets.iter().map(|bucket| bucket.docs.len()).collect();
        counts.sort_unstable_by(|left, right| right.cmp(left));
        let mut last: Option<&Scalar> = None;
        let mut used: Vec<usize> = Vec::new();
        for (place, bucket) in got.iter().enumerate() {
            let key = &bucket["key"];
            let Some(nth) = buckets
                .iter()
                .position(|wanted| is_key(&wanted.key, bucket))
            else {
                let len = key.as_str().map_or(0, str::len);
                return Err(format!(
                    "a bucket of {key} ({len} bytes) that should not be there"
                ));
            };
            if used.contains(&nth) {
                return Err(format!("two buckets of {key}"));
            }
            used.push(nth);
            let wanted = &buckets[nth];
            self.check_bucket(agg, wanted, bucket)?;
            match by_key {
                None if counts.get(place) != Some(&wanted.docs.len()) => {
                    return Err(format!(
                        "the bucket {key} is at place {place}, where one with {:?} documents should be",
                        counts.get(place)
                    ));
                }
                None => {}
                Some(is_ascending) => {
                    let order = last.and_then(|last| last.compare(&wanted.key));
                    let wrong = if is_ascending {
                        std::cmp::Ordering::Greater
                    } else {
                        std::cmp::Ordering::Less
                    };
                    if order == Some(wrong) {
                        return Err(format!("the bucket {key} is out of order"));
                    }
                    let before = buckets
                        .iter()
                        .filter(|other| other.key.compare(&wanted.key) == Some(wrong.reverse()));
                    if before.count() != place {
                        return Err(format!(
                            "the bucket {key} is at place {place}: those before it are missing"
                        ));
                    }
                }
            }
            last = Some(&wanted.key);
        }
        let shown: usize = used.iter().map(|nth| buckets[*nth].docs.len()).sum();
        let others = counts.iter().sum::<usize>() - shown;
        match actual["sum_other_doc_count"].as_u64() {
            Some(found) if found as usize == others => Ok(()),
            found => Err(format!(
                "sum_other_doc_count is {found:?} instead of {others}"
            )),
        }
    }

    fn check_histogram(
        &self,
        agg: &Agg,
        buckets: Vec<Bucket>,
        actual: &Value,
    ) -> Result<(), String> {
        let got = bucket_list(actual)?;
        if got.len() != buckets.len() {
            let show = |bucket: &Value| format!("{}:{}", bucket["key"], bucket["doc_count"]);
            let shown: Vec<String> = got.iter().take(8).map(show).collect();
            let wanted: Vec<String> = buckets
                .iter()
                .take(8)
                .map(|b| format!("{:?}:{}", b.key, b.docs.len()))
                .collect();
            return Err(format!(
                "{} buckets instead of {}: {shown:?} and {wanted:?}",
                got.len(),
                buckets.len()
            ));
        }
        for (wanted, bucket) in buckets.iter().zip(got) {
            if !is_key(&wanted.key, bucket) {
                return Err(format!(
                    "a bucket of {} instead of {:?}",
                    bucket["key"], wanted.key
                ));
            }
            self.check_bucket(agg, wanted, bucket)?;
        }
        Ok(())
    }

    fn check_ranges(
        &self,
        agg: &Agg,
        ranges: &[(Option<f64>, Option<f64>)],
        docs: &[usize],
        actual: &Value,
    ) -> Result<(), String> {
        for (from, to) in ranges {
            let same =
                |bucket: &&Value| bucket["from"].as_f64() == *from && bucket["to"].as_f64() == *to;
            let Some(bucket) = bucket_list(actual)?.iter().find(same) else {
                return Err(format!("no bucket from {from:?} to {to:?}"));
            };
            let inside = |value: &Scalar| {
                let value = value.as_f64()?;
                let is_in = from.is_none_or(|from| value >= from) && to.is_none_or(|to| value < to);
                is_in.then_some(Scalar::Bool(true))
            };
            let found = self.buckets(agg.field, docs, inside);
            let key = Scalar::Bool(true);
            let docs = found
                .into_iter()
                .next()
                .map(|bucket| bucket.docs)
                .unwrap_or_default();
            self.check_bucket(agg, &Bucket { key, docs }, bucket)
                .map_err(|problem| format!("range {from:?} to {to:?}: {problem}"))?;
        }
        Ok(())
    }

    fn check_bucket(&self, agg: &Agg, wanted: &Bucket, bucket: &Value) -> Result<(), String> {
        let count = bucket["doc_count"].as_u64();
        if count != Some(wanted.docs.len() as u64) {
            return Err(format!(
                "{} documents in the bucket {:?} instead of {}",
                bucket["doc_count"],
                wanted.key,
                wanted.docs.len()
            ));
        }
        match &agg.sub {
            Some(sub) => self
                .check_agg(sub, &wanted.docs, &bucket["b"])
                .map_err(|problem| format!("in the bucket {:?}: {problem}", wanted.key)),
            None => Ok(()),
        }
    }

    fn check_metric(
        &self,
        metric: Metric,
        field: usize,
        docs: &[usize],
        actual: &Value,
    ) -> Result<(), String> {
        let values: Vec<Scalar> = docs
            .iter()
            .flat_map(|doc| self.column(*doc, field))
            .collect();
        let numbers: Vec<f64> = values.iter().filter_map(Scalar::as_f64).collect();
        let sum: f64 = numbers.iter().sum();
        let scale: f64 = numbers.iter().map(|number| number.abs()).sum();
        let min = numbers.iter().copied().reduce(f64::min);
        let max = numbers.iter().copied().reduce(f64::max);
        let avg = (!numbers.is_empty()).then(|| sum / numbers.len() as f64);
        let check = |name: &str, wanted: Option<f64>, found: &Value, scale: f64| {
            let is_right = match (wanted, found.as_f64()) {
                (None, None) => found.is_null(),
                (Some(wanted), Some(found)) => (wanted - found).abs() <= scale * 1e-9,
                _ => false,
            };
            match is_right {
                true => Ok(()),
                false => Err(format!("{name} is {found} instead of {wanted:?}")),
            }
        };
        let of_all = scale / numbers.len().max(1) as f64;
        let count = Some(values.len() as f64);
        match metric {
            Metric::Avg => check("avg", avg, &actual["value"], of_all),
            Metric::Sum => check("sum", Some(sum), &actual["value"], scale),
            Metric::Min => check("min", min, &actual["value"], 0.0),
            Metric::Max => check("max", max, &actual["value"], 0.0),
            Metric::ValueCount => check("value_count", count, &actual["value"], 0.0),
            Metric::Stats => {
                check("count", count, &actual["count"], 0.0)?;
                check("min", min, &actual["min"], 0.0)?;
                check("max", max, &actual["max"], 0.0)?;
                check("avg", avg, &actual["avg"], of_all)?;
                check("sum", Some(sum), &actual["sum"], scale)
            }
        }
    }
}

/// In order, with empty buckets between the others if they are wanted.
fn filled(mut buckets: Vec<Bucket>, width: f64, fills_gaps: bool) -> Vec<Bucket> {
    buckets.sort_by(|left, right| {
        left.key
            .compare(&right.key)
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    if !fills_gaps {
        return buckets;
    }
    let mut all: Vec<Bucket> = Vec::new();
    for bucket in buckets {
        let here = bucket.key.as_f64().unwrap_or_default();
        while let Some(last) = all.last().and_then(|last| last.key.as_f64())
            && here - last > width * 1.5
        {
            all.push(Bucket {
                key: Scalar::Float(last + width),
                docs: Vec::new(),
            });
        }
        all.push(bucket);
    }
    all
}

fn bucket_list(actual: &Value) -> Result<&Vec<Value>, String> {
    let buckets = actual["buckets"].as_array();
    buckets.ok_or_else(|| format!("no list of buckets: {actual}"))
}

/// Booleans have the keys 1 and 0, and their names beside them.
fn is_key(key: &Scalar, bucket: &Value) -> bool {
    let found = &bucket["key"];
    match key {
        Scalar::Text(text) => found.as_str() == Some(text),
        Scalar::Bool(b) => {
            found.as_f64() == Some(f64::from(*b))
                && bucket["key_as_string"].as_str() == Some(&b.to_string())
        }
        Scalar::Int(int) => {
            let whole = found
                .as_i64()
                .map(i128::from)
                .or(found.as_u64().map(i128::from));
            match whole {
                Some(whole) => whole == *int,
                None => found
                    .as_f64()
                    .is_some_and(|f| f == *int as f64 && int.unsigned_abs() <= 1 << 53),
            }
        }
        Scalar::Float(float) => found
            .as_f64()
            .is_some_and(|f| (f - float).abs() <= float.abs() * 1e-12),
        Scalar::Ip(ip) => found.as_str().and_then(super::table::ip) == Some(*ip),
        Scalar::Date(_) | Scalar::Bytes(_) => false,
    }
}
