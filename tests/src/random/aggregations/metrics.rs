//! Metrics over the documents of a bucket.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use num_bigint::BigInt;
use serde_json::{Value, json};

use super::exact::{of_square_units, of_units, ratio, scaled, square_units, units};
use super::expect::{Expect, scalar};
use super::histograms::float;
use super::quantiles::Quantiles;
use super::scan::{Key, Scan, compare, given, part, shown};
use super::zones;
use crate::random::truth::table::Scalar;

/// Maximum number of distinct values that are counted exactly.
const EXACT_CARDINALITY: usize = 512;

/// Returns values as Elasticsearch has them: of equal texts or addresses in a document, one.
fn once(values: Vec<Scalar>) -> Vec<Scalar> {
    let mut kept: Vec<Scalar> = Vec::with_capacity(values.len());
    for value in values {
        let is_of_set = matches!(value, Scalar::Text(_) | Scalar::Ip(_));
        if !is_of_set || !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

impl Scan<'_> {
    /// Returns all numbers of the documents, including substitutes for missing ones.
    fn all_numbers(&self, body: &Value, docs: &[usize]) -> Vec<Scalar> {
        let path = body["field"].as_str().unwrap_or_default();
        let mut all = Vec::new();
        for doc in docs {
            let values = self.numbers(*doc, path);
            match values.is_empty() {
                true => all.extend(scalar(&body["missing"])),
                false => all.extend(values),
            }
        }
        all
    }

    /// Returns all values of any type, including substitutes for missing ones.
    fn all_values(&self, body: &Value, docs: &[usize]) -> Vec<Scalar> {
        let path = body["field"].as_str().unwrap_or_default();
        let mut all = Vec::new();
        for doc in docs {
            let values = self.column(*doc, path);
            match values.is_empty() {
                true => all.extend(given(&body["missing"])),
                false => all.extend(once(values)),
            }
        }
        all
    }

    pub(super) fn metric(&self, kind: &str, body: &Value, docs: &[usize]) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        match kind {
            "value_count" => value(Expect::is(self.all_values(body, docs).len())),
            "cardinality" => {
                let distinct: BTreeSet<Key> = self
                    .all_values(body, docs)
                    .into_iter()
                    .map(Key::one)
                    .collect();
                let num = distinct.len() as f64;
                value(match distinct.len() <= EXACT_CARDINALITY {
                    true => Expect::is(distinct.len()),
                    false => Expect::near(num, num * 0.1),
                })
            }
            "weighted_avg" => value(Expect::number(self.weighted_avg(body, docs))),
            "top_hits" => self.top_hits(body, docs),
            "top_metrics" => self.top_metrics(body, docs),
            "string_stats" => self.string_stats(body, docs),
            "percentiles" | "percentile_ranks" | "median_absolute_deviation" => {
                let mut values: Vec<f64> = self.all_numbers(body, docs).iter().map(float).collect();
                values.sort_by(f64::total_cmp);
                let quantiles = Quantiles::new(values);
                match kind {
                    "percentiles" => {
                        listed(body, "percents", |percent| quantiles.at(percent / 100.0))
                    }
                    "percentile_ranks" => listed(body, "values", |value| quantiles.rank(value)),
                    _ => value(quantiles.deviation()),
                }
            }
            _ => stats(
                kind,
                body,
                &self.all_numbers(body, docs),
                self.is_date(path),
            ),
        }
    }

    /// Every value has the weight of its document; documents without exactly one weight are
    /// ignored.
    fn weighted_avg(&self, body: &Value, docs: &[usize]) -> Option<f64> {
        let (mut products, mut weights) = (BigInt::default(), BigInt::default());
        for doc in docs {
            let of = |name: &str| self.all_numbers(&body[name], std::slice::from_ref(doc));
            if let [weight] = &of("weight")[..] {
                for value in of("value") {
                    products += scaled(&value) * scaled(weight);
                    weights += scaled(weight);
                }
            }
        }
        (weights != BigInt::default()).then(|| ratio(&products, &units(&weights)))
    }

    fn top_hits(&self, body: &Value, docs: &[usize]) -> Expect {
        let sort: Vec<(&String, bool)> = body["sort"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .flatten()
            .map(|(field, order)| (field, order == "desc"))
            .collect();
        let fields: Vec<&str> = body["docvalue_fields"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        type Hit = (Vec<Option<Scalar>>, Vec<Vec<Scalar>>);
        let hit = |doc: &usize| -> Hit {
            let key = |(field, is_descending): &(&String, bool)| {
                let mut values = self.column(*doc, field);
                values.retain(|value| !matches!(value, Scalar::Bytes(_)));
                values.sort_by(compare);
                if *is_descending {
                    values.pop()
                } else {
                    values.into_iter().next()
                }
            };
            let shown = fields.iter().map(|field| {
                let mut values = self.column(*doc, field);
                values.sort_by(compare);
                values
            });
            (sort.iter().map(key).collect(), shown.collect())
        };
        let mut hits: Vec<Hit> = docs.iter().map(hit).collect();
        hits.sort_by(|left, right| {
            let keys = left.0.iter().zip(&right.0).zip(&sort);
            let keys = keys.map(|((left, right), (_, is_descending))| match (left, right) {
                (Some(left), Some(right)) if *is_descending => compare(right, left),
                (Some(left), Some(right)) => compare(left, right),
                (left, right) => left.is_none().cmp(&right.is_none()),
            });
            // Of equal ones, the one with the smaller shown values comes first.
            let lists = left.1.iter().zip(&right.1).map(|(left, right)| {
                let values = left
                    .iter()
                    .zip(right)
                    .map(|(left, right)| compare(left, right));
                values
                    .fold(Ordering::Equal, Ordering::then)
                    .then(left.len().cmp(&right.len()))
            });
            keys.chain(lists).fold(Ordering::Equal, Ordering::then)
        });
        let from = body["from"].as_u64().unwrap_or(0) as usize;
        let size = body["size"].as_u64().unwrap_or(3) as usize;
        let hits = hits
            .into_iter()
            .skip(from)
            .take(size)
            .map(|(sort, values)| {
                let sort = sort.iter().map(|key| Expect::Is(part(key.as_ref())));
                let values = fields.iter().zip(values).map(|(field, values)| {
                    let values = values.iter().map(|value| {
                        Expect::Is(match value {
                            Scalar::Date(nanos) => json!(zones::text(*nanos, None, &TimeZone::UTC)),
                            Scalar::Bool(flag) => json!(flag),
                            value => shown(value).0,
                        })
                    });
                    ((*field).to_owned(), Expect::List(values.collect()))
                });
                Expect::Object(vec![
                    ("sort".to_owned(), Expect::List(sort.collect())),
                    (
                        "docvalue_fields".to_owned(),
                        Expect::Object(values.collect()),
                    ),
                ])
            });
        Expect::Object(vec![("hits".to_owned(), Expect::List(hits.collect()))])
    }
}

impl Scan<'_> {
    fn top_metrics(&self, body: &Value, docs: &[usize]) -> Expect {
        let (by, order) = body["sort"]
            .as_object()
            .and_then(|sort| sort.iter().next())
            .unwrap();
        let is_descending = order == "desc";
        let fields: Vec<&str> = body["metrics"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|metric| metric["field"].as_str())
            .collect();
        let least = |doc: usize, field: &str| self.column(doc, field).into_iter().min_by(compare);
        let row = |doc: &usize| {
            let mut values = self.column(*doc, by);
            values.retain(|value| !matches!(value, Scalar::Bytes(_)));
            values.sort_by(compare);
            let key = if is_descending {
                values.pop()
            } else {
                values.into_iter().next()
            }?;
            Some((
                key,
                fields
                    .iter()
                    .map(|field| least(*doc, field))
                    .collect::<Vec<_>>(),
            ))
        };
        let mut rows: Vec<(Scalar, Vec<Option<Scalar>>)> = docs.iter().filter_map(row).collect();
        rows.sort_by(|(left, values), (right, others)| {
            let keys = match is_descending {
                true => compare(right, left),
                false => compare(left, right),
            };
            let values = values
                .iter()
                .zip(others)
                .map(|(left, right)| match (left, right) {
                    (Some(left), Some(right)) => compare(left, right),
                    (left, right) => left.is_some().cmp(&right.is_some()),
                });
            values.fold(keys, Ordering::then)
        });
        rows.truncate(body["size"].as_u64().unwrap_or(1) as usize);
        let one = |value: Option<&Scalar>| match value {
            None => Expect::Is(Value::Null),
            Some(Scalar::Date(nanos)) => Expect::is(zones::text(*nanos, None, &TimeZone::UTC)),
            Some(Scalar::Bool(flag)) => Expect::is(*flag),
            Some(value) => Expect::Is(shown(value).0),
        };
        let top = rows.iter().map(|(key, values)| {
            let metrics = fields.iter().zip(values);
            let metrics = metrics.map(|(field, value)| ((*field).to_owned(), one(value.as_ref())));
            Expect::Object(vec![
                ("sort".to_owned(), Expect::List(vec![one(Some(key))])),
                ("metrics".to_owned(), Expect::Object(metrics.collect())),
            ])
        });
        Expect::Object(vec![("top".to_owned(), Expect::List(top.collect()))])
    }

    fn string_stats(&self, body: &Value, docs: &[usize]) -> Expect {
        let mut texts: Vec<String> = Vec::new();
        for doc in docs {
            let values = self.column(*doc, body["field"].as_str().unwrap_or_default());
            let before = texts.len();
            texts.extend(once(values).into_iter().filter_map(|value| match value {
                Scalar::Text(text) => Some(text),
                _ => None,
            }));
            if texts.len() == before {
                texts.extend(body["missing"].as_str().map(str::to_owned));
            }
        }
        let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
        let total: usize = lengths.iter().sum();
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        for character in texts.iter().flat_map(|text| text.chars()) {
            *counts.entry(character).or_default() += 1;
        }
        let shares: Vec<(char, f64)> = counts
            .iter()
            .map(|(character, count)| (*character, *count as f64 / total as f64))
            .collect();
        let entropy: f64 = shares.iter().map(|(_, share)| -share * share.log2()).sum();
        let avg = (!texts.is_empty()).then(|| total as f64 / texts.len() as f64);
        let mut fields = vec![
            ("count".to_owned(), Expect::is(texts.len())),
            (
                "min_length".to_owned(),
                Expect::Is(json!(lengths.iter().min())),
            ),
            (
                "max_length".to_owned(),
                Expect::Is(json!(lengths.iter().max())),
            ),
            ("avg_length".to_owned(), Expect::number(avg)),
            ("entropy".to_owned(), Expect::near(entropy, 1e-9)),
        ];
        if body["show_distribution"] == json!(true) {
            let shares = shares.iter();
            let shares =
                shares.map(|(character, share)| (character.to_string(), Expect::is(*share)));
            fields.push(("distribution".to_owned(), Expect::Object(shares.collect())));
        }
        Expect::Object(fields)
    }
}

fn value(value: Expect) -> Expect {
    Expect::Object(vec![("value".to_owned(), value)])
}

fn text_of(millis: Option<f64>, is_date: bool) -> Option<Expect> {
    let nanos = (millis.filter(|_| is_date)? as i64).saturating_mul(1_000_000);
    Some(Expect::is(zones::text(nanos, None, &TimeZone::UTC)))
}

fn stats(kind: &str, body: &Value, values: &[Scalar], is_date: bool) -> Expect {
    let count = values.len();
    let exact: Vec<BigInt> = values.iter().map(scaled).collect();
    let sum: BigInt = exact.iter().sum();
    let end = |found: Option<&Scalar>| found.map(|value| float(value) + 0.0);
    let min = end(values.iter().min_by_key(|value| scaled(value)));
    let max = end(values.iter().max_by_key(|value| scaled(value)));
    let avg = (count > 0).then(|| ratio(&sum, &units(&BigInt::from(count))));
    let one = |found: Option<f64>| {
        let text = text_of(found, is_date && kind != "sum");
        let text = text.map(|text| ("value_as_string".to_owned(), text));
        Expect::Object(
            [("value".to_owned(), Expect::number(found))]
                .into_iter()
                .chain(text)
                .collect(),
        )
    };
    let mut fields = vec![("count".to_owned(), Expect::is(count))];
    match kind {
        "avg" => return one(avg),
        "sum" => return one(Some(of_units(&sum))),
        "min" => return one(min),
        "max" => return one(max),
        _ => {
            fields.push(("sum".to_owned(), Expect::number(Some(of_units(&sum)))));
            for (name, found) in [("min", min), ("max", max), ("avg", avg)] {
                fields.push((name.to_owned(), Expect::number(found)));
                fields.extend(
                    text_of(found, is_date).map(|text| (format!("{name}_as_string"), text)),
                );
            }
        }
    }
    if kind == "extended_stats" {
        let squares: BigInt = exact.iter().map(|value| value * value).sum();
        fields.extend(spread(body, count, &sum, &squares, avg));
    }
    Expect::Object(fields)
}

fn spread(
    body: &Value,
    count: usize,
    sum: &BigInt,
    squares: &BigInt,
    avg: Option<f64>,
) -> Vec<(String, Expect)> {
    let whole = BigInt::from(count);
    let of_squares = (count > 0).then(|| of_square_units(squares));
    let mut fields = vec![("sum_of_squares".to_owned(), Expect::number(of_squares))];
    let numerator = &whole * squares - sum * sum;
    let sigma = body["sigma"].as_f64().unwrap_or(2.0);
    let mut bounds = Vec::new();
    for (names, free) in [
        (&["variance", "variance_population"][..], count),
        (&["variance_sampling"], count.saturating_sub(1)),
    ] {
        let variance =
            (free > 0).then(|| ratio(&numerator, &square_units(&(&whole * BigInt::from(free)))));
        let of_variance =
            |convert: &dyn Fn(f64) -> Expect| variance.map_or(Expect::Is(Value::Null), convert);
        // The square root may be representable even if the variance overflows or underflows.
        let is_usual = |variance: f64| {
            variance == 0.0 && numerator == BigInt::default() || (1e-290..1e300).contains(&variance)
        };
        let deviation = of_variance(&|variance| match is_usual(variance) {
            true => Expect::near(variance.sqrt(), variance.sqrt() * 5e-16),
            false => Expect::Any,
        });
        for name in names {
            fields.push(((*name).to_owned(), Expect::number(variance)));
            fields.push((name.replace("variance", "std_deviation"), deviation.clone()));
        }
        for (side, sign) in [("upper", 1.0), ("lower", -1.0)] {
            let avg = avg.unwrap_or_default();
            let bound = of_variance(&|variance| match is_usual(variance) {
                true => {
                    let reach = sigma * variance.sqrt();
                    Expect::near(avg + sign * reach, (avg.abs() + reach) * 1e-15)
                }
                false => Expect::Any,
            });
            for name in names {
                let name = name.replace("variance", side);
                bounds.push((name, bound.clone()));
            }
        }
    }
    fields.push(("std_deviation_bounds".to_owned(), Expect::Object(bounds)));
    fields
}

/// Expects `values`, by number or as a list.
fn listed(body: &Value, name: &str, of: impl Fn(f64) -> Expect) -> Expect {
    let default: Vec<Value> = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0]
        .map(Value::from)
        .to_vec();
    let numbers = body[name].as_array().unwrap_or(&default);
    let numbers = numbers.iter().filter_map(Value::as_f64);
    let values = match body["keyed"] != json!(false) {
        true => Expect::Object(
            numbers
                .map(|number| (format!("{number:?}"), of(number)))
                .collect(),
        ),
        false => {
            let entry = |number: f64| {
                Expect::Object(vec![
                    ("key".to_owned(), Expect::is(number)),
                    ("value".to_owned(), of(number)),
                ])
            };
            Expect::List(numbers.map(entry).collect())
        }
    };
    Expect::Object([("values".to_owned(), values)].into())
}
