//! Requests of Jaeger, Kibana and OpenSearch Dashboards as these programs send them.
//!
//! Jaeger's span storage: jaegertracing/jaeger v1.x, `plugin/storage/es/spanstore/reader.go` (read at commit 4cb42638),
//! `service_operation.go` (17bd1995) and `fixtures/query_02.json`, `plugin/storage/es/dependencystore/storage.go`, whose
//! queries olivere/elastic writes (`from`, `include_lower`). Kibana:
//! elastic/kibana 8.15, `src/plugins/discover` and `src/plugins/data/common/search`, with the parameters of
//! `src/plugins/data/server/search/strategies/ese_search/request_utils` (read at 074ba495). OpenSearch Dashboards:
//! opensearch-project/OpenSearch-Dashboards 2.17, `src/plugins/discover` and `src/plugins/data/common/search/search_source`
//! (read at 01dd7ee7). Written down from their sources.

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

/// Jaeger's mapping of spans, `jaeger-span-8.json`, with the same types.
const SPANS: &str = "
version: 0.9
index_id: jaeger-span
doc_mapping:
  mode: dynamic
  timestamp_field: startTimeMillis
  field_mappings:
    - {name: traceID, type: text, tokenizer: raw, fast: true}
    - {name: spanID, type: text, tokenizer: raw, fast: true}
    - {name: operationName, type: text, tokenizer: raw, fast: true}
    - {name: startTime, type: u64, fast: true}
    - {name: startTimeMillis, type: datetime, fast: true, input_formats: [unix_timestamp], fast_precision: milliseconds}
    - {name: duration, type: u64, fast: true}
    - name: tags
      type: nested
      field_mappings:
        - {name: key, type: text, tokenizer: raw}
        - {name: value, type: text, tokenizer: raw}
        - {name: type, type: text, tokenizer: raw}
    - name: process
      type: object
      field_mappings:
        - {name: serviceName, type: text, tokenizer: raw, fast: true}
        - name: tags
          type: nested
          field_mappings:
            - {name: key, type: text, tokenizer: raw}
            - {name: value, type: text, tokenizer: raw}
            - {name: type, type: text, tokenizer: raw}
    - name: logs
      type: nested
      field_mappings:
        - {name: timestamp, type: u64}
        - name: fields
          type: nested
          field_mappings:
            - {name: key, type: text, tokenizer: raw}
            - {name: value, type: text, tokenizer: raw}
            - {name: type, type: text, tokenizer: raw}
";

const START_MICROS: u64 = 1_714_557_600_000_000;
const NUM_SPANS: u64 = 60;
const SERVICES: [&str; 3] = ["frontend", "driver", "redis"];

fn span(n: u64) -> Value {
    let start = START_MICROS + n * 1_000_000;
    let status = ["200", "404", "500"][usize::try_from(n % 3).unwrap()];
    let tag = |key: &str, value: &str| json!({"key": key, "type": "string", "value": value});
    json!({
        "traceID": format!("trace{}", n / 4), "spanID": format!("s{n}"), "operationName": format!("GET /{}", n % 5),
        "startTime": start, "startTimeMillis": start / 1_000, "duration": n * 100,
        "process": {"serviceName": SERVICES[usize::try_from(n % 4 % 3).unwrap()], "tags": [tag("ip", "10.0.0.1")]},
        "tags": [tag("http.status_code", status), tag("n", "200")],
        "logs": [{"timestamp": start, "fields": [tag("event", if n.is_multiple_of(7) { "retry" } else { "done" })]}],
    })
}

fn spans() -> Searcher {
    let lines: Vec<String> = (0..NUM_SPANS).map(|n| span(n).to_string()).collect();
    named(
        &TestIndex::build(SPANS, &lines, 25).unwrap(),
        "jaeger-span-2024-05-01",
    )
}

fn answered(searcher: &Searcher, path: &str, query: &str, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", path, query, body);
    assert_eq!(status, 200, "{body}: {answer}");
    assert!(answer["_shards"]["failures"].is_null(), "{body}: {answer}");
    answer
}

const SPAN_PATH: &str = "/jaeger-span-*/_search";
const SERVICE_PATH: &str = "/jaeger-service-*/_search";

/// Jaeger's index of services and their operations.
fn services() -> Searcher {
    let config = "
version: 0.9
index_id: jaeger-service
doc_mapping:
  field_mappings:
    - {name: serviceName, type: text, tokenizer: raw, fast: true}
    - {name: operationName, type: text, tokenizer: raw, fast: true}
";
    let lines = (0..NUM_SPANS).map(|n| {
        let span = span(n);
        let pair = json!({"serviceName": span["process"]["serviceName"], "operationName": span["operationName"]});
        pair.to_string()
    });
    let lines: Vec<String> = lines.collect();
    named(
        &TestIndex::build(config, &lines, 25).unwrap(),
        "jaeger-service-2024-05-01",
    )
}

const OPTIONS: &str = "ignore_unavailable=true";

/// `buildTagQuery`: a tag of the span, of its process or of a log.
fn tag_query(key: &str, value: &str) -> Value {
    let nested = |path: &str| {
        json!({"nested": {"path": path, "query": {"bool": {"must": [
            {"match": {format!("{path}.key"): {"query": key}}},
            {"regexp": {format!("{path}.value"): {"value": value}}}]}}}})
    };
    let object = |path: &str| {
        let name = format!("{path}.{}", key.replace('.', "@"));
        json!({"bool": {"must": {"regexp": {name: {"value": value}}}}})
    };
    json!({"bool": {"should": [
        object("tag"), object("process.tag"), nested("tags"), nested("process.tags"), nested("logs.fields")]}})
}

#[test]
fn jaeger_finds_traces_by_service_operation_time_duration_and_tags() {
    let searcher = spans();
    let between = |from: u64, to: u64| {
        json!({"range": {"startTime": {
        "from": from, "include_lower": true, "include_upper": true, "to": to}}})
    };
    let found = |must: Vec<Value>| -> Vec<String> {
        let body = json!({
            "aggregations": {"traceIDs": {
                "aggregations": {"startTime": {"max": {"field": "startTime"}}},
                "terms": {"field": "traceID", "order": [{"startTime": "desc"}], "size": 20}}},
            "query": {"bool": {"must": must}}, "size": 0});
        let answer = answered(&searcher, SPAN_PATH, OPTIONS, &body);
        let buckets = answer["aggregations"]["traceIDs"]["buckets"]
            .as_array()
            .unwrap()
            .iter();
        buckets
            .map(|bucket| bucket["key"].as_str().unwrap().to_owned())
            .collect()
    };
    let expected = |test: &dyn Fn(u64) -> bool| -> Vec<String> {
        let mut traces: Vec<u64> = (0..NUM_SPANS).filter(|n| test(*n)).map(|n| n / 4).collect();
        traces.dedup();
        traces
            .into_iter()
            .rev()
            .take(20)
            .map(|trace| format!("trace{trace}"))
            .collect()
    };
    let all = between(START_MICROS, START_MICROS + 3_600_000_000);
    let service = json!({"match": {"process.serviceName": {"query": "driver"}}});
    assert_eq!(
        found(vec![all.clone(), service.clone()]),
        expected(&|n| n % 4 == 1)
    );
    let operation = json!({"match": {"operationName": {"query": "GET /2"}}});
    assert_eq!(
        found(vec![all.clone(), operation]),
        expected(&|n| n % 5 == 2)
    );
    let early = between(START_MICROS, START_MICROS + 9_000_000);
    assert_eq!(
        found(vec![early, service]),
        expected(&|n| n % 4 == 1 && n < 10)
    );
    let long = json!({"range": {"duration": {"from": 5_000, "include_lower": true, "include_upper": true, "to": 86_400_000_000_u64}}});
    assert_eq!(found(vec![all.clone(), long]), expected(&|n| n >= 50));
    assert_eq!(
        found(vec![all.clone(), tag_query("http.status_code", "500")]),
        expected(&|n| n % 3 == 2)
    );
    // The key and the value are of one tag: every span has a tag with the value 200.
    assert_eq!(
        found(vec![all.clone(), tag_query("http.status_code", "200")]),
        expected(&|n| n.is_multiple_of(3))
    );
    assert_eq!(
        found(vec![all.clone(), tag_query("ip", "10\\.0\\.0\\.1")]),
        expected(&|_| true)
    );
    assert_eq!(
        found(vec![all.clone(), tag_query("event", "re.*")]),
        expected(&|n| n.is_multiple_of(7))
    );
    assert_eq!(
        found(vec![all, tag_query("ip", "500")]),
        Vec::<String>::new()
    );
}

#[test]
fn jaeger_lists_services_and_operations_and_reads_traces() {
    let searcher = spans();
    let services = services();
    let keys = |body: Value, name: &str| -> Vec<String> {
        let answer = answered(&services, SERVICE_PATH, OPTIONS, &body);
        let buckets = answer["aggregations"][name]["buckets"]
            .as_array()
            .unwrap()
            .iter();
        let mut keys: Vec<String> = buckets
            .map(|bucket| bucket["key"].as_str().unwrap().to_owned())
            .collect();
        keys.sort();
        keys
    };
    let distinct = json!({
        "aggregations": {"distinct_services": {"terms": {"field": "serviceName", "size": 10_000}}}, "size": 0});
    assert_eq!(
        keys(distinct, "distinct_services"),
        ["driver", "frontend", "redis"]
    );
    let operations = json!({
        "aggregations": {"distinct_operations": {"terms": {"field": "operationName", "size": 10_000}}},
        "query": {"term": {"serviceName": "redis"}}, "size": 0});
    assert_eq!(keys(operations, "distinct_operations").len(), 5);
    // `multiRead`: one search for each trace, all in one request; an id that begins with 0 has an older notation, too.
    let trace = |id: &str| {
        let query = match id.strip_prefix('0') {
            None => json!({"term": {"traceID": id}}),
            Some(older) => json!({"bool": {"should": [
                {"term": {"traceID": {"boost": 2, "value": id}}}, {"term": {"traceID": older}}]}}),
        };
        json!({
        "query": query,
        "search_after": [START_MICROS - 1], "size": 10_000, "sort": [{"startTime": {"order": "asc"}}],
        "terminate_after": 10_000, "track_total_hits": true})
    };
    let header = json!({"ignore_unavailable": true, "index": ["jaeger-span-*"]});
    let lines =
        [&header, &trace("0trace3"), &header, &trace("trace99")].map(|line| format!("{line}\n"));
    let request = canter_runtime::session::HttpRequest {
        method: "POST".to_owned(),
        path: "/_msearch".to_owned(),
        query: String::new(),
        body: lines.concat().into_bytes(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let answer = runtime.block_on(searcher.http(request, &Default::default(), &Default::default()));
    let answer: Value = serde_json::from_slice(&answer.response.body).unwrap();
    let hits = |place: usize| {
        answer["responses"][place]["hits"]["hits"]
            .as_array()
            .unwrap()
    };
    let ids: Vec<&str> = hits(0)
        .iter()
        .map(|hit| hit["_source"]["spanID"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["s12", "s13", "s14", "s15"], "{answer}");
    assert_eq!(hits(1).len(), 0);
    // Dependencies of an index that does not exist.
    let dependencies = json!({"query": {"range": {"timestamp": {
        "from": "2024-05-01T00:00:00Z", "include_lower": true, "include_upper": true, "to": "2024-05-02T00:00:00Z"}}}, "size": 10_000});
    let answer = answered(
        &searcher,
        "/jaeger-dependencies-2024-05-01/_search",
        OPTIONS,
        &dependencies,
    );
    assert_eq!(answer["hits"]["hits"], json!([]));
}

const LOGS: &str = "
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: '@timestamp'
  field_mappings:
    - {name: '@timestamp', type: datetime, fast: true, fast_precision: milliseconds}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: message, type: text, record: position}
";

fn logs() -> Searcher {
    let lines = (0..30_u64).map(|n| {
        let level = if n.is_multiple_of(3) { "error" } else { "info" };
        json!({"@timestamp": format!("2024-05-01T10:{n:02}:00.000Z"), "level": level, "message": format!("disk {n} is full"), "n": n})
    });
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    named(&TestIndex::build(LOGS, &lines, 10).unwrap(), "logs")
}

fn time_filter() -> Value {
    json!({"range": {"@timestamp": {
        "format": "strict_date_optional_time", "gte": "2024-05-01T10:00:00.000Z", "lte": "2024-05-01T10:19:00.000Z"}}})
}

#[test]
fn kibana_s_discover_shows_documents_and_a_histogram() {
    let searcher = logs();
    let documents = json!({
        "sort": [{"@timestamp": {"order": "desc", "format": "strict_date_optional_time", "unmapped_type": "boolean"}},
                 {"_doc": {"order": "desc", "unmapped_type": "boolean"}}],
        "fields": [{"field": "*", "include_unmapped": "true"}, {"field": "@timestamp", "format": "strict_date_optional_time"}],
        "size": 500, "version": true, "script_fields": {}, "stored_fields": ["*"], "runtime_mappings": {}, "_source": false,
        "query": {"bool": {"must": [], "filter": [
            {"bool": {"should": [{"match_phrase": {"level": "error"}}], "minimum_should_match": 1}}, time_filter()],
            "should": [], "must_not": []}},
        "highlight": {"pre_tags": ["@kibana-highlighted-field@"], "post_tags": ["@/kibana-highlighted-field@"],
                      "fields": {"*": {}}, "fragment_size": 2_147_483_647}});
    let answer = answered(
        &searcher,
        "/logs/_async_search",
        "batched_reduce_size=64&ccs_minimize_roundtrips=true&wait_for_completion_timeout=200ms&keep_on_completion=true&keep_alive=60000ms&ignore_unavailable=true&track_total_hits=true",
        &documents,
    );
    let hits = answer["response"]["hits"]["hits"].as_array().unwrap();
    let shown: Vec<u64> = hits
        .iter()
        .map(|hit| hit["fields"]["n"][0].as_u64().unwrap())
        .collect();
    assert_eq!(shown, [18, 15, 12, 9, 6, 3, 0], "{answer}");
    assert_eq!(
        hits[0]["fields"]["@timestamp"],
        json!(["2024-05-01T10:18:00.000Z"])
    );
    let histogram = json!({
        "size": 0, "track_total_hits": true, "runtime_mappings": {}, "script_fields": {}, "stored_fields": ["*"], "_source": {"excludes": []},
        "aggs": {"0": {"date_histogram": {"field": "@timestamp", "fixed_interval": "10m", "time_zone": "Europe/Berlin", "min_doc_count": 1}}},
        "fields": [{"field": "@timestamp", "format": "date_time"}],
        "query": {"bool": {"must": [], "filter": [time_filter()], "should": [], "must_not": []}}});
    let answer = answered(&searcher, "/logs/_async_search", "", &histogram);
    let buckets = answer["response"]["aggregations"]["0"]["buckets"]
        .as_array()
        .unwrap()
        .iter();
    let counts: Vec<u64> = buckets
        .map(|bucket| bucket["doc_count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [10, 10]);
}

#[test]
fn opensearch_dashboards_discover_shows_documents_and_a_histogram() {
    let searcher = logs();
    let body = json!({
        "sort": [{"@timestamp": {"order": "desc", "unmapped_type": "boolean"}}], "size": 500, "version": true,
        "aggs": {"2": {"date_histogram": {"field": "@timestamp", "calendar_interval": "1h", "time_zone": "UTC", "min_doc_count": 1}}},
        "stored_fields": ["*"], "script_fields": {}, "docvalue_fields": [{"field": "@timestamp", "format": "date_time"}],
        "_source": {"excludes": []},
        "query": {"bool": {"must": [{"query_string": {"query": "level:error AND message:disk", "analyze_wildcard": true, "time_zone": "UTC"}}],
                           "filter": [time_filter()], "should": [], "must_not": [{"match_phrase": {"n": "3"}}]}},
        "highlight": {"pre_tags": ["@opensearch-dashboards-highlighted-field@"],
                      "post_tags": ["@/opensearch-dashboards-highlighted-field@"],
                      "fields": {"*": {}}, "fragment_size": 2_147_483_647}});
    let answer = answered(
        &searcher,
        "/logs/_search",
        "ignore_unavailable=true&track_total_hits=true&timeout=30000ms&preference=1714557600000",
        &body,
    );
    let hits = answer["hits"]["hits"].as_array().unwrap();
    let shown: Vec<u64> = hits
        .iter()
        .map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect();
    assert_eq!(shown, [18, 15, 12, 9, 6, 0], "{answer}");
    let marked = hits[0]["highlight"]["message"][0].as_str().unwrap();
    assert!(
        marked.starts_with("@opensearch-dashboards-highlighted-field@disk@/opensearch"),
        "{marked}"
    );
    assert_eq!(
        hits[0]["fields"]["@timestamp"],
        json!(["2024-05-01T10:18:00.000Z"])
    );
    assert_eq!(answer["aggregations"]["2"]["buckets"][0]["doc_count"], 6);
}
