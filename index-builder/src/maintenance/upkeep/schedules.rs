//! Concurrent writers that publish, merge and collect garbage, in thousands of schedules:
//! regardless of the order of their operations, every document is live once, and no referenced
//! object is gone.
//!
//! `CANTER_SCHEDULES` is the number of schedules (400 by default), and `CANTER_SCHEDULE_SEED` is
//! the first seed.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use canter_split_format::{SplitEntry, split_object};
use object_store::memory::InMemory;
use object_store::path::Path;

use super::gc::{GcOptions, collect};
use super::references::References;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::publisher::sources::tests::step;
use crate::index::publisher::tests::{config, grown, made_up, on_the_brink, upload};
use crate::index::publisher::{NewSplit, Replacement, SourceStep, publish, replace, update};
use crate::index::storage::IndexStore;
use crate::index::storage::scheduled::{ScheduledStore, Turn, Turns};

/// Simulated documents: the numbers of the splits with which an index began, and of those that were
/// ingested later.
type Docs = BTreeSet<u64>;

fn number_of(id: &str) -> u64 {
    u64::from_str_radix(id, 16).unwrap()
}

/// Returns a simulated split that represents the documents of others.
fn merged_of(ord: u64, from: &[SplitEntry]) -> NewSplit {
    let mut split = made_up(ord);
    split.entry.time_range = from
        .iter()
        .filter_map(|entry| entry.time_range)
        .reduce(|left, right| left.union(right));
    split.entry.num_docs = from.iter().map(|entry| entry.num_docs).sum();
    split
}

/// Other part of the source to which 60_000 belongs.
const SAME_SOURCE: u64 = 60_002;

/// Returns the number that represents the documents of an ingested split.
fn docs_of(ord: u64) -> u64 {
    match ord {
        SAME_SOURCE => 60_000,
        other => other,
    }
}

fn step_of(ord: u64) -> SourceStep {
    step(docs_of(ord), 7)
}

/// Uploads a split like an ingest and a merge do.
async fn upload_now(store: &IndexStore, split: &NewSplit) -> Result<(), BuildError> {
    let bytes = Bytes::from(vec![0; 100]);
    store
        .put_immutable(&split_object(&split.entry.id), bytes)
        .await
        .map(drop)
}

/// Action of a writer.
enum Deed {
    Ingest(u64),
    Merge {
        into: u64,
        from: Vec<SplitEntry>,
    },
    Collect {
        now_ms: u64,
    },
    /// Adds this field.
    Update(&'static str),
}

/// Performs an action. Returns whether it succeeded. Errors that ask for a repetition are expected.
async fn act(store: IndexStore, deed: &Deed) -> Result<bool, BuildError> {
    let told = match deed {
        Deed::Ingest(ord) => {
            let split = made_up(*ord);
            upload_now(&store, &split).await?;
            // The split was built before any update.
            publish(
                &store,
                Some(&config()),
                std::slice::from_ref(&split),
                &[step_of(*ord)],
            )
            .await
            .map(|_| true)
        }
        Deed::Merge { into, from } => {
            let split = merged_of(*into, from);
            upload_now(&store, &split).await?;
            let replacement = Replacement {
                removed: from.clone(),
                added: vec![split],
            };
            let outcome = replace(&store, std::slice::from_ref(&replacement)).await;
            outcome.map(|outcome| outcome.num_done > 0)
        }
        Deed::Collect { now_ms } => {
            let options = GcOptions {
                now_ms: *now_ms,
                // No operation takes this little time, so objects that are being published also
                // count as garbage.
                grace_ms: 0,
                dry_run: false,
                applies_retention: true,
            };
            collect(&store, options).await.map(|_| true)
        }
        Deed::Update(field) => {
            return match update(&store, &grown(field), false).await {
                Ok(report) => Ok(!report.changes.is_empty()),
                // Another writer was faster, or all attempts met conflicts.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unavailable) =>
                {
                    Ok(false)
                }
                Err(error) => Err(error),
            };
        }
    };
    match told {
        Err(error) if error.kind() == ErrorKind::Unavailable => Ok(false),
        told => told,
    }
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

fn deeds(rng: &mut Rng, live: &[SplitEntry]) -> Vec<Deed> {
    // Neighbours at any place. Two merges can select the same ones.
    let mut merge = |into: u64| {
        let at = rng.below(live.len() - 4);
        let len = 2 + rng.below(3);
        Deed::Merge {
            into,
            from: live[at..at + len].to_vec(),
        }
    };
    let mut deeds = vec![merge(50_000), merge(50_001), Deed::Ingest(60_000)];
    match rng.below(3) {
        0 => deeds.push(Deed::Ingest(60_001)),
        1 => deeds.push(Deed::Ingest(60_000)),
        _ => deeds.push(Deed::Ingest(SAME_SOURCE)),
    }
    if rng.below(4) > 0 {
        deeds.push(Deed::Collect { now_ms: 5_000 });
    }
    match rng.below(3) {
        0 => deeds.extend([Deed::Update("one"), Deed::Update("other")]),
        1 => deeds.push(Deed::Update("one")),
        _ => {}
    }
    deeds
}

/// Runs the actions concurrently, with their operations in the order of the seed.
fn run(bucket: &Arc<InMemory>, deeds: &[Deed], rng: &mut Rng) -> Vec<bool> {
    let turns = Arc::new(Turns::default());
    let actors = deeds.iter().enumerate().map(|(writer, deed)| {
        let turns = Arc::clone(&turns);
        let scheduled = ScheduledStore::with(bucket.clone(), Turn { turns, writer });
        let store = IndexStore::new(Arc::new(scheduled), Path::from("logs"), "memory");
        Box::pin(act(store.known_to_be_fit(), deed))
    });
    let mut actors: Vec<Option<Pin<Box<_>>>> = actors.map(Some).collect();
    let mut done = vec![false; deeds.len()];
    let runtime = blocking::runtime().unwrap();
    runtime.block_on(async {
        while actors.iter().any(Option::is_some) {
            for (actor, done) in actors.iter_mut().zip(&mut done) {
                let Some(running) = actor else {
                    continue;
                };
                if let std::task::Poll::Ready(told) = futures_util::poll!(running.as_mut()) {
                    *done = told.unwrap();
                    *actor = None;
                }
            }
            match turns.num_waiting() {
                // All writers are pausing after conflicts.
                0 => tokio::time::sleep(std::time::Duration::from_micros(200)).await,
                num => turns.let_go(rng.below(num)),
            }
        }
    });
    done
}

fn check(seed: u64, start: &InMemory) {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        rng.below(2);
    }
    let bucket = Arc::new(start.fork());
    let store = IndexStore::new(bucket.clone(), Path::from("logs"), "memory");
    let before = store.describe().unwrap().splits;
    let deeds = deeds(&mut rng, &before);
    let done = run(&bucket, &deeds, &mut rng);

    check_documents(seed, &store, &before, &deeds, &done);
    check_objects(seed, &store);
    run_again(&store, &deeds, &done);
    let splits = store.describe().unwrap().splits;
    let of_source = splits
        .iter()
        .filter(|split| docs_of(number_of(&split.id)) == 60_000);
    assert_eq!(of_source.count(), 1, "seed {seed}: a source is live once");
}

/// Checks that each document is live once, and that what was told as done is there.
fn check_documents(
    seed: u64,
    store: &IndexStore,
    before: &[SplitEntry],
    deeds: &[Deed],
    done: &[bool],
) {
    let described = store.describe().unwrap();
    let live: BTreeSet<u64> = described
        .splits
        .iter()
        .map(|split| number_of(&split.id))
        .collect();
    assert_eq!(
        live.len(),
        described.splits.len(),
        "seed {seed}: a split is live twice"
    );
    let mut stands_for: BTreeMap<u64, Docs> = BTreeMap::new();
    for deed in deeds {
        if let Deed::Merge { into, from } = deed {
            stands_for.insert(
                *into,
                from.iter().map(|entry| number_of(&entry.id)).collect(),
            );
        }
    }
    let mut docs: Vec<u64> = Vec::new();
    for ord in &live {
        match stands_for.get(ord) {
            Some(of) => docs.extend(of),
            None => docs.push(docs_of(*ord)),
        }
    }
    docs.sort_unstable();
    let once: Docs = docs.iter().copied().collect();
    assert_eq!(
        docs.len(),
        once.len(),
        "seed {seed}: documents are live twice"
    );
    for split in before {
        let ord = number_of(&split.id);
        assert!(once.contains(&ord), "seed {seed}: {ord} is lost");
    }
    for (deed, done) in deeds.iter().zip(done) {
        match deed {
            Deed::Ingest(ord) if *done => {
                assert!(once.contains(&docs_of(*ord)), "seed {seed}: {ord}")
            }
            Deed::Update(field) if *done => {
                let added = &store.load_config().unwrap().doc_mapping.added_fields;
                assert_eq!(
                    added,
                    &[*field],
                    "seed {seed}: an update was told and is lost"
                );
            }
            Deed::Merge { into, .. } => {
                assert_eq!(live.contains(into), *done, "seed {seed}: {into}")
            }
            _ => {}
        }
    }
}

/// Checks that no object that the index refers to is missing.
fn check_objects(seed: u64, store: &IndexStore) {
    let file = store.load_manifest().unwrap();
    let references = blocking::run(References::of(store, &file)).unwrap();
    for name in &references.objects {
        let found = blocking::run(store.len_of(&name.object())).unwrap();
        assert!(found.is_some(), "seed {seed}: {} is gone", name.object());
    }
}

/// Repeats each ingest that failed with the advice to run it again.
fn run_again(store: &IndexStore, deeds: &[Deed], done: &[bool]) {
    for (deed, done) in deeds.iter().zip(done) {
        if let (Deed::Ingest(ord), false) = (deed, done) {
            super::collect_garbage(
                store,
                &GcOptions {
                    now_ms: 9_000,
                    grace_ms: 0,
                    dry_run: false,
                    applies_retention: true,
                },
            )
            .unwrap();
            upload(store, &made_up(*ord));
            let (split, step) = (made_up(*ord), step_of(*ord));
            let (splits, steps) = (std::slice::from_ref(&split), std::slice::from_ref(&step));
            blocking::run(publish(store, None, splits, steps)).unwrap();
        }
    }
}

#[test]
fn no_schedule_loses_or_doubles_a_document() {
    let number = |name: &str, default: u64| {
        let set = std::env::var(name).ok();
        set.map_or(default, |text| text.parse().unwrap())
    };
    let (first, num) = (
        number("CANTER_SCHEDULE_SEED", 1),
        number("CANTER_SCHEDULES", 400),
    );
    // One index is far from any limit, and the next publication to the other creates pages.
    let calm = {
        let bucket = Arc::new(InMemory::new());
        let store = IndexStore::new(bucket.clone(), Path::from("logs"), "memory");
        store.create_manifest(&config()).unwrap();
        let splits: Vec<NewSplit> = (0..9).map(made_up).collect();
        splits.iter().for_each(|split| upload(&store, split));
        store.publish(&splits).unwrap();
        bucket.fork()
    };
    let brink = on_the_brink();
    for seed in first..first + num {
        check(seed, if seed % 2 == 0 { &calm } else { &brink });
    }
}
