//! Counting in packed columns of every supported width, from every row offset within a byte, in
//! both engines, compared with counting documents one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_runtime::Engine;
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_tests::{TestIndex, run};
use serde_json::{Value, json};

const MAX_WIDTH: u32 = 12;
const NUM_DOCS: u64 = 9_000;

/// Returns the value of a document in the field of a width: any value, or mostly the same one.
fn value(doc: u64, width: u32, is_skewed: bool) -> u64 {
    let mut bits = doc.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(width) << 40);
    bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^= bits >> 32;
    match is_skewed && !doc.is_multiple_of(50) {
        true => 1,
        false => bits % (1 << width),
    }
}

fn name(width: u32, is_skewed: bool) -> String {
    format!("{}{width}", if is_skewed { "skewed" } else { "any" })
}

fn fields() -> impl Iterator<Item = (u32, bool)> {
    (1..=MAX_WIDTH).flat_map(|width| [(width, false), (width, true)])
}

fn index() -> TestIndex {
    let mappings = fields().map(|(width, is_skewed)| {
        let name = name(width, is_skewed);
        format!("    - {{name: {name}, type: u64, fast: true, indexed: false, stored: false}}\n")
    });
    let config = format!(
        "version: 0.8\nindex_id: widths\ndoc_mapping:\n  field_mappings:\n    - {{name: ts, type: datetime, \
         input_formats: [unix_timestamp], fast: true, fast_precision: seconds}}\n{}  timestamp_field: ts\n",
        mappings.collect::<String>()
    );
    let lines = (0..NUM_DOCS).map(|doc| {
        let mut line = json!({"ts": 1_700_000_000 + doc});
        for (width, is_skewed) in fields() {
            line[name(width, is_skewed)] = json!(value(doc, width, is_skewed));
        }
        line.to_string()
    });
    TestIndex::build(&config, &lines.collect::<Vec<_>>(), NUM_DOCS).unwrap()
}

#[test]
fn values_of_every_width_are_counted_from_any_row_to_any_other() {
    let index = index();
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    let searchers = engines.map(|engine| index.searcher(engine, 0, 1).unwrap());
    let short = (0..8).map(|first| (500 + first, 501 + 78 * first));
    for (first, end) in short.chain([(0, NUM_DOCS), (3, NUM_DOCS - 1), (8, 8_200)]) {
        for of_fields in fields().collect::<Vec<_>>().chunks(8) {
            let mut aggs = json!({});
            for (width, is_skewed) in of_fields {
                let field = name(*width, *is_skewed);
                aggs[&field] =
                    json!({"terms": {"field": field, "size": 5_000, "order": {"_key": "asc"}}});
                aggs[format!("sum {field}")] = json!({"sum": {"field": field}});
            }
            let request = json!({
                "query": "*", "max_hits": 0, "aggs": aggs,
                "start_timestamp": 1_700_000_000 + first, "end_timestamp": 1_700_000_000 + end,
            });
            for searcher in &searchers {
                let answer = run(searcher, &request).unwrap().json;
                assert_eq!(answer["num_hits"], end - first);
                for (width, is_skewed) in of_fields {
                    let field = name(*width, *is_skewed);
                    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
                    for doc in first..end {
                        *counts.entry(value(doc, *width, *is_skewed)).or_default() += 1;
                    }
                    let buckets = answer["aggregations"][&field]["buckets"]
                        .as_array()
                        .unwrap();
                    let number = |value: &Value| value.as_u64().unwrap();
                    let found = buckets.iter();
                    let found =
                        found.map(|found| (number(&found["key"]), number(&found["doc_count"])));
                    let what = format!("{field} of {first}..{end}");
                    assert_eq!(found.collect::<BTreeMap<_, _>>(), counts, "{what}");
                    let sum: u64 = counts.iter().map(|(value, count)| value * count).sum();
                    let found = &answer["aggregations"][format!("sum {field}")]["value"];
                    assert_eq!(found.as_f64().unwrap(), sum as f64, "{what}");
                }
            }
        }
    }
}
