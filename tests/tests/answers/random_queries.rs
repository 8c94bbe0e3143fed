//! Random requests over random documents, compared with a plain scan.
//!
//! `CANTER_RANDOM_REQUESTS` is the number of requests (200 by default, 1,500 with `CI_FULL`; a third
//! of them for fields that are only stored), and `CANTER_RANDOM_SEED` is the first seed.
//! `CANTER_RANDOM_SHOW_WHOLE` skips the reduction of documents, which takes most of the time.
//!
//! `CANTER_RANDOM_AGGREGATIONS` is the number of requests with aggregations for which both engines
//! are compared (120 by default, 300 with `CI_FULL`).

use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_tests::random::{Engines, RandomBench, Tally};
use canter_tests::{is_full, usual_or_full};

/// Number of requests for each set of documents.
const PER_SEED: usize = 500;

/// Maximum percentage of refused requests; with more of them, the test would cover little.
const MAX_REFUSED_PERCENT: usize = 20;

/// Seeds that once revealed a defect. Each of them stays in the list and generates [`PER_SEED`]
/// requests for the native engine, which is the same code as the guest.
const REGRESSION_SEEDS: [u64; 4] = [8, 1008, 2002, 5012];

fn number(variable: &str, default: usize) -> usize {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn num_requests() -> usize {
    number("CANTER_RANDOM_REQUESTS", usual_or_full(120, 1_500))
}

/// Prints refusals and differences; fails if there are differences.
fn conclude(tallies: &[(u64, Tally)]) {
    let num_refused: usize = tallies.iter().map(|(_, tally)| tally.num_refused()).sum();
    let num_right: usize = tallies.iter().map(|(_, tally)| tally.num_right).sum();
    let mut num_wrong = 0;
    for (seed, tally) in tallies {
        for (num, example) in tally.refused.values() {
            let example: String = example.chars().take(300).collect();
            println!("seed {seed}: refused {num}: {example}");
        }
        for finding in &tally.findings {
            println!("seed {seed}: {finding}");
        }
        num_wrong += tally.num_wrong;
    }
    println!("{num_right} right, {num_refused} refused, {num_wrong} wrong");
    assert_eq!(num_wrong, 0, "answers differ from the scan's");
    let num = num_right + num_refused;
    assert!(
        num_refused * 100 <= num * MAX_REFUSED_PERCENT,
        "{num_refused} of {num} requests were refused"
    );
}

fn run(engine: &Arc<dyn Engine>, seeds: impl Iterator<Item = u64>, num: usize) {
    let tallies: Vec<(u64, Tally)> = seeds
        .map(|seed| {
            let bench = RandomBench::new(seed, &engine.into()).unwrap();
            (seed, bench.run(PER_SEED.min(num)).unwrap())
        })
        .collect();
    conclude(&tallies);
}

#[test]
fn native_answers_are_those_of_a_scan() {
    let native = Arc::new(NativeEngine::new()) as Arc<dyn Engine>;
    let seeds = number("CANTER_RANDOM_SEED", 1) as u64..;
    let num = num_requests();
    run(&native, seeds.take(num.div_ceil(PER_SEED)), num);
}

#[test]
fn native_answers_are_those_of_a_scan_where_they_once_were_not() {
    let native = Arc::new(NativeEngine::new()) as Arc<dyn Engine>;
    run(&native, REGRESSION_SEEDS.into_iter(), PER_SEED);
}

/// Fields without an index (`strategy: none`) are searched by scanning stored documents.
#[test]
fn answers_about_fields_that_are_only_stored_are_those_of_a_scan() {
    let native = Arc::new(NativeEngine::new()) as Arc<dyn Engine>;
    let seed = number("CANTER_RANDOM_SEED", 1) as u64;
    let num = num_requests().div_ceil(3);
    let tallies: Vec<(u64, Tally)> = (seed..)
        .take(num.div_ceil(PER_SEED))
        .map(|seed| {
            let bench = RandomBench::stored(seed, &(&native).into()).unwrap();
            (seed, bench.run(PER_SEED.min(num)).unwrap())
        })
        .collect();
    conclude(&tallies);
}

/// Random queries delete documents from indexes with few and with many splits.
#[test]
fn answers_are_those_of_a_scan_of_the_documents_that_are_left() {
    let native = Arc::new(NativeEngine::new()) as Arc<dyn Engine>;
    let seed = number("CANTER_RANDOM_SEED", 1) as u64;
    let num_native = if is_full() { 3 } else { 1 };
    let tallies: Vec<(u64, Tally)> = [
        (native, 0..num_native, usual_or_full(80, 250)),
        (wasm(), 3..4, usual_or_full(30, 100)),
    ]
    .into_iter()
    .flat_map(|(engine, seeds, num)| {
        seeds.map(move |nth| {
            let bench = RandomBench::with_deletes(seed + nth, &(&engine).into()).unwrap();
            (seed + nth, bench.run(num).unwrap())
        })
    })
    .collect();
    conclude(&tallies);
}

#[test]
fn wasm_answers_are_those_of_a_scan() {
    let regressions = if is_full() {
        &REGRESSION_SEEDS[..]
    } else {
        &[]
    };
    let seeds = std::iter::once(1).chain(regressions.iter().copied());
    run(&wasm(), seeds, usual_or_full(60, 200));
}

/// The scan checks the answers of the wasm guest. The native engine's aggregations over other
/// splits must be byte-identical to the guest's.
#[test]
fn both_engines_aggregate_alike_and_as_a_scan() {
    let engines = Engines {
        one: wasm(),
        other: Arc::new(NativeEngine::new()),
    };
    let num = number("CANTER_RANDOM_AGGREGATIONS", usual_or_full(80, 300));
    let tallies: Vec<(u64, Tally)> = (number("CANTER_RANDOM_SEED", 1) as u64..)
        .take(num.div_ceil(PER_SEED))
        .map(|seed| {
            let bench = RandomBench::new(seed, &engines).unwrap().aggregating();
            (seed, bench.run(PER_SEED.min(num)).unwrap())
        })
        .collect();
    conclude(&tallies);
}

fn wasm() -> Arc<dyn Engine> {
    Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap())
}
