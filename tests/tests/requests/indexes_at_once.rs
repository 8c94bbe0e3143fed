//! Latency of a search of many indexes, which equals that of a search of one of them.

use std::sync::Arc;
use std::time::Duration;

use canter_lab::{LatencyModel, SimulatedStore};
use canter_runtime::clock::{Clock, CpuTime, VirtualClock};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::HedgeOptions;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::TestIndex;
use serde_json::{Value, json};

const CONFIG: &str = "
version: 0.9
index_id: logs
doc_mapping:
  timestamp_field: time
  field_mappings:
    - {name: time, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: level, type: text, tokenizer: raw, fast: true}
";
const NUM_INDEXES: u64 = 10;
const NUM_DOCS: u64 = 50;

fn searcher(engine: Arc<dyn Engine>, clock: &VirtualClock) -> Searcher {
    let model: LatencyModel = "latency=100ms".parse().unwrap();
    let mut builder = Searcher::builder()
        .engine(engine)
        .clock(Arc::new(clock.clone()))
        .hedge(HedgeOptions::off());
    for ord in 0..NUM_INDEXES {
        let document = |nth| json!({"time": 1_700_000_000 + ord * 1000 + nth, "level": "INFO"});
        let lines: Vec<String> = (0..NUM_DOCS).map(|nth| document(nth).to_string()).collect();
        let index = TestIndex::build(CONFIG, &lines, NUM_DOCS).unwrap();
        let store = Arc::new(index.fetcher());
        let store = SimulatedStore::new(store, model.clone(), Arc::new(clock.clone()));
        let name = format!("t{ord}");
        builder = builder.index_from(&name, Arc::new(store), &name).unwrap();
    }
    builder.build().unwrap()
}

/// Returns virtual time, waves and hits of a search.
fn ask(searcher: &Searcher, clock: &VirtualClock, indexes: &str) -> (Duration, u64, Value) {
    let body = json!({"size": 0, "track_total_hits": true, "query": {"match_all": {}}});
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: format!("/{indexes}/_search"),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    let before = clock.now();
    let (caller, limits) = (Caller::default(), Limits::default());
    let asking = clock.run(searcher.http(request, &caller, &limits));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let answer = runtime.unwrap().block_on(asking);
    let json: Value = serde_json::from_slice(&answer.response.body).unwrap();
    assert_eq!(answer.response.status, 200, "{json}");
    let num_hits = json["hits"]["total"]["value"].clone();
    (clock.now() - before, answer.profile.num_waves, num_hits)
}

#[test]
fn ten_indexes_take_as_long_as_one() {
    let engines: [Arc<dyn Engine>; 2] = [
        Arc::new(NativeEngine::new()),
        Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap()),
    ];
    for engine in engines {
        let clock = VirtualClock::new(CpuTime::Ignored);
        let searcher = searcher(engine, &clock);
        for (indexes, num_indexes) in [("t0", 1), ("t0,t1", 2), ("t*", NUM_INDEXES)] {
            let (took, num_waves, num_hits) = ask(&searcher, &clock, indexes);
            assert!(took < Duration::from_millis(150), "{indexes}: {took:?}");
            assert!(took >= Duration::from_millis(100), "{indexes}: {took:?}");
            assert_eq!((num_waves, num_hits), (1, json!(num_indexes * NUM_DOCS)));
        }
    }
}
