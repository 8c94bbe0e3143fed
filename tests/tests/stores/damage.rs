//! Damaged, truncated and swapped splits: searches return an error that names the split and correct
//! answers from the others, and never panic or trap.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::{DOCUMENTS_FILE, Head, MANIFEST_OBJECT, split_object};
use canter_tests::{TestIndex, hdfs_lines, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Index without heads in the manifest, so that every byte of every split matters.
struct Sound {
    index: TestIndex,
    /// Split ids, oldest first.
    ids: Vec<String>,
    engines: Vec<Arc<dyn Engine>>,
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let lines = hdfs_lines(6_000, 5).unwrap();
    let mut index = TestIndex::build(HDFS_LOGS_YAML, &lines, 2_000).unwrap();
    let mut manifest = index.manifest().unwrap();
    let ids: Vec<String> = manifest
        .manifest
        .splits
        .iter()
        .map(|split| split.id.clone())
        .collect();
    for id in &ids {
        manifest.take_head(id);
    }
    index
        .objects
        .insert(MANIFEST_OBJECT.into(), manifest.to_bytes().unwrap().into());
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    Sound {
        index,
        ids,
        engines: vec![Arc::new(NativeEngine::new()), Arc::new(wasm)],
    }
});

/// Returns requests that together read every part of a split.
fn requests() -> [Value; 5] {
    [
        json!({"query": "severity_text:WARN", "max_hits": 10, "sort_by": "-tenant_id"}),
        json!({"query": "body:block", "max_hits": 2000, "sort_by": "tenant_id"}),
        json!({"query": "body:\"received block\"", "max_hits": 3, "sort_by": "_score"}),
        json!({"query": "*", "max_hits": 0, "aggs": {"t": {"terms": {"field": "tenant_id", "size": 100}}}}),
        json!({"query": "*", "max_hits": 5, "sort_by": "timestamp",
            "aggs": {"d": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}}}}),
    ]
}

/// Returns the answer of the index without one of its splits.
fn answer_without(victim: &str, request: &Value) -> Value {
    let mut index = SOUND.index.clone();
    let mut manifest = index.manifest().unwrap();
    manifest.manifest.splits.retain(|split| split.id != victim);
    index
        .objects
        .insert(MANIFEST_OBJECT.into(), manifest.to_bytes().unwrap().into());
    index.search(request).unwrap().json
}

/// Checks that each answer with a damaged `victim` is complete, or names it and is correct for the
/// others. Returns the number of answers that name it.
fn check(index: &TestIndex, victim: &str, engine: &Arc<dyn Engine>) -> Result<usize, String> {
    let mut num_failed = 0;
    for request in requests() {
        let searcher = index.searcher(Arc::clone(engine), 1, 1).unwrap();
        let got = run(&searcher, &request)
            .map_err(|error| format!("{request}: {error}"))?
            .json;
        let failed = got["failed_splits"].as_array().unwrap();
        let expected = match failed.as_slice() {
            [] => SOUND.index.search(&request).unwrap().json,
            [only] if only["split_id"] == victim => {
                num_failed += 1;
                let message = only["message"].as_str().unwrap();
                if !message.contains(victim) {
                    return Err(format!(
                        "{request}: the message does not name the split: {message}"
                    ));
                }
                answer_without(victim, &request)
            }
            _ => return Err(format!("{request}: {failed:?}")),
        };
        // If only its documents are lost, a split still contributes its counts, and its hits are
        // omitted.
        let fewer_hits = !failed.is_empty() && got["num_hits"] != expected["num_hits"];
        if fewer_hits {
            let whole = SOUND.index.search(&request).unwrap().json;
            let known = whole["hits"].as_array().unwrap();
            let sound = got["num_hits"] == whole["num_hits"]
                && got["hits"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|hit| known.contains(hit));
            if !sound {
                return Err(format!(
                    "{request}: wrong counts or hits beside a failed split"
                ));
            }
        } else if got["hits"] != expected["hits"]
            || got["num_hits"] != expected["num_hits"]
            || got["aggregations"] != expected["aggregations"]
        {
            return Err(format!("{request}: wrong answer beside a failed split"));
        }
    }
    Ok(num_failed)
}

fn with_object(name: String, bytes: impl Into<Bytes>) -> TestIndex {
    let mut index = SOUND.index.clone();
    index.objects.insert(name, bytes.into());
    index
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_flipped_byte_costs_at_most_its_split(
        position in any::<prop::sample::Index>(), bit in 0u8..8, victim in 0usize..3, wasm in any::<bool>(),
    ) {
        let victim = SOUND.ids[victim].clone();
        let object = split_object(&victim);
        let mut bytes = SOUND.index.objects[&object].to_vec();
        let position = position.index(bytes.len());
        bytes[position] ^= 1 << bit;
        let index = with_object(object, bytes);
        let result = check(&index, &victim, &SOUND.engines[usize::from(wasm)]);
        prop_assert!(result.is_ok(), "byte {}: {:?}", position, result);
    }

    #[test]
    fn a_truncated_split_costs_at_most_itself(
        length in any::<prop::sample::Index>(), victim in 0usize..3, wasm in any::<bool>(),
    ) {
        let victim = SOUND.ids[victim].clone();
        let object = split_object(&victim);
        let bytes = SOUND.index.objects[&object].clone();
        let length = length.index(bytes.len());
        let index = with_object(object, bytes.slice(..length));
        let result = check(&index, &victim, &SOUND.engines[usize::from(wasm)]);
        prop_assert!(result.is_ok(), "cut to {}: {:?}", length, result);
        let is_read = length < read_len(&bytes);
        prop_assert!(!is_read || result.unwrap() > 0, "a split cut to {} bytes went unnoticed", length);
    }
}

/// Returns the length below which searches notice that a split was truncated. After the documents,
/// there are only their index, of which the head has a copy, and the filter, which is read from
/// pages of the manifest.
fn read_len(split: &[u8]) -> usize {
    let head = Head::open(split).unwrap();
    let (_, documents) = head.files.find(DOCUMENTS_FILE).unwrap();
    let behind = head.files.body_len() - documents.offset - documents.len;
    split.len() - usize::try_from(behind).unwrap()
}

#[test]
fn a_split_that_lacks_its_last_read_byte_is_named() {
    for victim in &SOUND.ids {
        let object = split_object(victim);
        let sound = SOUND.index.objects[&object].clone();
        let index = with_object(object, sound.slice(..read_len(&sound) - 1));
        for engine in &SOUND.engines {
            assert!(check(&index, victim, engine).unwrap() > 0, "{victim}");
        }
    }
}

#[test]
fn every_byte_of_the_head_is_checked() {
    let victim = &SOUND.ids[1];
    let object = split_object(victim);
    let sound = SOUND.index.objects[&object].clone();
    let manifest = SOUND.index.manifest().unwrap();
    let head_len = manifest.manifest.splits[1].head_len as usize;
    for position in (0..head_len).step_by(97) {
        let mut bytes = sound.to_vec();
        bytes[position] ^= 0x10;
        let index = with_object(object.clone(), bytes);
        let answer = index.search(&json!({"query": "*"})).unwrap().json;
        assert_eq!(
            answer["failed_splits"][0]["split_id"], **victim,
            "byte {position}"
        );
    }
}

#[test]
fn swapped_splits_are_both_named() {
    let (left, right) = (split_object(&SOUND.ids[0]), split_object(&SOUND.ids[2]));
    let mut index = with_object(left.clone(), SOUND.index.objects[&right].clone());
    index
        .objects
        .insert(right, SOUND.index.objects[&left].clone());
    for engine in &SOUND.engines {
        let searcher = index.searcher(Arc::clone(engine), 0, 1).unwrap();
        let answer = run(&searcher, &json!({"query": "*", "max_hits": 0}))
            .unwrap()
            .json;
        let failed: Vec<&str> = answer["failed_splits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|failed| failed["split_id"].as_str().unwrap())
            .collect();
        assert_eq!(failed.len(), 2);
        assert!(failed.contains(&SOUND.ids[0].as_str()) && failed.contains(&SOUND.ids[2].as_str()));
        assert_eq!(answer["num_hits"], 2_000);
    }
}

#[test]
fn a_missing_split_is_named() {
    let mut index = SOUND.index.clone();
    index.objects.remove(&split_object(&SOUND.ids[0]));
    let answer = index
        .search(&json!({"query": "*", "max_hits": 0}))
        .unwrap()
        .json;
    assert_eq!(answer["failed_splits"][0]["split_id"], *SOUND.ids[0]);
    assert_eq!(answer["failed_splits"][0]["kind"], "data");
    assert_eq!(answer["num_hits"], 4_000);
}

#[test]
fn a_damaged_inlined_head_is_read_from_its_split_instead() {
    let lines = hdfs_lines(3_000, 6).unwrap();
    let mut index = TestIndex::build(HDFS_LOGS_YAML, &lines, 1_000).unwrap();
    let request = json!({"query": "severity_text:WARN", "max_hits": 5, "profile": true});
    let sound = index.search(&request).unwrap().json;
    let mut bytes = index.objects[MANIFEST_OBJECT].to_vec();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    index.objects.insert(MANIFEST_OBJECT.into(), bytes.into());
    let answer = index.search(&request).unwrap().json;
    assert_eq!(answer["failed_splits"], json!([]));
    assert_eq!(
        (&answer["hits"], &answer["num_hits"]),
        (&sound["hits"], &sound["num_hits"])
    );
    assert!(answer["profile"]["num_requests"].as_u64() > sound["profile"]["num_requests"].as_u64());
}
