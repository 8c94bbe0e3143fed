//! Fields of ranges, compared with a scan that compares the ends in other ways: numbers as wide integers or floats, dates
//! as days, addresses as numbers.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_tests::{TestIndex, run, usual_or_full};
use serde_json::{Map, Value, json};

const CONFIG: &str = "
version: 0.9
index_id: spans
doc_mapping:
  timestamp_field: t
  field_mappings:
    - {name: t, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: n, type: u64, fast: true}
    - {name: integer, type: array<integer_range>}
    - {name: long, type: array<long_range>}
    - {name: float, type: array<float_range>}
    - {name: double, type: array<double_range>}
    - {name: date, type: array<date_range>, input_formats: [iso8601]}
    - {name: ip, type: array<ip_range>}
    - {name: list, type: nested, field_mappings: [{name: long, type: long_range}, {name: n, type: i64}]}
";

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

/// Fields, with the values that they can have from least to greatest. A place among the values is all that the scan
/// compares; every second value is between two others.
struct Field {
    name: &'static str,
    values: Vec<Value>,
    /// True if the first and last values are the limits of the type, as which open ends count.
    has_limits: bool,
}

fn fields() -> Vec<Field> {
    let days =
        || (0..40).map(|n| json!(format!("{:04}-{:02}-11T00:00:00Z", 1 + n * 250, 1 + n % 12)));
    vec![
        Field {
            name: "integer",
            values: [
                i64::from(i32::MIN),
                -100,
                -7,
                -5,
                0,
                2,
                40,
                42,
                i64::from(i32::MAX),
            ]
            .map(Value::from)
            .into(),
            has_limits: true,
        },
        Field {
            name: "long",
            values: [
                i64::MIN,
                i64::MIN + 2,
                -2,
                0,
                2,
                1 << 53,
                (1 << 53) + 2,
                i64::MAX,
            ]
            .map(Value::from)
            .into(),
            has_limits: true,
        },
        Field {
            name: "float",
            values: [-3e38, -1.5, -0.1, 0.0, 0.1, 0.2, 0.3, 16_777_216.0, 3e38]
                .map(Value::from)
                .into(),
            has_limits: false,
        },
        Field {
            name: "double",
            values: [-1e300, -1.5, -0.1, 0.0, 0.1, 0.2, 0.3, 1e300]
                .map(Value::from)
                .into(),
            has_limits: false,
        },
        Field {
            name: "date",
            values: days().collect(),
            has_limits: false,
        },
        Field {
            name: "ip",
            values: (0..30_u32)
                .map(|n| json!(Ipv4Addr::from_bits(n * 0x0700_0001).to_string()))
                .chain([json!("2001:db8::1"), json!("ffff::")])
                .collect(),
            has_limits: false,
        },
    ]
}

/// Ends among the values, doubled: an odd number lies between two values.
type Span = (i64, i64);

/// Draws a range: how it is written, and what it holds.
fn drawn(dice: &mut Dice, field: &Field) -> (Value, Span) {
    let values = &field.values;
    let num_values = values.len() as u64;
    let (one, other) = (dice.below(num_values), dice.below(num_values));
    let (first, last) = (one.min(other), one.max(other));
    let mut written = Map::new();
    let mut span = match field.has_limits {
        true => (0, num_values as i64 * 2 - 2),
        false => (-1, num_values as i64 * 2),
    };
    if dice.below(6) > 0 {
        let is_included = first == last || dice.below(2) == 0;
        let name = if is_included { "gte" } else { "gt" };
        written.insert(name.to_owned(), values[first as usize].clone());
        span.0 = first as i64 * 2 + i64::from(!is_included);
    }
    if dice.below(6) > 0 {
        let is_included = first == last || dice.below(2) == 0;
        let name = if is_included { "lte" } else { "lt" };
        written.insert(name.to_owned(), values[last as usize].clone());
        span.1 = last as i64 * 2 - i64::from(!is_included);
    }
    (written.into(), span)
}

/// Returns whether a document's span has the relation to the wanted one, by looking at each place.
fn is_related(relation: &str, own: Span, wanted: Span) -> bool {
    let own = own.0..=own.1;
    let mut places = (wanted.0..=wanted.1).map(|place| own.contains(&place));
    match relation {
        "intersects" => places.any(|is_in| is_in),
        "contains" => places.all(|is_in| is_in),
        _ => own
            .clone()
            .all(|place| (wanted.0..=wanted.1).contains(&place)),
    }
}

fn found(index: &TestIndex, query: &Value, seed: u64) -> BTreeSet<usize> {
    let searcher = index
        .searcher(Arc::new(NativeEngine::new()), seed, 1)
        .unwrap();
    let request = json!({"query": query, "max_hits": 5_000, "profile": true});
    let answer = run(&searcher, &request).unwrap().json;
    assert_eq!(answer["failed_splits"], json!([]), "{query}");
    assert_eq!(answer["profile"]["warmup_gaps"], 0, "{query}");
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["n"].as_u64().unwrap() as usize)
        .collect()
}

/// Spans of each document, by field.
type Documents = Vec<Vec<Vec<Span>>>;

fn documents(seed: u64, num_docs: u64) -> (Documents, Vec<String>) {
    let mut dice = Dice(seed);
    let fields = fields();
    let (mut documents, mut lines) = (Vec::new(), Vec::new());
    for n in 0..num_docs {
        let mut line = json!({"t": 1_700_000_000 + dice.below(1_000_000), "n": n});
        let mut of_fields = Vec::new();
        for field in &fields {
            let num_spans = [1, 1, 1, 0, 2, 3][dice.below(6) as usize];
            let drawn = (0..num_spans).map(|_| drawn(&mut dice, field));
            let (written, spans): (Vec<Value>, Vec<Span>) = drawn.unzip();
            line[field.name] = match written.as_slice() {
                [] => Value::Null,
                [only] if n % 2 == 0 => only.clone(),
                _ => written.into(),
            };
            of_fields.push(spans);
        }
        documents.push(of_fields);
        lines.push(line.to_string());
    }
    (documents, lines)
}

fn check(index: &TestIndex, documents: &Documents, seed: u64, is_live: impl Fn(usize) -> bool) {
    let mut dice = Dice(seed);
    let mut num_found = 0;
    for (place, field) in fields().iter().enumerate() {
        let expected = |takes: &dyn Fn(&[Span]) -> bool| -> BTreeSet<usize> {
            let live = documents.iter().enumerate().filter(|(n, _)| is_live(*n));
            let taken = live.filter(|(_, spans)| takes(&spans[place]));
            taken.map(|(n, _)| n).collect()
        };
        let name = field.name;
        for relation in ["intersects", "contains", "within"] {
            for nth in 0..6 {
                let (mut ends, wanted) = drawn(&mut dice, field);
                // Without ends, every range has the relation to all, except that few contain it.
                ends["relation"] = relation.into();
                let query = json!({"range": {name: ends}});
                let found = found(index, &query, nth);
                let related =
                    |spans: &[Span]| spans.iter().any(|own| is_related(relation, *own, wanted));
                assert_eq!(found, expected(&related), "{query}");
                num_found += found.len();
            }
        }
        for nth in 0..4 {
            let at = dice.below(field.values.len() as u64) as usize;
            let value = &field.values[at];
            let query = match nth % 2 {
                0 => json!({"term": {name: value}}),
                _ => json!({"terms": {name: [value]}}),
            };
            let at = at as i64 * 2;
            let holds = |spans: &[Span]| {
                spans
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&at))
            };
            assert_eq!(found(index, &query, nth), expected(&holds), "{query}");
        }
        let existing = found(index, &json!({"exists": {"field": name}}), 0);
        assert_eq!(existing, expected(&|spans| !spans.is_empty()), "{name}");
    }
    assert!(num_found > documents.len(), "{num_found}");
}

#[test]
fn ranges_find_what_a_scan_finds() {
    let (documents, lines) = documents(1, usual_or_full(600, 1_500) as u64);
    for with_presence in [false, true] {
        let config = format!("{CONFIG}  index_field_presence: {with_presence}\n");
        let index = TestIndex::build(&config, &lines, 160).unwrap();
        check(&index, &documents, 100, |_| true);
    }
}

#[test]
fn merges_and_deletions_change_no_range() {
    let (documents, lines) = documents(2, 1_000);
    let index = TestIndex::build(CONFIG, &lines, 45).unwrap();
    let request = json!({"query": {"range": {"n": {"gte": 300, "lt": 600}}}});
    let (left, _) = index.delete(&request).unwrap();
    let is_live = |n: usize| !(300..600).contains(&n);
    check(&left, &documents, 7, is_live);
    let merged = left.merge_deleted().unwrap();
    let (before, after) = (left.entries().unwrap(), merged.entries().unwrap());
    assert!(before.iter().any(|split| split.deletes.is_some()));
    assert!(after.iter().all(|split| split.deletes.is_none()));
    assert!(after.len() < before.len(), "some were merged");
    check(&merged, &documents, 8, is_live);
}

#[test]
fn ranges_are_shown_as_written_and_looked_for_in_objects() {
    let lines = [
        r#"{"t":1700000001,"n":0,"long":{"gte":5},"ip":"10.0.0.0/8","list":[{"long":{"lte":3},"n":1},{"long":{"gt":3},"n":2}]}"#,
        r#"{"t":1700000002,"n":1,"date":[{"gte":"2024-02","lte":"2024-02"}],"list":[{"long":{"lte":3},"n":2}]}"#,
    ]
    .map(str::to_owned);
    let index = TestIndex::build(CONFIG, &lines, 10).unwrap();
    let answer = index
        .search(&json!({"query": "*", "max_hits": 5, "sort_by": "-n"}))
        .unwrap()
        .json;
    assert_eq!(answer["hits"][0]["long"], json!({"gte": 5}));
    assert_eq!(answer["hits"][0]["ip"], "10.0.0.0/8");
    let check = |query: Value, expected: &[usize]| {
        let expected = BTreeSet::from_iter(expected.iter().copied());
        assert_eq!(found(&index, &query, 0), expected, "{query}");
    };
    check(json!("long:7"), &[0]);
    check(json!("long:[0 TO 4]"), &[]);
    check(json!("long:>4"), &[0]);
    check(json!("ip:10.200.0.1"), &[0]);
    check(json!("date:2024-02-29"), &[1]);
    check(json!("date:2024-03-01"), &[]);
    check(json!("date: IN [2024-02-03 1999-01-01]"), &[1]);
    check(
        json!({"range": {"date": {"gte": "2024-02-10||/M", "lt": "2024-02-10||+1M/M", "relation": "within"}}}),
        &[1],
    );
    check(
        json!({"range": {"date": {"gte": "01/02/2024", "format": "dd/MM/yyyy", "time_zone": "-01:00", "relation": "within"}}}),
        &[],
    );
    let one_object = |n: i64| {
        json!({"nested": {"path": "list", "query": {"bool": {"must": [
            {"term": {"list.n": n}}, {"range": {"list.long": {"gte": 4, "lte": 9, "relation": "contains"}}}
        ]}}}})
    };
    check(one_object(2), &[0]);
    check(one_object(1), &[]);
}

#[test]
fn what_is_no_range_is_refused_and_ranges_have_no_order() {
    let lines = [
        r#"{"t":1700000001,"n":0,"long":{"gte":5,"lte":4}}"#,
        r#"{"t":1700000001,"n":1,"long":7}"#,
        r#"{"t":1700000001,"n":2,"integer":{"gte":4000000000}}"#,
        r#"{"t":1700000001,"n":3,"long":{"gte":4000000000}}"#,
    ]
    .map(str::to_owned);
    let index = TestIndex::build(CONFIG, &lines, 10).unwrap();
    let report = &index.report;
    assert_eq!((report.num_ingested_docs, report.num_rejected_docs), (1, 3));
    for request in [
        json!({"query": "*", "sort_by": "long"}),
        json!({"query": "*", "aggs": {"a": {"terms": {"field": "long"}}}}),
        json!({"query": {"range": {"long": {"gte": "x"}}}}),
        json!({"query": {"range": {"long": {"gte": 1, "relation": "disjoint"}}}}),
        json!({"query": {"range": {"long": {"gte": 1, "format": "yyyy"}}}}),
        json!({"query": {"range": {"date": {"lt": "2300-01-01", "format": "yyyy-MM-dd"}}}}),
        json!({"query": {"range": {"date": {"gte": "2300-01-01", "time_zone": "+01:00"}}}}),
        json!({"query": {"range": {"date": {"gte": "2300-01-01||-100y"}}}}),
        json!({"query": {"range": {"date": {"lt": "1500-01-01||/M"}}}}),
    ] {
        assert!(index.search(&request).is_err(), "{request}");
    }
}

/// An address, whatever its bits, is a value.
#[test]
fn any_address_exists() {
    let config = "
version: 0.9
index_id: addresses
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: ip, type: array<ip>, fast: true}
";
    for address in ["::1", "::", "10.0.0.1", "ffff::1"] {
        let lines = [
            json!({"n": 0, "ip": address}).to_string(),
            json!({"n": 1}).to_string(),
        ];
        for split_num_docs in [1, 10] {
            let index = TestIndex::build(config, &lines, split_num_docs).unwrap();
            let existing = found(&index, &json!({"exists": {"field": "ip"}}), 0);
            assert_eq!(existing, BTreeSet::from([0]), "{address}");
        }
    }
}
