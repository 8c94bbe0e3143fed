//! Ranges, single values of columns, and sort orders, compared with a plain scan of the documents.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use canter_runtime::engine::NativeEngine;
use canter_runtime::{ErrorKind, SearchError, Searcher};
use canter_tests::{NUMBERS_CONFIG, TestIndex, numbers, run, usual_or_full};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const NUM_DOCS: u32 = 600;
const SPLIT_NUM_DOCS: u32 = 100;
const SEED: u64 = 5;

static BENCH: LazyLock<Bench> = LazyLock::new(Bench::new);

struct Bench {
    searcher: Searcher,
    docs: Vec<Value>,
}

impl Bench {
    fn new() -> Self {
        let lines = numbers(NUM_DOCS, SPLIT_NUM_DOCS, SEED);
        let index = TestIndex::build(NUMBERS_CONFIG, &lines, SPLIT_NUM_DOCS.into()).unwrap();
        assert_eq!(
            index.report.num_ingested_docs,
            u64::from(NUM_DOCS),
            "every line is a document"
        );
        Self {
            searcher: index.searcher(Arc::new(NativeEngine::new()), 3, 1).unwrap(),
            docs: lines
                .iter()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        }
    }

    fn answer(&self, request: &Value) -> Result<Value, SearchError> {
        let answer = run(&self.searcher, request)?.json;
        assert_eq!(answer["failed_splits"], json!([]), "{request}");
        Ok(answer)
    }

    fn found(&self, query: &str) -> Result<BTreeSet<u64>, SearchError> {
        let answer = self.answer(&json!({"query": query, "max_hits": 1000}))?;
        let hits = answer["hits"].as_array().unwrap().iter();
        let ids: BTreeSet<u64> = hits.map(|hit| hit["id"].as_u64().unwrap()).collect();
        assert_eq!(answer["num_hits"], ids.len(), "{query}");
        Ok(ids)
    }

    fn scanned(&self, matches: impl Fn(&Value) -> bool) -> BTreeSet<u64> {
        let docs = self.docs.iter().filter(|doc| matches(doc));
        docs.map(|doc| doc["id"].as_u64().unwrap()).collect()
    }

    fn check(&self, query: &str, matches: impl Fn(&Value) -> bool) {
        let expected = self.scanned(matches);
        let found = self
            .found(query)
            .unwrap_or_else(|error| panic!("{query}: {error:?}"));
        assert_eq!(found, expected, "{query}");
    }
}

fn values<'d>(doc: &'d Value, path: &str) -> Vec<&'d Value> {
    let value = path.split('.').fold(doc, |value, key| &value[key]);
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        value => vec![value],
    }
}

fn has(doc: &Value, path: &str, holds: impl Fn(&Value) -> bool) -> bool {
    values(doc, path).into_iter().any(holds)
}

#[test]
fn each_defect_that_was_found_is_mended() {
    let bench = &*BENCH;
    let number = |path: &'static str, holds: fn(f64) -> bool| {
        move |doc: &Value| has(doc, path, |value| value.as_f64().is_some_and(holds))
    };
    bench.check("delta:>10000000000000000000", |_| false);
    bench.check("delta:<10000000000000000000", |_| true);
    bench.check("delta:>=-10000000000000000000", |_| true);
    bench.check("delta:<-10000000000000000000", |_| false);
    bench.check("level:>=0", number("level", |x| x >= 0.0));
    bench.check("level:<0", number("level", |x| x < 0.0));
    bench.check("slow_level:[0 TO 0]", number("level", |x| x == 0.0));
    for field in ["big", "slow_big"] {
        bench.check(&format!("{field}:>-1"), |_| true);
        bench.check(&format!("{field}:<=-1"), |_| false);
        bench.check(&format!("{field}:>=1.5"), number("big", |x| x >= 2.0));
    }
    bench.check("level:>-1e307", number("level", |x| x > -1e307));
    bench.check(
        "level:[-1e301 TO -1e-301]",
        number("level", |x| (-1e301..=-1e-301).contains(&x)),
    );
    bench.check(
        "delta:[-2.5 TO 1.5}",
        number("delta", |x| (-2.5..1.5).contains(&x)),
    );
    for field in ["flag", "slow_flag", "kept_flag"] {
        let is = move |wanted: bool| move |doc: &Value| has(doc, field, |value| *value == wanted);
        bench.check(&format!("{field}:>=true"), is(true));
        bench.check(&format!("{field}:<true"), is(false));
        bench.check(&format!("{field}:>true"), |_| false);
        bench.check(&format!("{field}:[false TO true]"), move |doc| {
            doc[field].is_boolean()
        });
    }
    bench.check("plain.number:>=0", number("plain.number", |x| x >= 0.0));
    bench.check("kept_delta:404", number("delta", |x| x == 404.0));
    bench.check("kept_level:0", number("level", |x| x == 0.0));
    bench.check("kept_name:APPLE", |doc| {
        has(doc, "kept_name", |name| {
            name.as_str().unwrap().to_lowercase() == "apple"
        })
    });
    bench.check("kept_host:10.0.0.1", |doc| doc["kept_host"] == "10.0.0.1");
    bench.check("kept_delta: IN [404 -1]", |doc| {
        doc["delta"] == 404 || doc["delta"] == -1
    });
    bench.check("at:<9999-12-31 AND at:>=0001-01-01T00:00:00Z", |_| true);
    bench.check("day:>9999-12-31", |_| false);
    // Values and bounds are both truncated to milliseconds.
    let at = bench.docs[7]["at"]
        .as_str()
        .unwrap()
        .replace(".0009Z", ".0001Z");
    bench.check(&format!("id:7 AND at:[{at} TO {at}]"), |doc| doc["id"] == 7);
    bench.check(&format!("id:7 AND at:{{{at} TO *}}"), |_| false);
}

#[test]
fn a_range_without_a_field_is_of_the_search_fields_or_of_those_by_default() {
    let bench = &*BENCH;
    let positive = |path: &'static str| {
        move |doc: &Value| has(doc, path, |value| value.as_f64().unwrap() > 100.5)
    };
    let by_default = bench.scanned(|doc| positive("slow_delta")(doc) || positive("level")(doc));
    assert_eq!(bench.found(">100.5").unwrap(), by_default);
    let request = json!({"query": ">100.5", "search_field": "big,host", "max_hits": 0});
    let answer = bench.answer(&request).unwrap();
    assert_eq!(answer["num_hits"], bench.scanned(positive("big")).len());
    let request = json!({"query": "IN [404 7]", "search_field": "delta", "max_hits": 0});
    let answer = bench.answer(&request).unwrap();
    let in_set = bench.scanned(|doc| doc["delta"] == 404 || doc["delta"] == 7);
    assert_eq!(answer["num_hits"], in_set.len());
}

#[test]
fn what_means_nothing_to_a_field_is_refused() {
    for (query, part) in [
        ("delta:>NaN", "\"NaN\" is not a number"),
        ("delta:[1 TO abc]", "\"abc\" is not a number"),
        ("day:>yesterday", "\"yesterday\" is not a date"),
        ("day:>9999-99-99", "\"9999-99-99\" is not a date"),
        ("host:>10.0", "\"10.0\" is not an IP address"),
        ("flag:>maybe", "\"maybe\" is not true or false"),
        ("attrs:>5", "name a field inside it"),
        ("kept_name:app*", "is not indexed"),
    ] {
        let error = BENCH.found(query).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{query}");
        assert!(error.message.contains(part), "{query}: {}", error.message);
    }
}

#[test]
fn the_length_of_documents_is_a_number_like_others() {
    let bench = &*BENCH;
    let length = |doc: &Value| doc.to_string().len() as u64;
    bench.check("_doc_length:>=1000", |doc| length(doc) >= 1000);
    let request = json!({"query": "*", "max_hits": 3, "sort_by": "_doc_length", "aggs": {
        "longest": {"max": {"field": "_doc_length"}}, "sum": {"sum": {"field": "_doc_length"}}}});
    let answer = bench.answer(&request).unwrap();
    let longest = bench.docs.iter().map(length).max().unwrap();
    assert_eq!(
        answer["aggregations"]["longest"]["value"],
        json!(longest as f64)
    );
    let sum: u64 = bench.docs.iter().map(length).sum();
    assert_eq!(answer["aggregations"]["sum"]["value"], json!(sum as f64));
    assert_eq!(
        length(&bench.docs[answer["hits"][0]["id"].as_u64().unwrap() as usize]),
        longest
    );
    assert!(answer["hits"][0].get("_doc_length").is_none());
}

#[test]
fn hits_are_sorted_by_address_and_by_bytes() {
    for (field, key) in [
        (
            "host",
            (|value| address(value.as_str()?).map(|a| a.to_be_bytes().to_vec())) as fn(&Value) -> _,
        ),
        ("blob", |value| Some(value.as_str()?.as_bytes().to_vec())),
    ] {
        for (sort_by, is_descending) in [(field.to_owned(), true), (format!("-{field}"), false)] {
            let request = json!({"query": "*", "max_hits": 1000, "sort_by": sort_by});
            let answer = BENCH.answer(&request).unwrap();
            let key_of = |doc: &Value| -> Option<Vec<u8>> { key(&doc[field]) };
            let found: Vec<_> = answer["hits"]
                .as_array()
                .unwrap()
                .iter()
                .map(key_of)
                .collect();
            let mut expected: Vec<_> = BENCH.docs.iter().map(key_of).collect();
            expected.sort_by(|left, right| match (left, right) {
                (Some(left), Some(right)) if is_descending => right.cmp(left),
                (Some(left), Some(right)) => left.cmp(right),
                (left, right) => left.is_none().cmp(&right.is_none()),
            });
            assert_eq!(found, expected, "{sort_by}");
            // A page is a part of the same order.
            let request =
                json!({"query": "*", "max_hits": 50, "start_offset": 170, "sort_by": sort_by});
            let page = BENCH.answer(&request).unwrap();
            assert_eq!(
                page["hits"].as_array().unwrap()[..],
                answer["hits"].as_array().unwrap()[170..220]
            );
        }
    }
}

/// Kind of a field, which determines how the scan compares it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    Float,
    Mixed,
    Bool,
    /// Date with this number of fraction digits, truncated; `None` keeps all digits.
    Date(Option<u32>),
    Address,
    Hex,
    Text {
        is_lowercase: bool,
    },
}

const FIELDS: [(&str, Kind); 34] = [
    ("delta", Kind::Integer),
    ("slow_delta", Kind::Integer),
    ("kept_delta", Kind::Integer),
    ("inside.delta", Kind::Integer),
    ("big", Kind::Integer),
    ("slow_big", Kind::Integer),
    ("kept_big", Kind::Integer),
    ("gaps", Kind::Integer),
    ("slow_gaps", Kind::Integer),
    ("level", Kind::Float),
    ("slow_level", Kind::Float),
    ("kept_level", Kind::Float),
    ("number", Kind::Mixed),
    ("plain.number", Kind::Mixed),
    ("attrs.number", Kind::Mixed),
    ("kept.number", Kind::Mixed),
    ("flag", Kind::Bool),
    ("slow_flag", Kind::Bool),
    ("kept_flag", Kind::Bool),
    ("attrs.flag", Kind::Bool),
    ("plain.flag", Kind::Bool),
    ("at", Kind::Date(Some(3))),
    ("day", Kind::Date(Some(0))),
    ("slow_day", Kind::Date(Some(0))),
    ("kept_day", Kind::Date(Some(0))),
    ("attrs.day", Kind::Date(None)),
    ("kept.day", Kind::Date(None)),
    ("plain.day", Kind::Date(Some(0))),
    ("host", Kind::Address),
    ("kept_host", Kind::Address),
    ("slow_host", Kind::Address),
    ("blob", Kind::Hex),
    ("slow_blob", Kind::Hex),
    ("kept.name", Kind::Text { is_lowercase: true }),
];
const TEXTS: [(&str, Kind); 5] = [
    ("name", Kind::Text { is_lowercase: true }),
    ("slow_name", Kind::Text { is_lowercase: true }),
    ("kept_name", Kind::Text { is_lowercase: true }),
    (
        "attrs.name",
        Kind::Text {
            is_lowercase: false,
        },
    ),
    (
        "plain.name",
        Kind::Text {
            is_lowercase: false,
        },
    ),
];

/// Compares a document's value with a bound. Returns `None` if their types differ.
fn compare(kind: Kind, value: &Value, bound: &str) -> Option<Ordering> {
    match kind {
        Kind::Integer | Kind::Mixed | Kind::Float => compare_numbers(kind, value, bound),
        Kind::Bool => Some(value.as_bool()?.cmp(&(bound == "true"))),
        Kind::Date(digits) => Some(cut(value.as_str()?, digits).cmp(&cut(bound, digits))),
        Kind::Address => Some(address(value.as_str()?)?.cmp(&address(bound)?)),
        Kind::Hex => Some(value.as_str()?.cmp(bound)),
        Kind::Text { is_lowercase } => {
            let text = |text: &str| match is_lowercase {
                true => text
                    .chars()
                    .flat_map(char::to_lowercase)
                    .collect::<String>(),
                false => text.to_owned(),
            };
            Some(text(value.as_str()?).cmp(&text(bound)))
        }
    }
}

/// Returns the nanoseconds since 1970 of a date in UTC, truncated to `digits` digits of a second.
/// Columns and terms are truncated towards 1970.
fn cut(date: &str, digits: Option<u32>) -> i128 {
    let (whole, fraction) = date
        .trim_end_matches('Z')
        .split_once('.')
        .unwrap_or((date.trim_end_matches('Z'), ""));
    let parts: Vec<i128> = whole
        .split(['-', 'T', ':'])
        .map(|part| part.parse().unwrap())
        .collect();
    let [year, month, day, hour, minute, second] = parts[..] else {
        panic!("{date} is no date with a time");
    };
    // Years begin in March, so that a leap day is the last day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    let nanos = seconds * 1_000_000_000 + format!("{fraction:0<9}").parse::<i128>().unwrap();
    let unit = 10_i128.pow(9 - digits.unwrap_or(9));
    nanos / unit * unit
}

fn address(text: &str) -> Option<u128> {
    Some(match text.parse().ok()? {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    })
}

/// Compares integers with integers, and with quarters after multiplying both by 4.
fn compare_numbers(kind: Kind, value: &Value, bound: &str) -> Option<Ordering> {
    let float: f64 = bound.parse().unwrap();
    if kind == Kind::Float || !(value.is_i64() || value.is_u64()) {
        return Some(value.as_f64()?.partial_cmp(&float).unwrap());
    }
    let value = i128::from(value.as_i64().unwrap_or_default())
        + match value.as_i64() {
            Some(_) => 0,
            None => i128::from(value.as_u64()?),
        };
    Some(match bound.parse::<i128>() {
        Ok(bound) => value.cmp(&bound),
        Err(_) if float.abs() > 1e15 => (value as f64).partial_cmp(&float).unwrap(),
        Err(_) => (value * 4).cmp(&((float * 4.0) as i128)),
    })
}

fn a_bound(field: &str, kind: Kind, rng: &mut ChaCha8Rng) -> String {
    let bench = &*BENCH;
    if kind == Kind::Bool {
        return rng.random_bool(0.5).to_string();
    }
    let is_numeric = matches!(kind, Kind::Integer | Kind::Float | Kind::Mixed);
    let far = [
        "1e30",
        "-1e30",
        "10000000000000000000",
        "-9223372036854775809",
        "18446744073709551616",
    ];
    match rng.random_range(0..3) {
        // Values near the small ones that most documents have.
        0 if is_numeric => format!("{:?}", f64::from(rng.random_range(-44..44)) / 4.0),
        0 if kind != Kind::Mixed && is_numeric => (*far.choose(rng).unwrap()).to_owned(),
        1 if is_numeric && rng.random_bool(0.4) => (*far.choose(rng).unwrap()).to_owned(),
        // Value of a random document.
        _ => loop {
            let doc = bench.docs.choose(rng).unwrap();
            let value = values(doc, field).choose(rng).copied().cloned();
            match value {
                Some(Value::String(text)) if !is_numeric && !text.is_empty() => break text,
                Some(Value::Number(number)) if is_numeric => break number.to_string(),
                Some(Value::Bool(flag)) => break flag.to_string(),
                _ => {}
            }
        },
    }
}

/// Returns a range in one of the forms of the query language and, for each bound, the orderings
/// that satisfy it.
fn a_range(
    field: &str,
    low: &str,
    high: &str,
    rng: &mut ChaCha8Rng,
) -> (String, [Option<[Ordering; 2]>; 2]) {
    use Ordering::{Equal, Greater, Less};
    let (at_least, above) = (Some([Greater, Equal]), Some([Greater, Greater]));
    let (at_most, below) = (Some([Less, Equal]), Some([Less, Less]));
    match rng.random_range(0..10) {
        0 => (format!("{field}:>{low}"), [above, None]),
        1 => (format!("{field}:>={low}"), [at_least, None]),
        2 => (format!("{field}:<{high}"), [None, below]),
        3 => (format!("{field}:<={high}"), [None, at_most]),
        4 => (format!("{field}:[{low} TO *]"), [at_least, None]),
        5 => (format!("{field}:{{* TO {high}}}"), [None, below]),
        6 => (format!("{field}:{{{low} TO {high}}}"), [above, below]),
        7 => (format!("{field}:{{{low} TO {high}]"), [above, at_most]),
        8 => (format!("{field}:[{low} TO {high}}}"), [at_least, below]),
        _ => (format!("{field}:[{low} TO {high}]"), [at_least, at_most]),
    }
}

#[test]
fn random_ranges_find_what_a_plain_scan_finds() {
    let num_queries = std::env::var("CANTER_RANGE_QUERIES")
        .map_or_else(|_| usual_or_full(150, 1_000), |n| n.parse().unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let fields: Vec<_> = FIELDS.into_iter().chain(TEXTS).collect();
    let mut wrong = Vec::new();
    for _ in 0..num_queries {
        let (field, kind) = *fields.choose(&mut rng).unwrap();
        let (low, high) = (
            a_bound(field, kind, &mut rng),
            a_bound(field, kind, &mut rng),
        );
        // A text in JSON that parses as a number is compared as a number.
        let is_text = matches!(kind, Kind::Text { .. });
        if is_text
            && field.contains('.')
            && [&low, &high]
                .iter()
                .any(|bound| bound.parse::<f64>().is_ok())
        {
            continue;
        }
        let (query, holds) = a_range(field, &low, &high, &mut rng);
        let within = |value: &Value| {
            let bounds = [&low, &high].into_iter().zip(&holds);
            bounds
                .filter_map(|(bound, holds)| Some((bound, (*holds)?)))
                .all(|(bound, holds)| {
                    compare(kind, value, bound).is_some_and(|ordering| holds.contains(&ordering))
                })
        };
        // In combination with another clause, the search skips documents.
        let (query, needs_flag) = match rng.random_range(0..4) {
            0 => (format!("{query} AND kept_flag:true"), Some(true)),
            1 => (
                format!("kept_flag:>=false AND {query} AND NOT slow_flag:true"),
                Some(false),
            ),
            _ => (query, None),
        };
        let expected = BENCH.scanned(|doc| {
            needs_flag.is_none_or(|flag| doc["kept_flag"] == flag) && has(doc, field, within)
        });
        match BENCH.found(&query) {
            Ok(found) if found == expected => {}
            Ok(found) => {
                let differing: Vec<_> = found
                    .symmetric_difference(&expected)
                    .take(3)
                    .map(|id| {
                        let value = values(&BENCH.docs[*id as usize], field);
                        format!("{id}: {value:?}")
                    })
                    .collect();
                wrong.push(format!(
                    "{query}: {} found, not {}: {differing:?}",
                    found.len(),
                    expected.len()
                ));
            }
            Err(error) => wrong.push(format!("{query}: {error:?}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {num_queries}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}

#[test]
fn a_single_value_is_found_in_a_column_alone() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    for (field, kind) in FIELDS.into_iter().chain(TEXTS) {
        if !field.starts_with("kept") {
            continue;
        }
        for _ in 0..12 {
            let (one, two) = (
                a_bound(field, kind, &mut rng),
                a_bound(field, kind, &mut rng),
            );
            let equals =
                |value: &Value, bound: &str| compare(kind, value, bound) == Some(Ordering::Equal);
            BENCH.check(&format!("{field}:\"{one}\""), |doc| {
                has(doc, field, |value| equals(value, &one))
            });
            BENCH.check(&format!("{field}: IN [\"{one}\" \"{two}\"]"), |doc| {
                has(doc, field, |value| {
                    equals(value, &one) || equals(value, &two)
                })
            });
        }
    }
}
