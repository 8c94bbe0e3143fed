//! Suggested configs for inputs: every record becomes a document with the right times and types, a word without a field
//! finds something, and a histogram over time counts everything.

use std::io::Cursor;
use std::sync::Arc;

use canter_doc_mapper::IndexConfig;
use canter_formats::Format;
use canter_index_builder::{IngestOptions, Source, Suggestion, sample, suggest};
use canter_runtime::engine::NativeEngine;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_samples::{LAYOUTS, sample as sample_of};
use canter_tests::TestIndex;
use serde_json::{Value, json};

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";
const NUM_DOCS: u64 = 40;

fn options() -> IngestOptions {
    IngestOptions {
        // 2024-07-01.
        ingested_at_ms: 1_719_792_000_000,
        ..IngestOptions::default()
    }
}

fn source(bytes: &[u8]) -> Source {
    Source::reader("sample", Cursor::new(bytes.to_vec())).with_id("sample")
}

/// Returns an index of an input, with the config that suits it.
pub(super) fn index_of(bytes: &[u8]) -> (Suggestion, TestIndex) {
    let any = IndexConfig::from_yaml(ANY, |_| None).unwrap();
    let sampled = sample(&any, &options(), vec![source(bytes)], 1_000).unwrap();
    let suggestion = suggest(&sampled.samples, "suggested", Some(bytes.len() as u64));
    let index = TestIndex::of_sources(&suggestion.yaml, sampled.sources, &options());
    let index = index.unwrap_or_else(|error| panic!("{error}\n{}", suggestion.yaml));
    (suggestion, index)
}

/// Checks that an index contains the whole input, that a histogram counts all of it, and that words find something.
fn check(
    name: &str,
    bytes: &[u8],
    num_docs: u64,
    timestamp: Option<&str>,
    words: &[&str],
) -> TestIndex {
    let (suggestion, index) = index_of(bytes);
    let yaml = &suggestion.yaml;
    let report = &index.report;
    assert_eq!(
        report.num_rejected_docs, 0,
        "{name}: {:?}\n{yaml}",
        report.rejects_by_reason
    );
    assert_eq!(
        report.num_kept_docs, 0,
        "{name}: {:?}\n{yaml}",
        report.kept_by_reason
    );
    assert_eq!(report.num_ingested_docs, num_docs, "{name}\n{yaml}");
    assert_eq!(
        suggestion.timestamp_field.as_deref(),
        timestamp,
        "{name}\n{yaml}"
    );
    if let Some(field) = timestamp {
        let answer = index.search(&json!({"query": "*", "max_hits": 0, "aggs": {
            "times": {"date_histogram": {"field": field, "fixed_interval": "1h"}},
        }}));
        let answer = answer.unwrap().json;
        let buckets = answer["aggregations"]["times"]["buckets"]
            .as_array()
            .unwrap();
        let num: u64 = buckets
            .iter()
            .map(|bucket| bucket["doc_count"].as_u64().unwrap())
            .sum();
        assert_eq!(num, num_docs, "{name}: {answer}\n{yaml}");
        // After 2000, not in 1970.
        let first = buckets[0]["key"].as_f64().unwrap();
        assert!(first > 946_684_800_000.0, "{name}: {answer}\n{yaml}");
    }
    for word in words {
        let answer = index.search(&json!({"query": word})).unwrap().json;
        assert!(
            answer["num_hits"].as_u64().unwrap() > 0,
            "{name}: {word}\n{yaml}"
        );
    }
    index
}

#[test]
fn every_sample_is_indexed_whole_by_its_times() {
    for format in LAYOUTS {
        let made = sample_of(format, 120, 3);
        let timestamp = match format {
            Format::CloudTrail => Some("eventTime"),
            Format::OtlpJson => Some("timestamp_nanos"),
            Format::VpcFlow => Some("start"),
            Format::Plain => None,
            _ => made.docs[0].as_object().and_then(|doc| {
                let times = ["timestamp", "@timestamp", "time", "ts"];
                times.into_iter().find(|name| doc.contains_key(*name))
            }),
        };
        check(&format.to_string(), &made.bytes, 120, timestamp, &[]);
    }
}

fn lines(doc: impl Fn(u64) -> Value) -> Vec<u8> {
    let lines: String = (0..NUM_DOCS).map(|n| format!("{}\n", doc(n))).collect();
    lines.into_bytes()
}

/// Returns the time `n` seconds after 2024-05-01T10:00:00Z.
fn at(n: u64) -> String {
    format!("2024-05-01T10:00:{:02}Z", n % 60)
}

/// <https://docs.aws.amazon.com/waf/latest/developerguide/logging-examples.html>
fn waf(n: u64) -> Value {
    json!({
        "timestamp": 1_714_557_600_123_u64 + n * 1_000, "formatVersion": 1, "webaclId": "arn:aws:wafv2:eu-west-1:1:regional",
        "terminatingRuleId": "Default_Action", "terminatingRuleMatchDetails": [], "action": "ALLOW",
        "ruleGroupList": [{"ruleGroupId": "AWS#Common", "terminatingRule": null, "nonTerminatingMatchingRules": []}],
        "httpRequest": {
            "clientIp": format!("10.0.0.{n}"), "country": "DE", "uri": "/login", "args": "", "httpVersion": "HTTP/2.0",
            "headers": [{"name": "Host", "value": "shop.example"}, {"name": "User-Agent", "value": "curl/8.5"}],
        },
        "labels": [{"name": "awswaf:managed:token:absent"}],
    })
}

/// <https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-query-logs-format.html>
fn route53(n: u64) -> Value {
    json!({
        "version": "1.100000", "account_id": "123456789012", "region": "eu-west-1", "vpc_id": "vpc-0a1b",
        "query_timestamp": at(n), "query_name": "shop.example.", "query_type": "A", "query_class": "IN", "rcode": "NOERROR",
        "answers": [{"Rdata": "10.0.0.1", "Type": "A", "Class": "IN"}], "srcaddr": "10.0.0.7", "srcport": "40000",
        "transport": "UDP", "srcids": {"instance": "i-0c2d"},
    })
}

/// <https://docs.github.com/en/rest/using-the-rest-api/github-event-types>
fn github(n: u64) -> Value {
    let payload = match n % 2 {
        0 => {
            json!({"push_id": n, "size": 1, "commits": [{"sha": "6dcb", "message": "Mend the gate", "distinct": true}]})
        }
        _ => {
            json!({"action": "opened", "issue": {"number": n, "labels": [{"name": "bug"}], "assignee": null, "body": ""}})
        }
    };
    json!({
        "id": (22_249_084_947_u64 + n).to_string(), "type": if n.is_multiple_of(2) { "PushEvent" } else { "IssuesEvent" },
        "actor": {"id": 583_231, "login": "octocat"}, "repo": {"id": 1_296_269, "name": "octocat/Hello-World"},
        "payload": payload, "public": true, "created_at": at(n),
    })
}

/// <https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html>
fn cloudtrail(n: u64) -> Value {
    json!({
        "eventVersion": "1.08", "eventTime": at(n), "eventSource": "s3.amazonaws.com", "eventName": "GetObject",
        "resources": [{"type": "AWS::S3::Object", "ARN": "arn:aws:s3:::logs/a"}, {"accountId": "1", "type": "AWS::S3::Bucket"}],
        "requestParameters": {"bucketName": "logs", "key": "a"}, "responseElements": null, "additionalEventData": {},
        "tlsDetails": {"tlsVersion": "TLSv1.3"}, "userIdentity": {"type": "AWSAccount", "invokedBy": "inspector"},
    })
}

#[test]
fn lists_of_objects_are_indexed_with_the_rest() {
    check(
        "waf",
        &lines(waf),
        NUM_DOCS,
        Some("timestamp"),
        &["ALLOW", "curl/8.5", "absent"],
    );
    check(
        "route 53",
        &lines(route53),
        NUM_DOCS,
        Some("query_timestamp"),
        &["shop.example.", "NOERROR"],
    );
    check(
        "github",
        &lines(github),
        NUM_DOCS,
        Some("created_at"),
        &["gate", "PushEvent"],
    );
    check(
        "cloudtrail",
        &lines(cloudtrail),
        NUM_DOCS,
        Some("eventTime"),
        &["GetObject", "inspector"],
    );
    // Firehose writes objects without anything between them.
    let firehose: String = (0..NUM_DOCS).map(|n| waf(n).to_string()).collect();
    let index = check(
        "firehose",
        firehose.as_bytes(),
        NUM_DOCS,
        Some("timestamp"),
        &["curl/8.5"],
    );
    let found = index
        .search(&json!({"query": "httpRequest.headers.value:curl*"}))
        .unwrap()
        .json;
    assert_eq!(found["num_hits"], NUM_DOCS);
}

#[test]
fn names_that_no_config_would_have_are_fields_like_others() {
    let mut csv = "Start Time,User Agent,Größe (kB),状態,x (0)\n".to_string();
    for n in 0..NUM_DOCS {
        csv.push_str(&format!(
            "{},Mozilla/5.0 on a {n},{n},使用中,a{}\n",
            at(n),
            n % 3
        ));
    }
    let index = check(
        "csv",
        csv.as_bytes(),
        NUM_DOCS,
        Some("Start Time"),
        &["mozilla", "a1"],
    );
    for (query, num_hits) in [
        (r"Größe\ \(kB\):7", 1),
        (r"Größe\ \(kB\):>=38", 2),
        (r"状態:使用中", NUM_DOCS),
        (r"x\ \(0\):a0", 14),
        (r"Start\ Time:>=2024-05-01T10:00:39Z", 1),
        (r#"User\ Agent:"on a 12""#, 1),
    ] {
        let found = index.search(&json!({"query": query})).unwrap().json;
        assert_eq!(found["num_hits"], num_hits, "{query}");
    }
    let request = json!({"query": "*", "max_hits": 0, "aggs": {
        "states": {"terms": {"field": "状態"}}, "sum": {"sum": {"field": "Größe (kB)"}},
    }});
    let answer = index.search(&request).unwrap().json["aggregations"].clone();
    assert_eq!(answer["states"]["buckets"][0]["doc_count"], NUM_DOCS);
    assert_eq!(answer["sum"]["value"], 780.0);
}

#[test]
fn records_without_a_usable_time_have_that_of_their_neighbours() {
    let never = ["", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"];
    let doc = |n: u64| {
        let time = match n % 10 {
            5..8 => never[(n % 10 - 5) as usize].to_string(),
            _ => at(n),
        };
        let mut doc = json!({"time": time, "deleted_at": (never[n as usize % 3]), "msg": "request completed", "n": n});
        if n == 33 {
            doc.as_object_mut().unwrap().shift_remove("time");
        }
        doc
    };
    let index = check("times", &lines(doc), NUM_DOCS, Some("time"), &["completed"]);
    // Document 4, and documents 5 to 7, which have no time of their own.
    let request = json!({"query": r#"time:"2024-05-01T10:00:04Z""#, "sort_by": "-n"});
    let found = index.search(&request).unwrap().json;
    let numbers: Vec<u64> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [4, 5, 6, 7]);
    // Hits show the original values.
    assert_eq!(found["hits"][1]["time"], "");
    assert_eq!(found["hits"][2]["time"], "0001-01-01T00:00:00Z");
    let found = index.search(&json!({"query": "n:33"})).unwrap().json;
    assert_eq!(found["hits"][0]["time"], "2024-05-01T10:00:32Z");
}

/// Sends a request as Elasticsearch's clients do.
pub(crate) fn ask(index: &TestIndex, body: &Value) -> Value {
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .index_from("suggested", Arc::new(index.fetcher()), "suggested")
        .and_then(|builder| builder.build())
        .unwrap();
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/suggested/_search".to_owned(),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (caller, limits) = (Caller::default(), Limits::default());
    let answer = searcher.http(request, &caller, &limits);
    let answer = runtime.block_on(answer).response.body;
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn numbers_in_columns_alone_answer_every_kind_of_query() {
    const STATUS: [u64; 3] = [200, 404, 500];
    let doc = |n: u64| {
        json!({
            "time": at(n), "status": STATUS[n as usize % 3], "took": n as f64 / 4.0, "delta": 7 - n as i64,
            "msg": "request completed", "sizes": [n, n + 1],
        })
    };
    let index = check(
        "numbers",
        &lines(doc),
        NUM_DOCS,
        Some("time"),
        &["completed"],
    );
    let num = |request: Value| {
        index.search(&request).unwrap().json["num_hits"]
            .as_u64()
            .unwrap()
    };
    for (query, expect) in [
        ("status:404", 13),
        ("status:404.0", 13),
        ("status:(404 OR 500)", 26),
        ("status: IN [404 500]", 26),
        ("NOT status:404", 27),
        ("status:[400 TO 499]", 13),
        ("status:>404", 13),
        ("status:*", NUM_DOCS),
        ("took:0.25", 1),
        ("took:>=9.5", 2),
        ("delta:-1", 1),
        ("delta:<0", 32),
        ("sizes:1", 2),
        ("status:404 AND completed", 13),
        ("status:12345", 0),
    ] {
        assert_eq!(num(json!({"query": query})), expect, "{query}");
    }
    for (query, expect) in [
        (json!({"term": {"status": 404}}), 13),
        (json!({"term": {"status": {"value": "404"}}}), 13),
        (json!({"terms": {"status": [404, 500, 501]}}), 26),
        (json!({"match": {"status": "404"}}), 13),
        (json!({"range": {"took": {"gte": 9.5}}}), 2),
        (json!({"exists": {"field": "took"}}), NUM_DOCS),
        (
            json!({"multi_match": {"query": "404", "fields": ["status", "msg"]}}),
            13,
        ),
        (
            json!({"multi_match": {"query": "404", "fields": ["*"], "lenient": true}}),
            13,
        ),
        (
            json!({"bool": {"must_not": [{"term": {"status": 200}}]}}),
            26,
        ),
    ] {
        let body = json!({"query": query, "size": 0, "track_total_hits": true});
        let answer = ask(&index, &body);
        assert_eq!(
            answer["hits"]["total"]["value"], expect,
            "{query}: {answer}"
        );
    }
    let request = json!({"query": "status:404", "max_hits": 0, "aggs": {
        "by": {"terms": {"field": "status"}}, "few": {"filter": {"term": {"status": 404}}},
        "none": {"filter": {"term": {"status": 200}}},
    }});
    let answer = index.search(&request).unwrap().json["aggregations"].clone();
    assert_eq!(answer["by"]["buckets"][0]["key"].as_f64(), Some(404.0));
    assert_eq!(
        (&answer["few"]["doc_count"], &answer["none"]["doc_count"]),
        (&json!(13), &json!(0))
    );
}

#[test]
fn columns_of_numbers_with_few_digits_are_exact_and_short() {
    const NUM: i64 = 20_000;
    let lon = |n: i64| (n * 7_919_999 % 36_000_000 - 18_000_000) as f64 / 1e5;
    let mut text = String::new();
    for n in 0..NUM {
        text += &format!(
            "{}\n",
            json!({"place": format!("place {}", n % 7), "lon": lon(n)})
        );
    }
    // One that nearly all others have more than: the columns of these say so.
    text += "{\"place\": \"nowhere\"}\n";
    let (suggestion, index) = index_of(text.as_bytes());
    assert!(
        suggestion.yaml.contains("\"lon\", type: f64"),
        "{}",
        suggestion.yaml
    );
    let of_scan = |is_it: &dyn Fn(f64) -> bool| (0..NUM).filter(|n| is_it(lon(*n))).count();
    for (query, expect) in [
        ("lon:<0", of_scan(&|lon| lon < 0.0)),
        (
            "lon:[12.5 TO 13.25]",
            of_scan(&|lon| (12.5..=13.25).contains(&lon)),
        ),
        ("lon:*", NUM as usize),
        ("NOT lon:*", 1),
    ] {
        let found = index.search(&json!({"query": query})).unwrap().json;
        assert_eq!(found["num_hits"], expect, "{query}");
    }
    // Each is found by the digits with which it was written.
    for n in [0, 1, 7, 4_711, NUM - 1] {
        let query = format!("lon:\"{}\"", lon(n));
        let expect = of_scan(&|other| other.to_bits() == lon(n).to_bits());
        let found = index.search(&json!({"query": query})).unwrap().json;
        assert_eq!(found["num_hits"], expect, "{query}");
    }
    let request = json!({"query": "*", "max_hits": 3, "sort_by": "lon", "aggs": {
        "least": {"min": {"field": "lon"}}, "most": {"max": {"field": "lon"}},
    }});
    let answer = index.search(&request).unwrap().json;
    let least = (0..NUM).map(lon).fold(f64::MAX, f64::min);
    let most = (0..NUM).map(lon).fold(f64::MIN, f64::max);
    assert_eq!(answer["aggregations"]["least"]["value"], least);
    assert_eq!(answer["aggregations"]["most"]["value"], most);
    // 26 bits of digits take less than half of 64.
    let share = index.report.num_split_bytes * 100 / index.report.num_raw_bytes;
    assert!(share < 20, "{share} %");
}

#[test]
fn a_line_that_is_its_time_and_a_message_is_given_back_as_it_is() {
    let line = |n: u64| format!("2024-05-01 10:00:{:02},123 nothing but words {n}", n % 60);
    let text: String = (0..NUM_DOCS).map(|n| line(n) + "\n").collect();
    let index = check(
        "lines",
        text.as_bytes(),
        NUM_DOCS,
        Some("timestamp"),
        &["words"],
    );
    let found = index
        .search(&json!({"query": "*", "max_hits": NUM_DOCS}))
        .unwrap()
        .json;
    let hits = found["hits"].as_array().unwrap();
    let part = |hit: &Value, name: &str| hit[name].as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = hits
        .iter()
        .map(|hit| part(hit, "head") + &part(hit, "message"))
        .collect();
    let mut expect: Vec<String> = (0..NUM_DOCS).map(line).collect();
    lines.sort();
    expect.sort();
    assert_eq!(lines, expect);
}
