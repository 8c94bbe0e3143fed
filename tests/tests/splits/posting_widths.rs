//! Blocks of postings and of positions of every width that a small index can have, in both engines,
//! compared with the content of the documents.

use std::fmt::Write as _;
use std::sync::Arc;

use canter_runtime::Engine;
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_tests::{TestIndex, run};
use serde_json::json;

const NUM_DOCS: u64 = 20_000;
const MAX_WIDTH: u32 = 13;
const MAX_POSITION_WIDTH: u32 = 9;
/// Number of documents in a block of postings.
const BLOCK: u64 = 128;

/// Returns whether a document has the word of a width. The last difference in the first block and
/// one in a later block need `width` bits.
fn has_word(doc: u64, width: u32) -> bool {
    let gap = 1 << width;
    let is_before = doc < BLOCK - 1;
    let behind = doc.checked_sub(BLOCK - 2 + gap);
    is_before || behind.is_some_and(|behind| behind < 60 || (60 + gap..300 + gap).contains(&behind))
}

/// Returns the text of a document: words by width, and in some documents a pair of words with a
/// distance that depends on the document.
fn body(doc: u64) -> String {
    let mut body = String::new();
    for width in (0..=MAX_WIDTH).filter(|width| has_word(doc, *width)) {
        // The number of repetitions varies, so that frequencies have widths, too.
        let times = 1 + (doc * 7) % (1 << (width / 2));
        for _ in 0..times {
            let _ = write!(body, "width{width} ");
        }
    }
    let width = u32::try_from(doc % 16).unwrap();
    if doc < 4_000 && width <= MAX_POSITION_WIDTH {
        let _ = write!(body, "far{width} ");
        (0..1 << width).for_each(|_| body.push_str("filler "));
        let _ = write!(
            body,
            "far{width} {}",
            if doc.is_multiple_of(3) {
                "end"
            } else {
                "other"
            }
        );
    }
    body
}

#[test]
fn postings_and_positions_of_every_width_are_read_alike_in_both_engines() {
    let config = "version: 0.8\nindex_id: widths\ndoc_mapping:\n  field_mappings:\n    \
        - {name: id, type: u64, fast: true, indexed: false, stored: false}\n    \
        - {name: body, type: text, record: position}\n";
    let lines = (0..NUM_DOCS).map(|doc| json!({"id": doc, "body": body(doc)}).to_string());
    let index = TestIndex::build(config, &lines.collect::<Vec<_>>(), NUM_DOCS).unwrap();
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    let searchers = engines.map(|engine| index.searcher(engine, 0, 1).unwrap());
    let check = |query: &str, is_hit: &dyn Fn(u64) -> bool| {
        let hits: Vec<u64> = (0..NUM_DOCS).filter(|doc| is_hit(*doc)).collect();
        let request = json!({
            "query": query, "max_hits": 0, "aggs": {"sum": {"sum": {"field": "id"}}},
        });
        for searcher in &searchers {
            let answer = run(searcher, &request).unwrap().json;
            assert_eq!(answer["num_hits"], hits.len(), "{query}");
            let sum: u64 = hits.iter().sum();
            let found = &answer["aggregations"]["sum"]["value"];
            assert_eq!(found.as_f64().unwrap(), sum as f64, "{query}");
        }
        let by_score = json!({"query": query, "max_hits": 20, "sort_by": "_score"});
        let [native, wasm] = &searchers;
        let hits = |searcher| run(searcher, &by_score).unwrap().json["hits"].clone();
        assert_eq!(hits(native), hits(wasm), "{query}");
    };
    for width in 0..=MAX_WIDTH {
        check(&format!("body:width{width}"), &|doc| has_word(doc, width));
        let next = (width + 1) % MAX_WIDTH;
        check(&format!("body:width{width} AND body:width{next}"), &|doc| {
            has_word(doc, width) && has_word(doc, next)
        });
    }
    for width in 0..=MAX_POSITION_WIDTH {
        check(&format!("body:\"far{width} end\""), &|doc| {
            doc < 4_000 && doc % 16 == u64::from(width) && doc % 3 == 0
        });
    }
}
