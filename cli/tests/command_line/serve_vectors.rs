//! Vectors over HTTP in Elasticsearch's words, and on the command line.

use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{delete, put};
use crate::support::{run, search};

/// The mapping of Elasticsearch's own guide to kNN, with its options of an index that have no effect here.
fn mapping() -> Value {
    json!({"mappings": {"properties": {
        "image-vector": {
            "type": "dense_vector", "dims": 3, "index": true, "similarity": "l2_norm",
            "index_options": {"type": "int8_hnsw", "m": 16, "ef_construction": 100},
        },
        "title-vector": {"type": "dense_vector", "dims": 5, "element_type": "byte"},
        "title": {"type": "text"},
        "file-type": {"type": "keyword"},
    }}})
}

const JSON: [(&str, &str); 1] = [("content-type", "application/x-ndjson")];

const BULK: &str = r#"{"index": {"_id": "1"}}
{"image-vector": [1, 5, -20], "title-vector": [12, 50, -10, 0, 1], "title": "moose family", "file-type": "jpg"}
{"index": {"_id": "2"}}
{"image-vector": [42, 8, -15], "title-vector": [25, 1, 4, -12, 2], "title": "alpine lake", "file-type": "png"}
{"index": {"_id": "3"}}
{"image-vector": [15, 11, 23], "title-vector": [1, 5, 25, 50, 20], "title": "full moon", "file-type": "jpg"}
{"index": {"_id": "4"}}
{"title": "no picture", "file-type": "png"}
{"index": {"_id": "5"}}
{"image-vector": [1, 2], "title": "wrong picture", "file-type": "png"}
"#;

#[test]
fn the_requests_of_elasticsearchs_guide_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("all").display().to_string();
    let args = [
        "--indexes-in",
        &all,
        "--writable",
        "--commit-interval",
        "20ms",
    ];
    let server = Server::of(folder.path(), &args);
    let created = put(&server, "/image-index", &mapping());
    assert_eq!(created.status, 200, "{}", created.text);
    let sent = server.send(
        Method::POST,
        "/image-index/_bulk?refresh=true",
        &JSON,
        BULK.to_owned(),
    );
    let sent: Value = sent.json();
    let statuses = sent["items"].as_array().unwrap().iter();
    let statuses: Vec<&Value> = statuses.map(|item| &item["index"]["status"]).collect();
    assert_eq!(statuses, [201, 201, 201, 201, 400], "{sent}");
    let problem = sent["items"][4].to_string();
    assert!(
        problem.contains("a vector of 2 dimensions, but the field has 3"),
        "{problem}"
    );

    let shown = server.get("/image-index/_mapping").json();
    let properties = &shown["image-index"]["mappings"]["properties"];
    assert_eq!(
        properties["image-vector"],
        mapping()["mappings"]["properties"]["image-vector"]
    );

    let ask = |body: Value| -> Value {
        let answer = server.post_json("/image-index/_search", &body);
        assert_eq!(answer.status, 200, "{body}: {}", answer.text);
        answer.json()
    };
    let ids = |answer: &Value| -> Vec<String> {
        let hits = answer["hits"]["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["_id"].as_str().unwrap().to_owned())
            .collect()
    };
    let answer = ask(json!({
        "knn": {"field": "image-vector", "query_vector": [-5, 9, -12], "k": 10, "num_candidates": 100},
        "fields": ["title", "file-type"],
    }));
    assert_eq!(ids(&answer), ["1", "3", "2"]);
    let score = answer["hits"]["hits"][0]["_score"].as_f64().unwrap();
    assert!(
        (score - 1.0 / (1.0 + 36.0 + 16.0 + 64.0)).abs() < 1e-6,
        "{answer}"
    );
    assert_eq!(
        answer["hits"]["hits"][0]["_source"]["image-vector"],
        json!([1, 5, -20])
    );
    let answer = ask(json!({"knn": {
        "field": "image-vector", "query_vector": [54, 10, -2], "k": 5, "num_candidates": 50,
        "filter": {"term": {"file-type": "jpg"}},
    }}));
    assert_eq!(ids(&answer), ["3", "1"]);
    let answer = ask(json!({
        "query": {"match": {"title": {"query": "picture", "boost": 0.9}}},
        "knn": [
            {"field": "image-vector", "query_vector": [54, 10, -2], "k": 1, "num_candidates": 50, "boost": 0.1},
            {"field": "title-vector", "query_vector": [1, 20, -52, 23, 10], "k": 2, "num_candidates": 10, "boost": 0.5},
        ],
        "size": 10,
        "aggs": {"types": {"terms": {"field": "file-type"}}},
    }));
    let mut found = ids(&answer);
    found.sort();
    assert_eq!(found, ["1", "2", "3", "4"], "{answer}");
    assert_eq!(
        answer["aggregations"]["types"]["buckets"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let deleted = delete(&server, "/image-index/_doc/1?refresh=true");
    assert_eq!(deleted.status, 200, "{}", deleted.text);
    let knn = json!({"field": "image-vector", "query_vector": [-5, 9, -12], "k": 2, "num_candidates": 100});
    assert_eq!(ids(&ask(json!({"retriever": {"knn": knn}}))), ["3", "2"]);
}

#[test]
fn the_nearest_are_found_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let config = "
version: 0.9
index_id: colours
doc_mapping:
  field_mappings:
    - {name: name, type: text}
    - {name: rgb, type: dense_vector, dims: 3, similarity: l2_norm}
";
    std::fs::write(path.join("colours.yaml"), config).unwrap();
    let lines = r#"{"name": "red", "rgb": [1, 0, 0]}
{"name": "orange", "rgb": [1, 0.5, 0]}
{"name": "blue", "rgb": [0, 0, 1]}
"#;
    std::fs::write(path.join("colours.ndjson"), lines).unwrap();
    std::fs::write(path.join("vector.json"), "[0.9, 0.4, 0]").unwrap();
    let ingest = [
        "index",
        "ingest",
        "--index",
        "index",
        "--index-config",
        "colours.yaml",
    ];
    run(
        path,
        &[&ingest[..], &["--input", "colours.ndjson"]].concat(),
        0,
    );
    for vector in ["rgb:@vector.json", "rgb:[0.9,0.4,0]"] {
        let found = search(path, &["--knn", vector, "--k", "2"]);
        let names = found["hits"].as_array().unwrap().iter();
        let names: Vec<&Value> = names.map(|hit| &hit["name"]).collect();
        assert_eq!(names, ["orange", "red"], "{found}");
    }
    let (_, stderr) = run(
        path,
        &[
            "search", "--index", "index", "--engine", "native", "--knn", "rgb:[1]",
        ],
        2,
    );
    assert!(
        stderr.contains("a vector of 1 dimensions, but the field has 3"),
        "{stderr}"
    );
}
