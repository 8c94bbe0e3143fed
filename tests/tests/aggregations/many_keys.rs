//! Documents that use values as keys: 50,000 of them. Every search reads the heads of splits, so a
//! head must not grow with the number of keys. Keys that are not in it are searched all the same.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_runtime::SearchResponse;
use canter_runtime::engine::NativeEngine;
use canter_tests::{TestIndex, run};
use serde_json::{Value, json};

const CONFIG: &str = "
version: 0.8
index_id: keys
doc_mapping:
  mode: dynamic
  timestamp_field: ts
  field_mappings:
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: status, type: u64, fast: true}
";
const NUM_DOCS: u64 = 5_000;
/// Maximum size of a head. When heads listed every column, this one took 1.8 MB.
const MAX_HEAD_BYTES: u64 = 256 << 10;

/// Returns an index of documents with `keys_each` unique keys each, besides two common keys.
fn index(keys_each: u64) -> Result<TestIndex> {
    let lines: Vec<String> = (0..NUM_DOCS)
        .map(|doc| {
            let mut document = json!({
                "ts": 1_700_000_000 + doc,
                "status": 200 + doc % 5,
                "common": doc % 100,
            });
            for key in 0..keys_each {
                let ord = doc * keys_each + key;
                document[format!("key{:05}", ord * 7 % (NUM_DOCS * keys_each))] = json!(ord);
            }
            document.to_string()
        })
        .collect();
    TestIndex::build(CONFIG, &lines, 1_000_000)
}

fn search(index: &TestIndex, request: &Value) -> Result<SearchResponse> {
    let mut request = request.clone();
    request["profile"] = json!(true);
    let answer = run(
        &index.searcher(Arc::new(NativeEngine::new()), 0, 1)?,
        &request,
    )?;
    let gaps = &answer.json["profile"]["warmup_gaps"];
    ensure!(*gaps == json!(0), "{request}: {gaps} gaps");
    Ok(answer)
}

#[test]
fn a_head_does_not_grow_with_the_keys_of_documents() -> Result<()> {
    let few = index(0)?;
    let many = index(10)?;
    let [split] = &many.report.splits[..] else {
        anyhow::bail!("one split was expected");
    };
    println!("head of {} bytes with 50,000 keys", split.num_head_bytes);
    ensure!(
        split.num_head_bytes <= MAX_HEAD_BYTES,
        "{}",
        split.num_head_bytes
    );
    ensure!(few.report.warnings.is_empty(), "{:?}", few.report.warnings);
    let warnings: Vec<&str> = many
        .report
        .warnings
        .iter()
        .map(|found| found.name)
        .collect();
    ensure!(warnings == ["columns_outside_head"], "{warnings:?}");
    // These are the columns of the keys and of `ts`, `status` and `common`, minus the thousand in
    // the head.
    let message = &many.report.warnings[0].message;
    ensure!(message.contains("by 49003"), "{message}");
    Ok(())
}

#[test]
fn a_key_that_the_head_does_not_know_is_searched_all_the_same() -> Result<()> {
    let (few, many) = (index(1)?, index(10)?);
    let waves = |index: &TestIndex, request: &Value, num_hits: u64| -> Result<u64> {
        let answer = search(index, request)?;
        ensure!(
            answer.json["num_hits"] == num_hits,
            "{request}: {}",
            answer.json
        );
        Ok(answer.profile.num_waves)
    };
    let check = |request: Value, num_hits: [u64; 2], more: u64| -> Result<()> {
        let few = waves(&few, &request, num_hits[0])?;
        let many = waves(&many, &request, num_hits[1])?;
        ensure!(many <= few + more, "{request}: {few} waves, then {many}");
        Ok(())
    };
    for key in ["key00000", "key02500", "key04999"] {
        check(json!({"query": format!("{key}:>=0")}), [1, 1], 1)?;
        let sorted = json!({"query": "*", "max_hits": 1, "sort_by": key});
        check(sorted, [NUM_DOCS, NUM_DOCS], 1)?;
    }
    // Common keys are still in the head.
    check(json!({"query": "common:7"}), [50, 50], 1)?;
    let sorted = json!({"query": "*", "max_hits": 1, "sort_by": "-common"});
    check(sorted, [NUM_DOCS, NUM_DOCS], 0)?;
    let sorted = json!({"query": "*", "max_hits": 1, "sort_by": "-status"});
    check(sorted, [NUM_DOCS, NUM_DOCS], 0)?;

    // Every key finds its only document, by its term.
    for ord in [0u64, 1, 777, 25_000, 49_999] {
        let key = format!("key{:05}", ord * 7 % (NUM_DOCS * 10));
        let answer = search(&many, &json!({"query": format!("{key}:{ord}")}))?;
        ensure!(answer.json["num_hits"] == 1, "{key}: {}", answer.json);
        let hit = &answer.json["hits"][0];
        let found = hit[&key].as_u64().with_context(|| hit.to_string())?;
        ensure!(found == ord, "{key}: {found}");
    }
    let answer = search(&many, &json!({"query": "key50000:1"}))?;
    ensure!(answer.json["num_hits"] == 0);
    Ok(())
}
