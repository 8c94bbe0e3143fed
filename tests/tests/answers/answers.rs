//! Equality of the answers of wasm, native and plain tantivy in RAM, with supplies that arrive in
//! any order.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_tests::{
    CATALOGUE_CONFIG, Oracle, TestIndex, catalogue, hdfs_lines, normalised, run_divided,
    usual_or_full,
};
use serde_json::{Value, json};

const HDFS_CONFIG: &str = canter_samples::HDFS_LOGS_YAML;

/// Index with its oracle and both engines.
struct Bench {
    index: TestIndex,
    oracle: Oracle,
    engines: Vec<(&'static str, Arc<dyn Engine>)>,
    problems: RefCell<Vec<String>>,
}

impl Bench {
    fn new(config: &str, lines: &[String], split_num_docs: u32) -> Self {
        let index = TestIndex::build(config, lines, split_num_docs.into()).unwrap();
        let oracle = Oracle::build(config, lines).unwrap();
        let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
        Self {
            index,
            oracle,
            engines: vec![
                ("native", Arc::new(NativeEngine::new())),
                ("wasm", Arc::new(wasm)),
            ],
            problems: RefCell::default(),
        }
    }

    fn hdfs() -> Self {
        Self::new(HDFS_CONFIG, &hdfs_lines(20_000, 7).unwrap(), 4_500)
    }

    fn catalogue() -> Self {
        Self::new(CATALOGUE_CONFIG, &catalogue(4_000, 11), 900)
    }

    /// Checks that every engine returns the oracle's answer, with any order of supplies and without
    /// warmup gaps.
    fn check(&self, request: &Value) {
        if let Err(problem) = self.compare(request) {
            self.problems
                .borrow_mut()
                .push(format!("{request}: {problem}"));
        }
    }

    fn compare(&self, request: &Value) -> Result<(), String> {
        let expected = self
            .oracle
            .search(request)
            .map_err(|error| format!("oracle: {error}"))?;
        let expected = normalised(&expected);
        let mut asked = request.clone();
        asked.as_object_mut().unwrap().remove("oracle_query");
        asked["profile"] = json!(true);
        let mut texts = Vec::new();
        for (name, engine) in &self.engines {
            // Runs one session for each of several leaves, then one for everything.
            let num_runs = if *name == "native" {
                2
            } else {
                usual_or_full(1, 2)
            };
            for (seed, max_leaves) in [(2, 3), (1, 1)].into_iter().take(num_runs) {
                let searcher = self
                    .index
                    .searcher(Arc::clone(engine), seed, max_leaves)
                    .unwrap();
                let json = run_divided(&searcher, &asked)
                    .map_err(|error| format!("{name}: {error}"))?
                    .json;
                let mut answer = json!({ "hits": json["hits"], "num_hits": json["num_hits"] });
                if request.get("aggs").is_some() {
                    answer["aggregations"] = json["aggregations"].clone();
                }
                texts.push(answer.to_string());
                let sound = json["failed_splits"] == json!([])
                    && json["profile"]["warmup_gaps"] == json!(0);
                if !sound || normalised(&answer) != expected {
                    return Err(format!(
                        "{name}, seed {seed}:\n  failed {}\n  gaps {}\n  got  {}\n  want {}",
                        json["failed_splits"],
                        json["profile"]["warmup_gaps"],
                        shortened(&normalised(&answer)),
                        shortened(&expected),
                    ));
                }
            }
        }
        texts.dedup();
        match texts.len() {
            1 => Ok(()),
            _ => Err("engines or seeds differ in a byte".to_owned()),
        }
    }

    /// Fails with a list of all problems.
    fn finish(self) {
        let problems = self.problems.into_inner();
        assert!(
            problems.is_empty(),
            "{} problems:\n{}",
            problems.len(),
            problems.join("\n")
        );
    }

    fn check_queries(&self, queries: &[&str]) {
        for query in queries {
            self.check(&json!({ "query": query }));
        }
    }

    fn check_aggs(&self, query: &str, aggs: &[Value]) {
        for aggs in aggs {
            self.check(&json!({ "query": query, "max_hits": 0, "aggs": aggs }));
        }
    }
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(700).collect()
}

#[test]
fn log_queries_match_the_oracle() {
    let bench = Bench::hdfs();
    bench.check_queries(&[
        "*",
        "severity_text:ERROR",
        "severity_text:WARN",
        "severity_text:INFO",
        "severity_text:NONE",
        "body:exception",
        "body:block",
        "exception",
        "severity_text:ERROR AND body:exception",
        "severity_text:ERROR OR severity_text:WARN",
        "severity_text:WARN -body:block",
        "severity_text: IN [ERROR WARN]",
        "tenant_id: IN [1 2 3]",
        "tenant_id:17",
        "tenant_id:[10 TO 20]",
        "tenant_id:{10 TO 20}",
        "tenant_id:>=95",
        "tenant_id:<3",
        "tenant_id:[* TO 5]",
        "severity_text:ERROR AND tenant_id:[1 TO 50]",
        "body:\"received block\"",
        "body:\"terminating\"",
        "(severity_text:ERROR OR severity_text:WARN) AND tenant_id:>50",
        "severity_text:[A TO F]",
        "severity_text:*",
        "body:exception^2",
    ]);
    // The grammar has no bare wildcards, so the oracle gets regular expressions.
    for (query, oracle_query) in [
        ("NOT severity_text:INFO", "* -severity_text:INFO"),
        ("severity_text:ERR*", "severity_text:/ERR.*/"),
        ("severity_text:?NFO", "severity_text:/.NFO/"),
        ("body:excep*", "body:/excep.*/"),
        ("body:*ception", "body:/.*ception/"),
        ("body:/rec[aeiou]+ived/", "body:/rec[aeiou]+ived/"),
    ] {
        bench.check(&json!({ "query": query, "oracle_query": oracle_query }));
    }
    bench.check(&json!({ "query": "body:\"received blo\"*" }));
    bench.finish();
}

#[test]
fn orders_pages_and_time_filters_match_the_oracle() {
    let bench = Bench::hdfs();
    let first = bench.index.manifest().unwrap().manifest.splits[0]
        .time_range
        .unwrap();
    let middle = first.end_ns / 1_000_000_000 + 100;
    for sort_by in [
        "timestamp",
        "-timestamp",
        "tenant_id",
        "-tenant_id",
        "-tenant_id,timestamp",
        "severity_text,-timestamp",
        "-severity_text,-tenant_id",
    ] {
        for query in ["*", "severity_text:ERROR", "severity_text:WARN body:block"] {
            bench.check(&json!({ "query": query, "sort_by": sort_by, "max_hits": 7 }));
        }
    }
    for offset in [0, 1, 9, 40, 4_600] {
        bench.check(
            &json!({ "query": "severity_text:ERROR", "start_offset": offset, "max_hits": 5 }),
        );
        bench.check(&json!({ "query": "*", "start_offset": offset, "max_hits": 5 }));
        bench.check(&json!({
            "query": "*", "sort_by": "-timestamp", "start_offset": offset, "max_hits": 5
        }));
    }
    let days = json!({"d": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}}});
    for (start, end) in [
        (Some(middle), None),
        (None, Some(middle)),
        (Some(middle - 86_400), Some(middle + 86_400)),
        (Some(middle), Some(middle + 1)),
        (Some(middle), Some(middle)),
        (Some(0), Some(10)),
    ] {
        let mut request = json!({ "query": "severity_text:WARN", "max_hits": 10, "aggs": days });
        if let Some(start) = start {
            request["start_timestamp"] = json!(start);
        }
        if let Some(end) = end {
            request["end_timestamp"] = json!(end);
        }
        bench.check(&request);
        request["query"] = json!("*");
        bench.check(&request);
    }
    bench.finish();
}

#[test]
fn typed_fields_match_the_oracle() {
    let bench = Bench::catalogue();
    bench.check_queries(&[
        "shoes",
        "running shoes",
        "\"leather shoes\"",
        "title:\"shoes lamp\"~3",
        "code:C-00017",
        "code:[C-00100 TO C-00200]",
        "vendor:acme",
        "vendor:acme OR vendor:dune",
        "vendor: IN [acme ember]",
        "price:>5000",
        "price:[10.25 TO 500]",
        "stock:[-5 TO 0]",
        "stock:-3",
        "views:[1000 TO 90000]",
        "active:true",
        "active:false vendor:cobalt",
        "address:10.0.1.17",
        "address:[10.0.1.0 TO 10.0.1.40]",
        "labels:eco",
        "labels:\"gift wrap\"",
        "labels: IN [new sale]",
        "maker.name:\"maker 3\"",
        "maker.country:JP",
        "attributes.colour:red",
        "attributes.size:[40 TO 45]",
        "attributes.size:41",
        "attributes.deep.ratio:>9",
        "created:[2023-11-14T22:13:20Z TO 2023-11-15T10:00:00Z]",
        "price:* AND -active:true",
        "attributes.colour:*",
        "labels:*",
    ]);
    for (query, oracle_query) in [
        ("digest:0000001a", "digest:\"AAAAGg==\""),
        ("note:\"extra 3\"", "_dynamic.note:\"extra 3\""),
        ("mixed:m7", "_dynamic.mixed:m7"),
        ("mixed:7", "_dynamic.mixed:7"),
        ("mixed:[5 TO 9]", "_dynamic.mixed:[5 TO 9]"),
        ("maker.country:J*", "maker.country:/J.*/"),
        ("vendor:?une", "vendor:/.une/"),
    ] {
        bench.check(&json!({ "query": query, "oracle_query": oracle_query }));
    }
    for sort_by in [
        "price",
        "-price",
        "stock,-price",
        "-vendor,price",
        "active",
        "code",
        "-created",
    ] {
        bench.check(&json!({ "query": "*", "sort_by": sort_by, "max_hits": 25 }));
    }
    for query in [
        "shoes",
        "running leather",
        "shoes OR lamp OR table",
        "\"steel bottle\"",
        // Single terms, with and without lengths and frequencies.
        "title:shoes",
        "vendor:acme",
        "labels:eco",
        "stock:-3",
        "active:true",
        "maker.country:JP",
        "attributes.colour:red",
        "attributes.size:41",
    ] {
        bench.check(&json!({ "query": query, "sort_by": "_score", "max_hits": 25 }));
    }
    bench.finish();
}

#[test]
fn splits_that_overlap_in_time_match_the_oracle() {
    // Deals lines out to splits like cards, so that every split covers nearly the whole time range.
    let mut lines = catalogue(2_400, 13);
    lines.sort_by_key(|line| {
        line.bytes().fold(0u32, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        })
    });
    let bench = Bench::new(CATALOGUE_CONFIG, &lines, 400);
    for query in ["*", "shoes", "vendor:acme", "price:>100", "NOT active:true"] {
        for sort_by in [None, Some("created"), Some("-created")] {
            for offset in [3, 150, 0].into_iter().take(usual_or_full(1, 3)) {
                let mut request = json!({ "query": query, "max_hits": 12, "start_offset": offset });
                if let Some(sort_by) = sort_by {
                    request["sort_by"] = json!(sort_by);
                }
                if query.starts_with("NOT") {
                    request["oracle_query"] = json!("* -active:true");
                }
                bench.check(&request);
                request["aggs"] = json!({"v": {"terms": {"field": "vendor"}}});
                bench.check(&request);
            }
        }
    }
    bench.finish();
}

#[test]
fn log_aggregations_match_the_oracle() {
    let bench = Bench::hdfs();
    let aggs = [
        json!({"events": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
            "aggs": {"log_level": {"terms": {"size": 10, "field": "severity_text",
                "order": {"_count": "desc"}}}}}}),
        json!({"h": {"date_histogram": {"field": "timestamp", "fixed_interval": "1h"}}}),
        json!({"h": {"date_histogram": {"field": "timestamp", "fixed_interval": "7h", "offset": "1h"}}}),
        json!({"h": {"date_histogram": {"field": "timestamp", "fixed_interval": "13m", "min_doc_count": 1}}}),
        json!({"levels": {"terms": {"field": "severity_text"}}}),
        json!({"levels": {"terms": {"field": "severity_text", "size": 1}}}),
        json!({"levels": {"terms": {"field": "severity_text", "order": {"_key": "asc"}}}}),
        json!({"levels": {"terms": {"field": "severity_text"},
            "aggs": {"days": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}}}}}),
        json!({"tenants": {"terms": {"field": "tenant_id", "size": 200, "order": {"_key": "asc"}}}}),
        json!({"t": {"stats": {"field": "tenant_id"}}, "levels": {"terms": {"field": "severity_text"}}}),
        json!({"errors": {"filter": "severity_text:ERROR",
            "aggs": {"tenants": {"avg": {"field": "tenant_id"}}}}}),
    ];
    bench.check_aggs("*", &aggs);
    bench.check_aggs("severity_text:WARN", &aggs);
    bench.check_aggs("body:block AND tenant_id:[3 TO 70]", &aggs);
    bench.finish();
}

#[test]
fn typed_aggregations_match_the_oracle() {
    let bench = Bench::catalogue();
    bench.check_aggs("*", &[
        json!({"p": {"histogram": {"field": "price", "interval": 500}}}),
        json!({"p": {"range": {"field": "price", "ranges": [{"to": 100}, {"from": 100, "to": 5000}, {"from": 5000}]},
            "aggs": {"s": {"avg": {"field": "stock"}}}}}),
        json!({"v": {"terms": {"field": "vendor", "missing": "nobody"}, "aggs": {"p": {"max": {"field": "price"}}}}}),
        json!({"l": {"terms": {"field": "labels", "size": 20}}}),
        json!({"m": {"terms": {"field": "maker.name", "size": 20, "order": {"_key": "asc"}}}}),
        json!({"c": {"terms": {"field": "attributes.colour"}}}),
        json!({"p": {"extended_stats": {"field": "stock"}}}),
        json!({"p": {"value_count": {"field": "stock"}}, "s": {"sum": {"field": "stock"}}}),
        json!({"a": {"terms": {"field": "active"}}}),
        json!({"ip": {"terms": {"field": "address", "size": 2_000, "order": {"_key": "asc"}}}}),
        json!({"mt": {"multi_terms": {"terms": [{"field": "vendor"}, {"field": "active"}], "size": 20}}}),
        json!({"comp": {"composite": {"size": 100, "sources": [
            {"v": {"terms": {"field": "vendor"}}}, {"a": {"terms": {"field": "maker.name"}}}]}}}),
        json!({"s": {"terms": {"field": "attributes.size", "size": 50, "order": {"_key": "asc"}},
            "aggs": {"r": {"stats": {"field": "attributes.deep.ratio"}}}}}),
    ]);
    bench.check_aggs("vendor:acme AND active:true", &[
        json!({"v": {"terms": {"field": "maker.name", "size": 50, "order": {"avg_price": "desc"}},
            "aggs": {"avg_price": {"avg": {"field": "price"}}}}}),
        json!({"d": {"date_histogram": {"field": "created", "fixed_interval": "6h"}}}),
    ]);
    bench.finish();
}

#[test]
fn cardinality_is_estimated_alike_however_documents_are_divided() {
    let lines = catalogue(4_000, 11);
    let code = |line: &String| serde_json::from_str::<Value>(line).unwrap()["code"].to_string();
    let exact = lines.iter().map(code).collect::<BTreeSet<_>>().len() as f64;
    let request = json!({
        "query": "*", "max_hits": 0, "aggs": {"c": {"cardinality": {"field": "code"}}}
    });
    let estimates = [4_000, 1_500, 300].map(|split_num_docs| {
        let index = TestIndex::build(CATALOGUE_CONFIG, &lines, split_num_docs).unwrap();
        let answer = index.search(&request).unwrap().json;
        answer["aggregations"]["c"]["value"].as_f64().unwrap()
    });
    assert!(
        estimates.iter().all(|other| *other == estimates[0]),
        "{estimates:?}"
    );
    // Two standard errors of 2,048 registers.
    let error = (estimates[0] / exact - 1.0).abs();
    assert!(error < 0.046, "{estimates:?} for {exact}");
}

#[test]
fn what_a_field_cannot_do_is_said_by_name() {
    let index = TestIndex::build(HDFS_CONFIG, &hdfs_lines(500, 3).unwrap(), 200).unwrap();
    for (request, expected) in [
        (
            json!({"query": "nosuch.field:1", "max_hits": 1}),
            "the field \"nosuch.field\" does not exist",
        ),
        (
            json!({"query": "resource.service:*"}),
            "whether \"resource.service\" exists cannot be told",
        ),
        (
            json!({"query": "tenant_id:many"}),
            "field \"tenant_id\": \"many\" is not an unsigned integer",
        ),
        (
            json!({"query": "severity_text:\"a b\"~2 AND ("}),
            "query, column 28: the query cannot be parsed",
        ),
        (json!({"query": ""}), "the query is empty"),
        (
            json!({"query": "*", "sort_by": "body"}),
            "sort_by: the field \"body\" is not fast",
        ),
        (
            json!({"query": "*", "sort_by": "a,b,c,d"}),
            "at most 3 sort keys",
        ),
        (
            json!({"query": "*", "aggs": {"x": {"terms": {"field": "body"}}}}),
            "the field \"body\" is not fast",
        ),
        (
            json!({"query": "*", "aggs": {"x": {"nope": {"field": "body"}}}}),
            "aggs.x.nope: ",
        ),
        (
            json!({"query": "*", "max_hits": 20_000}),
            "more than the limit of 10000",
        ),
        (
            json!({"query": "*", "colour": 1}),
            "the parameter \"colour\" is not known",
        ),
        (
            json!({"query": "*", "start_timestamp": 5, "end_timestamp": 4}),
            "is later than",
        ),
        (
            json!({"query": "(".repeat(60)}),
            "nests deeper than the limit of 50",
        ),
    ] {
        let error = index.search(&request).unwrap_err().to_string();
        assert!(error.contains(expected), "{request}: {error}");
    }
}
