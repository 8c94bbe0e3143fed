//! Rows of buckets of equal width.

use serde_json::{Map, Value, json};

use super::expect::{Expect, scalar};
use super::scan::{Groups, Key, Scan, millis};
use super::zones;
use crate::random::dates;
use crate::random::truth::table::Scalar;

/// Number of buckets above which an answer would be refused.
const MAX_BUCKETS: usize = 70_000;

/// Units of `auto_date_histogram`: name, letter, and the multiples that may make a bucket.
const UNITS: [(&str, char, &[usize]); 6] = [
    ("second", 's', &[1, 5, 10, 30]),
    ("minute", 'm', &[1, 5, 10, 30]),
    ("hour", 'h', &[1, 3, 12]),
    ("day", 'd', &[1, 7]),
    ("month", 'M', &[1, 3]),
    ("year", 'y', &[1, 5, 10, 20, 50, 100]),
];

/// Sort key of a bucket, its documents, its name, and its fields.
type Row = (Vec<usize>, String, Vec<(&'static str, Value)>);

pub(super) fn float(value: &Scalar) -> f64 {
    match value {
        Scalar::Date(nanos) => *nanos as f64 / 1e6,
        value => value.as_f64().unwrap_or_default(),
    }
}

/// Returns the interval of a number.
pub(super) fn place(value: f64, interval: f64, offset: f64) -> i64 {
    ((value - offset) / interval).floor() as i64
}

fn time(value: &Value) -> i64 {
    match value.as_str() {
        Some(text) => dates::read(text).unwrap(),
        None => value.as_i64().unwrap() * dates::MILLISECOND,
    }
}

fn bounds<T>(body: &Value, name: &str, end: impl Fn(&Value) -> T) -> Option<(T, T)> {
    let bounds = &body[name];
    bounds
        .is_object()
        .then(|| (end(&bounds["min"]), end(&bounds["max"])))
}

impl Scan<'_> {
    pub(super) fn histogram(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        let interval = body["interval"].as_f64().unwrap();
        let offset = body["offset"].as_f64().unwrap_or(0.0);
        let hard = bounds(body, "hard_bounds", |end| end.as_f64().unwrap());
        let groups = self.group(docs, |doc| {
            let mut values = self.numbers(doc, path);
            if values.is_empty() {
                values.extend(scalar(&body["missing"]));
            }
            let values = values.iter().map(float);
            let within =
                values.filter(|v| hard.is_none_or(|(least, most)| least <= *v && *v <= most));
            within
                .map(|value| Key::one(Scalar::Int(place(value, interval, offset).into())))
                .collect()
        });
        let extended = bounds(body, "extended_bounds", |end| {
            place(end.as_f64().unwrap(), interval, offset)
        });
        let rows = filled(body, groups, extended, |place| place + 1);
        let rows = rows.into_iter().map(|(place, docs)| {
            let key = place as f64 * interval + offset;
            (docs, format!("{key:?}"), vec![("key", json!(key))])
        });
        self.row(body, rows.collect(), inside)
    }

    pub(super) fn date_histogram(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        let buckets = zones::Buckets::read(body);
        let hard = bounds(body, "hard_bounds", time);
        let missing = (!body["missing"].is_null()).then(|| time(&body["missing"]));
        let groups = self.group(docs, |doc| {
            let mut values = self.dates(doc, path);
            if values.is_empty() {
                values.extend(missing);
            }
            let values = values.into_iter();
            let within =
                values.filter(|v| hard.is_none_or(|(least, most)| least <= *v && *v <= most));
            within
                .map(|nanos| Key::one(Scalar::Int(buckets.start(nanos).into())))
                .collect()
        });
        let extended = bounds(body, "extended_bounds", |end| buckets.start(time(end)));
        let zone = zones::zone(body["time_zone"].as_str());
        let rows = filled(body, groups, extended, |start| buckets.next(start));
        let rows = rows.into_iter().map(|(start, docs)| {
            let text = zones::text(start, body["format"].as_str(), &zone);
            let fields = vec![("key", millis(start)), ("key_as_string", json!(text))];
            (docs, text, fields)
        });
        self.row(body, rows.collect(), inside)
    }

    /// Chooses the smallest unit without too many buckets, and the multiple of it that makes few
    /// enough.
    pub(super) fn auto_date_histogram(
        &self,
        body: &Value,
        inside: &Map<String, Value>,
        docs: &[usize],
    ) -> Expect {
        let path = body["field"].as_str().unwrap_or_default();
        let missing = (!body["missing"].is_null()).then(|| time(&body["missing"]));
        let mut times: Vec<(i64, usize)> = Vec::new();
        for doc in docs {
            let mut values = self.dates(*doc, path);
            if values.is_empty() {
                values.extend(missing);
            }
            times.extend(values.into_iter().map(|nanos| (nanos, *doc)));
        }
        let most = body["buckets"].as_u64().unwrap_or(10) as usize;
        let named =
            |(unit, ..): &(&str, char, &[usize])| Some(*unit) == body["minimum_interval"].as_str();
        let from = UNITS.iter().position(named).unwrap_or(0);
        let zone = zones::zone(body["time_zone"].as_str());
        let (mut interval, mut rows) = (format!("1{}", UNITS[from].1), Vec::new());
        for (unit, letter, steps) in &UNITS[from..] {
            let asked = json!({ "calendar_interval": unit, "time_zone": body["time_zone"] });
            let buckets = zones::Buckets::read(&asked);
            for (nanos, _) in &mut times {
                *nanos = buckets.start(*nanos);
            }
            let ends = times.iter().map(|(nanos, _)| *nanos);
            let (Some(first), Some(last)) = (ends.clone().min(), ends.max()) else {
                break;
            };
            let units = std::iter::successors(Some(first), |start| Some(buckets.next(*start)));
            let units = units.take_while(|start| *start <= last);
            let widest = steps.last().unwrap();
            let is_last = *unit == "year";
            let units: Vec<i64> = match is_last {
                true => units.collect(),
                false => units.take(most * widest + 1).collect(),
            };
            if !is_last && units.len() > most * widest {
                continue;
            }
            let step = steps
                .iter()
                .find(|step| units.len().div_ceil(**step) <= most);
            let step = *step.unwrap_or(widest);
            interval = format!("{step}{letter}");
            rows = units
                .chunks(step)
                .map(|units| {
                    let is_in = |(nanos, _): &&(i64, usize)| units.contains(nanos);
                    let docs: Vec<usize> =
                        times.iter().filter(is_in).map(|(_, doc)| *doc).collect();
                    let text = zones::text(units[0], body["format"].as_str(), &zone);
                    let fields = vec![("key", millis(units[0])), ("key_as_string", json!(text))];
                    self.bucket(fields, &docs, inside)
                })
                .collect();
            break;
        }
        Expect::Object(vec![
            ("interval".to_owned(), Expect::is(interval)),
            ("buckets".to_owned(), Expect::List(rows)),
        ])
    }

    fn row(&self, body: &Value, mut rows: Vec<Row>, inside: &Map<String, Value>) -> Expect {
        let order = body["order"]
            .as_object()
            .and_then(|order| order.iter().next());
        match order.map(|(by, direction)| (by.as_str(), direction == "desc")) {
            Some(("_key", true)) => rows.reverse(),
            Some(("_count", false)) => rows.sort_by_key(|(docs, ..)| docs.len()),
            Some(("_count", true)) => rows.sort_by_key(|(docs, ..)| std::cmp::Reverse(docs.len())),
            _ => {}
        }
        let buckets = rows
            .into_iter()
            .map(|(docs, name, fields)| (name, self.bucket(fields, &docs, inside)));
        let buckets = match body["keyed"] == json!(true) {
            true => Expect::Object(buckets.collect()),
            false => Expect::List(buckets.map(|(_, bucket)| bucket).collect()),
        };
        Expect::Object(vec![("buckets".to_owned(), buckets)])
    }
}

/// Returns the buckets with enough documents; with a minimum of 0, all from the first to the last.
fn filled(
    body: &Value,
    groups: Groups,
    extended: Option<(i64, i64)>,
    next: impl Fn(i64) -> i64,
) -> Vec<(i64, Vec<usize>)> {
    let least = body["min_doc_count"].as_u64().unwrap_or(0) as usize;
    let mut found: Vec<(i64, Vec<usize>)> = Vec::new();
    for (key, docs) in groups {
        if let Some(Some(Scalar::Int(place))) = key.0.first() {
            found.push((*place as i64, docs));
        }
    }
    if least > 0 {
        found.retain(|(_, docs)| docs.len() >= least);
        return found;
    }
    let ends = found
        .first()
        .into_iter()
        .chain(found.last())
        .map(|(place, _)| *place);
    let ends: Vec<i64> = ends
        .chain(extended.into_iter().flat_map(|(first, last)| [first, last]))
        .collect();
    let (Some(first), Some(last)) = (ends.iter().min(), ends.iter().max()) else {
        return found;
    };
    let mut all = Vec::new();
    let mut found = found.into_iter().peekable();
    let mut place = *first;
    while place <= *last && all.len() < MAX_BUCKETS {
        let docs = found.next_if(|(other, _)| *other == place);
        all.push((place, docs.map(|(_, docs)| docs).unwrap_or_default()));
        place = next(place);
    }
    all
}
