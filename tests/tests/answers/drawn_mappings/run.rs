//! Draws indexes, asks them, and tells where answers differ.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_tests::usual_or_full;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::documents;
use super::fields::{self, Field, Kind};
use super::index::Index;
use super::requests::{self, Asked, Values};
use super::shown;
use super::truth::{self, Own};

const NUM_DOCUMENTS: usize = 60;

/// Number of queries for each field of an index.
const NUM_QUERIES: usize = 6;

/// Differences by what was asked of which type: how many, and one of them.
#[derive(Default)]
struct Findings {
    found: BTreeMap<String, (usize, String)>,
    num_asked: usize,
    num_refused: usize,
}

impl Findings {
    fn add(&mut self, what: &str, kind: &Kind, detail: impl FnOnce() -> String) {
        let key = format!("{what} of {}", kind.name());
        let (num, _) = self.found.entry(key).or_insert_with(|| (0, detail()));
        *num += 1;
    }

    fn conclude(&self) {
        let (num_asked, num_refused) = (self.num_asked, self.num_refused);
        println!("{num_asked} requests, {num_refused} indexes refused");
        for (what, (num, example)) in &self.found {
            println!("{num} × {what}: {example}\n");
        }
        assert!(self.found.is_empty(), "answers differ from the scan's");
        assert!(num_asked > 0);
    }
}

/// An index with what is true of it.
struct Bench {
    index: Index,
    /// All fields with the path of their source.
    fields: Vec<(Field, String)>,
    /// The numbers of the accepted documents, and their values by field.
    numbers: Vec<usize>,
    documents: Vec<Value>,
    values: Vec<Values>,
    seed: u64,
}

fn number(variable: &str, default: usize) -> usize {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn all_fields(fields: &[Field]) -> Vec<(Field, String)> {
    let all = fields.iter().flat_map(|field| {
        let own = field.all().cloned();
        own.map(|other| (other, field.path.clone()))
    });
    all.collect()
}

impl Bench {
    fn drawn(seed: u64, engine: Arc<dyn Engine>, findings: &mut Findings) -> Option<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let fields = fields::drawn(&mut rng);
        let mapping = fields::mapping(&mut rng, &fields);
        let documents = (0..NUM_DOCUMENTS).map(|n| documents::drawn(&mut rng, &fields, n));
        let documents: Vec<Value> = documents.collect();
        let num_parts = rng.random_range(1..4);
        let index = match Index::of(engine, &mapping, &documents, num_parts) {
            Ok(index) => index,
            Err(why) => {
                findings.num_refused += 1;
                println!("seed {seed}: {why}");
                return None;
            }
        };
        let all = all_fields(&fields);
        let mut bench = Self {
            index,
            fields: all,
            numbers: Vec::new(),
            documents: Vec::new(),
            values: Vec::new(),
            seed,
        };
        bench.values.resize(bench.fields.len(), Values::new());
        for (n, document) in documents.iter().enumerate() {
            bench.accept(n, document, findings);
        }
        Some(bench)
    }

    /// Takes a document that the index accepted, and compares whether it should have.
    fn accept(&mut self, n: usize, document: &Value, findings: &mut Findings) {
        let mut wrong = None;
        let mut values = Vec::new();
        for (field, source) in &self.fields {
            match truth::values(field, source, document) {
                Ok(own) => values.push(own),
                Err(truth::Malformed) => {
                    wrong.get_or_insert((field, source));
                }
            }
        }
        let seed = self.seed;
        match (wrong, &self.index.refusals[n]) {
            (None, None) => {
                self.numbers.push(n);
                self.documents.push(document.clone());
                for (all, own) in self.values.iter_mut().zip(values) {
                    all.push(own);
                }
            }
            (Some(_), Some(_)) => {}
            (None, Some(why)) => {
                let of = self
                    .fields
                    .iter()
                    .find(|(field, _)| why.contains(&field.path));
                let kind = of.map_or(Kind::Text, |(field, _)| field.kind.clone());
                findings.add("refused document", &kind, || {
                    format!("seed {seed}: {why}: {document}")
                });
            }
            (Some((field, source)), None) => {
                let definition = field.definition();
                findings.add("accepted document", &field.kind, || {
                    let given = truth::given(document, source);
                    format!("seed {seed}: {} {definition}: {given:?}", field.path)
                });
            }
        }
    }

    /// The numbers of the hits, or the error.
    fn found(&self, query: &Value) -> Result<BTreeSet<usize>, String> {
        let (status, answer) = self
            .index
            .search(&json!({"query": query, "size": NUM_DOCUMENTS}));
        let Some(hits) = answer["hits"]["hits"].as_array().filter(|_| status == 200) else {
            return Err(answer.to_string());
        };
        let number = |hit: &Value| hit["_source"]["n"].as_u64().unwrap() as usize;
        Ok(hits.iter().map(number).collect())
    }

    fn expected(&self, finds: &[bool]) -> BTreeSet<usize> {
        let known: BTreeSet<usize> = self.numbers.iter().copied().collect();
        let numbers = self.numbers.iter().zip(finds);
        let found = numbers.filter(|(_, finds)| **finds);
        found
            .map(|(n, _)| *n)
            .filter(|n| known.contains(n))
            .collect()
    }

    /// What differs among the documents that both know.
    fn compare(&self, nth: usize, asked: &Asked, what: &str, findings: &mut Findings) {
        findings.num_asked += 1;
        let (field, source) = &self.fields[nth];
        let seed = self.seed;
        let found = match self.found(&asked.query) {
            Ok(found) => found,
            Err(why) => {
                return findings.add("refused query", &field.kind, || {
                    format!("seed {seed}: {} {}: {why}", field.definition(), asked.query)
                });
            }
        };
        let known: BTreeSet<usize> = self.numbers.iter().copied().collect();
        let expected = self.expected(&asked.finds);
        let differ = |n: &&usize| known.contains(n) && found.contains(n) != expected.contains(n);
        let mut differing = known.iter().filter(differ);
        if let Some(n) = differing.next() {
            let place = self.numbers.iter().position(|own| own == n).unwrap();
            findings.add(what, &field.kind, || {
                format!(
                    "seed {seed}: {} {}: {} finds document {n}: {}, with {:?}",
                    field.path,
                    field.definition(),
                    asked.query,
                    found.contains(n),
                    truth::given(&self.documents[place], source),
                )
            });
        }
    }

    fn ask_queries(&self, rng: &mut ChaCha8Rng, findings: &mut Findings) {
        let mut all: Vec<Asked> = Vec::new();
        for nth in 0..self.fields.len() {
            let (field, _) = &self.fields[nth];
            for _ in 0..NUM_QUERIES {
                let drawn = requests::drawn(rng, field, &self.values[nth]);
                let Some(asked) = drawn.filter(|_| field.is_indexed || field.has_column) else {
                    continue;
                };
                let what = asked.query.as_object().unwrap().keys().next().unwrap();
                self.compare(nth, &asked, what, findings);
                all.push(asked);
            }
        }
        for _ in 0..NUM_QUERIES {
            let parts: Vec<&Asked> = all.sample(rng, 3).collect();
            if let [one, two, three] = parts.as_slice() {
                let query = json!({"bool": {
                    "should": [one.query, two.query], "must_not": [three.query],
                }});
                let finds = 0..self.numbers.len();
                let finds = finds.map(|n| (one.finds[n] || two.finds[n]) && !three.finds[n]);
                let finds = finds.collect();
                self.compare(0, &Asked { query, finds }, "bool", findings);
            }
        }
    }
}

/// What hits show, their order, and aggregations.
impl Bench {
    fn ask_shown(&self, findings: &mut Findings) {
        let names: Vec<&str> = self
            .fields
            .iter()
            .map(|(own, _)| own.path.as_str())
            .collect();
        let columns = self.fields.iter().filter(|(own, _)| own.has_column);
        let columns: Vec<&str> = columns.map(|(own, _)| own.path.as_str()).collect();
        for (key, names) in [("fields", names), ("docvalue_fields", columns)] {
            findings.num_asked += 1;
            let body = json!({key: names, "size": NUM_DOCUMENTS});
            let (_, answer) = self.index.search(&body);
            let Some(hits) = answer["hits"]["hits"].as_array() else {
                findings.add(key, &Kind::Text, || format!("seed {}: {answer}", self.seed));
                continue;
            };
            for hit in hits {
                self.compare_shown(key, hit, findings);
            }
        }
    }

    fn compare_shown(&self, key: &str, hit: &Value, findings: &mut Findings) {
        let n = hit["_source"]["n"].as_u64().unwrap() as usize;
        let Some(place) = self.numbers.iter().position(|own| *own == n) else {
            return;
        };
        for (nth, (field, source)) in self.fields.iter().enumerate() {
            // Copies are not shown here.
            if (key == "docvalue_fields" && !field.has_column) || !field.sources.is_empty() {
                continue;
            }
            let own = &self.values[nth][place];
            let own = match key {
                "fields" => own.clone(),
                _ => shown::in_columns(own),
            };
            let expected: Vec<Value> = own.iter().map(|own| shown::of_field(field, own)).collect();
            let found = hit["fields"][&field.path].as_array().cloned();
            let found = found.unwrap_or_default();
            let pairs = expected.iter().zip(&found);
            let is_same = expected.len() == found.len() && { pairs }
                .all(|(expected, found)| shown::is_shown(field, expected, found));
            if !is_same {
                findings.add(key, &field.kind, || {
                    let given = truth::given(&self.documents[place], source);
                    format!(
                        "seed {}: {} {}: {given:?} is {expected:?} and not {found:?}",
                        self.seed,
                        field.path,
                        field.definition()
                    )
                });
            }
        }
        let ignored = self
            .fields
            .iter()
            .filter(|(field, source)| truth::ignores(field, source, &self.documents[place]));
        let ignored: BTreeSet<&str> = ignored.map(|(own, _)| own.path.as_str()).collect();
        let found = hit["_ignored"].as_array().into_iter().flatten();
        let found: BTreeSet<&str> = found.filter_map(Value::as_str).collect();
        if ignored != found && key == "fields" {
            let name = ignored.symmetric_difference(&found).next().unwrap();
            let of = self.fields.iter().find(|(own, _)| own.path == **name);
            findings.add(
                "_ignored",
                &of.map_or(Kind::Text, |(own, _)| own.kind.clone()),
                || {
                    let document = &self.documents[place];
                    format!("seed {}: {ignored:?}, not {found:?}: {document}", self.seed)
                },
            );
        }
    }

    fn ask_orders(&self, findings: &mut Findings) {
        for (nth, (field, _)) in self.fields.iter().enumerate() {
            if !field.has_column || field.kind == Kind::Text {
                continue;
            }
            for order in ["asc", "desc"] {
                findings.num_asked += 1;
                let body = json!({"sort": [{&field.path: order}], "size": NUM_DOCUMENTS});
                let (_, answer) = self.index.search(&body);
                let wrong = self.wrong_order(nth, order, &answer);
                if let Some(wrong) = wrong {
                    findings.add("sort", &field.kind, || {
                        let definition = field.definition();
                        format!("seed {}: {definition} {body}: {wrong}", self.seed)
                    });
                }
            }
        }
    }

    fn wrong_order(&self, nth: usize, order: &str, answer: &Value) -> Option<String> {
        let (field, _) = &self.fields[nth];
        let Some(hits) = answer["hits"]["hits"].as_array() else {
            return Some(answer.to_string());
        };
        let mut last: Option<Option<Own>> = None;
        for hit in hits {
            let n = hit["_source"]["n"].as_u64().unwrap() as usize;
            let Some(place) = self.numbers.iter().position(|own| *own == n) else {
                continue;
            };
            let own = shown::in_columns(&self.values[nth][place]);
            let key = if order == "asc" {
                own.first()
            } else {
                own.last()
            }
            .cloned();
            let expected = key.as_ref().map_or(Value::Null, |own| match own {
                Own::Date(ns) if matches!(field.kind, Kind::Date(_)) => {
                    json!(ns.div_euclid(1_000_000) as i64)
                }
                Own::Date(ns) => json!(*ns as i64),
                own => shown::of_field(field, own),
            });
            if !shown::is_shown(field, &expected, &hit["sort"][0]) {
                return Some(format!(
                    "document {n} has {expected} and not {}",
                    hit["sort"]
                ));
            }
            if let Some(last) = last {
                let is_right = match (&last, &key) {
                    (_, None) => true,
                    (None, Some(_)) => false,
                    (Some(last), Some(key)) if order == "asc" => last.order(key).is_le(),
                    (Some(last), Some(key)) => last.order(key).is_ge(),
                };
                if !is_right {
                    return Some(format!("document {n} with {key:?} is behind {last:?}"));
                }
            }
            last = Some(key);
        }
        None
    }

    fn ask_aggregations(&self, findings: &mut Findings) {
        for (nth, (field, _)) in self.fields.iter().enumerate() {
            if !field.has_column || field.kind == Kind::Text {
                continue;
            }
            findings.num_asked += 1;
            let own = json!({"field": field.path});
            let mut wanted = json!({
                "count": {"value_count": own}, "distinct": {"cardinality": own},
                "missing": {"missing": own}, "terms": {"terms": {"field": field.path, "size": 1000}},
            });
            if field.kind.is_number() {
                wanted["stats"] = json!({"stats": own});
            }
            // Documents that only one of both knows are left out.
            let query = json!({"terms": {"n": self.numbers}});
            let body = json!({"size": 0, "query": query, "aggs": wanted});
            let (_, answer) = self.index.search(&body);
            if let Some(wrong) = self.wrong_aggregations(nth, &answer["aggregations"]) {
                findings.add("aggregations", &field.kind, || {
                    let definition = field.definition();
                    format!(
                        "seed {}: {} {definition}: {wrong}: {answer}",
                        self.seed, field.path
                    )
                });
            }
        }
    }

    fn wrong_aggregations(&self, nth: usize, answer: &Value) -> Option<String> {
        let (field, _) = &self.fields[nth];
        let all: Vec<Vec<Own>> = self.values[nth]
            .iter()
            .map(|own| shown::in_columns(own))
            .collect();
        let count: usize = all.iter().map(Vec::len).sum();
        if answer["count"]["value"] != json!(count) {
            return Some(format!("value_count is {count}"));
        }
        let missing = all.iter().filter(|own| own.is_empty()).count();
        if answer["missing"]["doc_count"] != json!(missing) {
            return Some(format!("missing is {missing}"));
        }
        let mut buckets: Vec<(Own, usize)> = Vec::new();
        for own in &all {
            let mut own = own.clone();
            own.dedup();
            for value in own {
                match buckets.iter_mut().find(|(key, _)| *key == value) {
                    Some((_, num)) => *num += 1,
                    None => buckets.push((value, 1)),
                }
            }
        }
        if answer["distinct"]["value"] != json!(buckets.len()) {
            return Some(format!("cardinality is {}", buckets.len()));
        }
        if field.kind == Kind::DateNanos {
            // Keys of nanoseconds are milliseconds with a fraction here.
            return None;
        }
        let found = answer["terms"]["buckets"].as_array()?.iter();
        let found: BTreeSet<String> = found
            .map(|own| key_of(&own["key"], &own["doc_count"]))
            .collect();
        let expected = buckets.iter().map(|(own, num)| {
            let key = match own {
                Own::Bool(flag) => json!(u8::from(*flag)),
                Own::Date(ns) => json!(ns.div_euclid(1_000_000) as i64),
                own => shown::of_field(field, own),
            };
            key_of(&key, &json!(num))
        });
        let expected: BTreeSet<String> = expected.collect();
        if found != expected {
            let first = found.symmetric_difference(&expected).next();
            return Some(format!("buckets differ in {first:?}"));
        }
        if field.kind.is_number() && count > 0 {
            let numbers = all.iter().flatten().map(|own| match own {
                Own::Integer(number) => *number as f64,
                Own::Float(number) => *number,
                _ => f64::NAN,
            });
            let numbers: Vec<f64> = numbers.collect();
            let sum: f64 = numbers.iter().sum();
            let most = numbers
                .iter()
                .fold(0.0_f64, |most, own| most.max(own.abs()));
            let found = answer["stats"]["sum"].as_f64().unwrap_or(f64::NAN);
            if (found - sum).abs() > most * 1e-12 || found.is_nan() {
                return Some(format!("sum is {sum}"));
            }
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            if answer["stats"]["min"].as_f64() != Some(least) {
                return Some(format!("min is {least}"));
            }
        }
        None
    }
}

fn key_of(key: &Value, num: &Value) -> String {
    match (key.as_i64(), key.as_f64()) {
        (None, Some(float)) => format!("{float} {num}"),
        _ => format!("{key} {num}").replace(".0 ", " "),
    }
}

fn run(engine: &Arc<dyn Engine>, first_seed: u64, num: usize) {
    let mut findings = Findings::default();
    for seed in (first_seed..).take(num) {
        let Some(bench) = Bench::drawn(seed, Arc::clone(engine), &mut findings) else {
            continue;
        };
        let mut rng = ChaCha8Rng::seed_from_u64(!seed);
        bench.ask_queries(&mut rng, &mut findings);
        bench.ask_shown(&mut findings);
        bench.ask_orders(&mut findings);
        bench.ask_aggregations(&mut findings);
    }
    findings.conclude();
}

#[test]
fn drawn_mappings_are_answered_as_a_scan_says() {
    let seed = number("CANTER_MAPPINGS_SEED", 1) as u64;
    let engine: Arc<dyn Engine> = Arc::new(NativeEngine::new());
    run(
        &engine,
        seed,
        number("CANTER_MAPPINGS", usual_or_full(5, 12)),
    );
}

#[test]
fn drawn_mappings_are_answered_by_wasm_as_a_scan_says() {
    let engine = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(engine);
    run(&engine, 1000, 1);
}
