//! Newer documents replace older ones with the same ids, whoever publishes them and wherever a publication breaks off.
//!
//! `CANTER_ID_OPERATIONS` is the number of operations of the model test (10,000 by default), and `CANTER_ID_SEED` its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::{Arc, OnceLock};

use canter_doc_mapper::IndexConfig;
use canter_split_format::{DeletedDocs, ListedSplit};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use serde_json::{Value, json};

use crate::arrivals::{IdSnapshot, LineIds};
use crate::error::{BuildError, ErrorKind};
use crate::index::publisher::DocNumbers;
use crate::index::storage::IndexStore;
use crate::index::storage::failing::{FailingStore, Failure};
use crate::index::storage::meanwhile::InterruptedStore;
use crate::ingest::{IngestOptions, ingest};
use crate::input::source::Source;
use crate::maintenance::upkeep::{Documents, MergeIndexOptions, locate_documents, merge_index};

const CATALOGUE: &str = "
version: 0.9
index_id: catalogue
doc_mapping:
  id_field: sku
  field_mappings:
    - {name: sku, type: text, tokenizer: raw}
    - {name: _version, type: u64, indexed: false, fast: true}
";

fn open(store: Arc<dyn ObjectStore>) -> IndexStore {
    IndexStore::new(store, Path::from("catalogue"), "memory")
}

fn new_index() -> (Arc<InMemory>, IndexStore) {
    let bucket = Arc::new(InMemory::new());
    let store = open(bucket.clone());
    let config = IndexConfig::from_yaml(CATALOGUE, |_| None).unwrap();
    store.create_manifest(&config).unwrap();
    (bucket, store)
}

fn options(split_num_docs: u64) -> IngestOptions {
    IngestOptions {
        split_num_docs_target: Some(split_num_docs),
        num_parsers: 1,
        num_indexers: 1,
        ..IngestOptions::default()
    }
}

fn lines(products: impl IntoIterator<Item = (String, u64)>) -> Vec<u8> {
    let lines = products
        .into_iter()
        .map(|(sku, price)| json!({"sku": sku, "price": price}).to_string() + "\n");
    lines.collect::<String>().into_bytes()
}

fn source(id: &str, lines: Vec<u8>) -> Source {
    Source::reader(id, Cursor::new(lines)).with_id(id)
}

/// Returns the documents that are live, as searches would find them.
fn live(store: &IndexStore) -> Vec<Value> {
    let listed = store.describe().unwrap().splits.into_iter().map(|entry| {
        let all = 0..u32::try_from(entry.num_docs).unwrap();
        let deletes = entry.deletes.as_ref().map(|deletes| {
            let deleted = super::super::read_deletes(store, deletes, all.end);
            crate::blocking::run(deleted).unwrap()
        });
        let left = deletes.unwrap_or_default();
        let left: Vec<u32> = left.left_of(all).flatten().collect();
        ListedSplit::new(&entry, &DeletedDocs::of_sorted(left))
    });
    let parts = locate_documents(store, listed.collect()).unwrap().unwrap();
    let mut lines = Vec::new();
    for part in parts {
        let mut documents = Documents::open(store, &part).unwrap();
        while documents.read_lines(1 << 20, &mut lines).unwrap() {}
    }
    let lines = String::from_utf8(lines).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the price of each product, of which there must be one each.
#[track_caller]
fn prices(store: &IndexStore) -> BTreeMap<String, u64> {
    let mut prices = BTreeMap::new();
    for product in live(store) {
        let sku = product["sku"].as_str().unwrap().to_owned();
        let before = prices.insert(sku.clone(), product["price"].as_u64().unwrap());
        assert_eq!(before, None, "{sku} is live twice");
    }
    prices
}

fn products(range: std::ops::Range<u64>, price: u64) -> impl Iterator<Item = (String, u64)> {
    range.map(move |nth| (format!("p{nth}"), price))
}

fn expected(list: impl IntoIterator<Item = (String, u64)>) -> BTreeMap<String, u64> {
    list.into_iter().collect()
}

#[test]
fn a_nightly_ingest_replaces_what_changed_also_after_a_merge() {
    let (_bucket, store) = new_index();
    let first = lines(products(0..30, 1));
    ingest(&store, &options(10), vec![source("monday", first)], &()).unwrap();
    assert_eq!(store.describe().unwrap().num_splits, 3);
    let second = lines(products(5..12, 2).chain(products(30..32, 2)));
    ingest(
        &store,
        &options(10),
        vec![source("tuesday", second.clone())],
        &(),
    )
    .unwrap();
    let mut wanted = expected(products(0..30, 1));
    wanted.extend(products(5..12, 2).chain(products(30..32, 2)));
    assert_eq!(prices(&store), wanted);
    assert_eq!(store.describe().unwrap().num_docs, 32);
    // The same file again changes nothing.
    let again = ingest(&store, &options(10), vec![source("tuesday", second)], &()).unwrap();
    assert_eq!((again.num_ingested_docs, again.num_known_docs), (0, 9));
    assert_eq!(prices(&store), wanted);

    let merging = MergeIndexOptions {
        rewrite_deleted: true,
        ..MergeIndexOptions::default()
    };
    merge_index(&store, &merging, &|_| ()).unwrap();
    assert_eq!(store.describe().unwrap().num_deleted_docs, 0);
    assert_eq!(prices(&store), wanted);
    // The merged splits have the ids.
    ingest(
        &store,
        &options(10),
        vec![source("wednesday", lines(products(0..40, 3)))],
        &(),
    )
    .unwrap();
    assert_eq!(prices(&store), expected(products(0..40, 3)));
    assert_eq!(
        store.describe().unwrap().num_splits,
        4,
        "an empty split is gone"
    );
}

#[test]
fn the_last_of_equal_ids_counts_within_an_ingest() {
    let (_bucket, store) = new_index();
    // Twice in a split, in two splits, in two sources; the third split has nothing that is not replaced.
    let one = lines(
        products(0..8, 1)
            .chain(products(2..4, 2))
            .chain(products(4..7, 3))
            .chain(products(20..27, 3))
            .chain(products(30..40, 4)),
    );
    let two = lines(products(30..40, 5).chain(products(0..1, 6)));
    let sources = vec![source("b", one), source("a", two)];
    ingest(&store, &options(10), sources, &()).unwrap();
    let mut wanted = expected(products(0..8, 1));
    for (range, price) in [(2..4, 2), (4..7, 3), (20..27, 3), (30..40, 5), (0..1, 6)] {
        wanted.extend(products(range, price));
    }
    assert_eq!(prices(&store), wanted);
    assert_eq!(store.describe().unwrap().num_splits, 4);
}

#[test]
fn documents_without_ids_replace_nothing_and_read_nothing() {
    let (bucket, store) = new_index();
    ingest(
        &store,
        &options(10),
        vec![source("a", lines(products(0..10, 1)))],
        &(),
    )
    .unwrap();
    let counting = Arc::new(FailingStore::new(bucket, u64::MAX, Failure::CrashBefore));
    let cold = open(counting.clone());
    let mut num_ops = Vec::new();
    for name in ["b", "c"] {
        let before = counting.num_ops();
        let line = b"{\"price\": 7}\n".to_vec();
        ingest(&cold, &options(10), vec![source(name, line)], &()).unwrap();
        num_ops.push(counting.num_ops() - before);
    }
    // The first one probes the store.
    assert!(num_ops[1] <= 6, "{num_ops:?}");
    assert_eq!(live(&store).len(), 12);
    let wrong = b"{\"sku\": 7}\n{\"sku\": \"\"}\n{\"sku\": \"p1\", \"price\": 2}\n".to_vec();
    let report = ingest(&store, &options(10), vec![source("d", wrong)], &()).unwrap();
    assert_eq!(report.rejects_by_reason.get("invalid_id"), Some(&2));
    assert_eq!(live(&store).len(), 12);
}

/// A thousand new ids are looked up in a hundred splits: with their filters in memory, nothing is read for it.
#[test]
fn looking_up_new_ids_is_cheap() {
    let (bucket, store) = new_index();
    for ord in 0..100_u64 {
        let some = lines(products(ord * 200..(ord + 1) * 200, 1));
        ingest(
            &store,
            &options(1_000),
            vec![source(&format!("s{ord}"), some)],
            &(),
        )
        .unwrap();
    }
    assert_eq!(store.describe().unwrap().num_splits, 100);
    let ids: Vec<String> = products(1_000_000..1_001_000, 1)
        .map(|(sku, _)| sku)
        .collect();
    let counting = Arc::new(FailingStore::new(bucket, u64::MAX, Failure::CrashBefore));
    let reader = open(counting.clone());
    let mut costs = Vec::new();
    for _ in 0..2 {
        let (ops, bytes) = (counting.num_ops(), counting.num_bytes());
        let found = IdSnapshot::read(&reader, ids.iter().map(String::as_str), [], &[]).unwrap();
        assert!(ids.iter().all(|id| found.version(id).is_none()));
        costs.push((counting.num_ops() - ops, counting.num_bytes() - bytes));
    }
    let manifest_len = store.describe().unwrap().num_head_bytes;
    println!(
        "cold {:?}, warm {:?}, heads {manifest_len}",
        costs[0], costs[1]
    );
    // Warm: the manifest alone.
    assert_eq!(costs[1].0, 1, "{costs:?}");
    // Cold: manifest, pages, digests, and the filters of a few new splits. Only the bytes grow with the number of ids.
    assert!(costs[0].0 <= 16, "{costs:?}");
    let num_ids = 100 * 200;
    assert!(costs[0].1 <= num_ids * 6 + 500_000, "{costs:?}");
    // Of ids that are there, the blocks of their splits.
    let old: Vec<String> = products(0..1_000, 1).map(|(sku, _)| sku).collect();
    let ops = counting.num_ops();
    let found = IdSnapshot::read(&reader, old.iter().map(String::as_str), [], &[]).unwrap();
    assert!(old.iter().all(|id| found.version(id).is_some()));
    assert!(
        counting.num_ops() - ops <= 16,
        "{}",
        counting.num_ops() - ops
    );
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// Operation on a product.
#[derive(Clone, Debug)]
enum Op {
    Put(String, u64),
    Create(String, u64),
    Delete(String),
}

impl Op {
    fn sku(&self) -> &str {
        match self {
            Self::Put(sku, _) | Self::Create(sku, _) | Self::Delete(sku) => sku,
        }
    }
}

/// State of the model: price and version of each product.
type Model = BTreeMap<String, (u64, u64)>;

fn apply(model: &mut Model, ops: &[Op]) -> Vec<bool> {
    let mut done = Vec::new();
    for op in ops {
        let before = model.get(op.sku()).copied();
        let version = before.map_or(1, |(_, version)| version + 1);
        done.push(match op {
            Op::Create(..) if before.is_some() => false,
            Op::Put(sku, price) | Op::Create(sku, price) => {
                model.insert(sku.clone(), (*price, version));
                true
            }
            Op::Delete(sku) => model.remove(sku).is_some(),
        });
    }
    done
}

/// Performs a batch as a server does: looks up, decides, publishes, and starts anew if others changed the same products.
/// Says of each operation whether it was done; nothing if an earlier attempt has published the batch.
fn perform(store: &IndexStore, name: &str, ops: &[Op]) -> Result<Option<Vec<bool>>, BuildError> {
    let lines = lines(ops.iter().map(|op| match op {
        Op::Put(sku, price) | Op::Create(sku, price) => (sku.clone(), *price),
        Op::Delete(sku) => (sku.clone(), 0),
    }));
    let ids = LineIds::of_source(name, &lines);
    loop {
        let skus = ops.iter().map(Op::sku);
        let snapshot = IdSnapshot::read(store, skus.clone(), [], &[ids])?;
        if snapshot.has_lines(ids) {
            return Ok(None);
        }
        let mut model: Model = BTreeMap::new();
        for sku in skus.clone() {
            if let Some(live) = snapshot.version(sku) {
                model.insert(sku.to_owned(), (0, live.version));
            }
        }
        let before = model.clone();
        let done = apply(&mut model, ops);
        let mut last: BTreeMap<&str, u64> = BTreeMap::new();
        for (line, (op, done)) in (0..).zip(ops.iter().zip(&done)) {
            if *done {
                last.insert(op.sku(), line);
            }
        }
        let adds = |line: &u64| !matches!(ops[*line as usize], Op::Delete(_));
        let added: BTreeMap<u64, &str> = last
            .iter()
            .filter(|(_, line)| adds(line))
            .map(|(sku, line)| (*line, *sku))
            .collect();
        let left_out = (0..ops.len() as u64).filter(|line| !added.contains_key(line));
        let left_out: BTreeSet<u64> = left_out.map(|line| line + 1).collect();
        let removed = before.keys().filter(|sku| !model.contains_key(*sku));
        let numbers = added.iter().map(|(line, sku)| {
            let numbers = DocNumbers {
                version: Some(model[*sku].1),
                seq_no: None,
            };
            (ids, *line, numbers)
        });
        let batch = snapshot.into_batch(removed.map(String::as_str), numbers, 0);
        let options = IngestOptions {
            ids: Some(Arc::new(batch)),
            ..options(1_000)
        };
        let source = Source::lines("requests", lines.clone())
            .with_id(name)
            .without(left_out);
        match ingest(store, &options, vec![source], &()) {
            Ok(_) => return Ok(Some(done)),
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => return Err(error),
        }
    }
}

fn seed() -> u64 {
    let seed = std::env::var("CANTER_ID_SEED").ok();
    seed.and_then(|seed| seed.parse().ok()).unwrap_or(7)
}

fn drawn(random: &mut Random, num_products: u64, price: &mut u64) -> Vec<Op> {
    let num = 20 + random.below(60);
    let ops = (0..num).map(|_| {
        *price += 1;
        let sku = format!("p{}", random.below(num_products));
        match random.below(6) {
            0 => Op::Delete(sku),
            1 => Op::Create(sku, *price),
            _ => Op::Put(sku, *price),
        }
    });
    ops.collect()
}

/// Two writers with the same ids, of which one is killed at some operation on its store, or publishes between two of the other's.
/// What is killed is performed again, as what is in the spool. Whatever was acknowledged is live, in its order.
#[test]
fn two_writers_that_are_killed_leave_the_last_version_of_each_id() {
    let num_ops = std::env::var("CANTER_ID_OPERATIONS").ok();
    let num_ops = num_ops.and_then(|num| num.parse().ok()).unwrap_or(10_000);
    let mut random = Random(seed());
    let (bucket, store) = new_index();
    let (mut model, mut price, mut num_done, mut batch) = (Model::new(), 0, 0, 0_u128);
    let (mut num_killed, mut num_between) = (0, 0);
    while num_done < num_ops {
        batch += 1;
        let mine = drawn(&mut random, 200, &mut price);
        let name = format!("t{batch:032x}");
        num_done += mine.len() as u64;
        match random.below(3) {
            0 => {
                let failure = [
                    Failure::CrashBefore,
                    Failure::CrashAfter,
                    Failure::LostAnswer,
                ];
                let failure = failure[random.below(3) as usize];
                let failing = FailingStore::new(bucket.clone(), random.below(14), failure);
                let before = perform(&open(Arc::new(failing)), &name, &mine);
                num_killed += u64::from(before.is_err());
                let after = perform(&store, &name, &mine).unwrap();
                let wanted = apply(&mut model, &mine);
                // One of both has published it, and only one.
                match (before, after) {
                    (Ok(Some(done)), None) | (Err(_), Some(done)) => assert_eq!(done, wanted),
                    (Err(_), None) => {}
                    other => panic!("{other:?}"),
                }
            }
            1 => {
                let theirs = drawn(&mut random, 200, &mut price);
                num_done += theirs.len() as u64;
                let at = random.below(12);
                let other = open(bucket.clone());
                let their_name = format!("t{:032x}", batch + (1_u128 << 100));
                let their_done = Arc::new(OnceLock::new());
                let between = InterruptedStore::at(bucket.clone(), at, {
                    let (theirs, told) = (theirs.clone(), Arc::clone(&their_done));
                    move || {
                        let done = perform(&other, &their_name, &theirs).unwrap().unwrap();
                        told.set(done).expect("once");
                    }
                });
                let done = perform(&open(Arc::new(between)), &name, &mine)
                    .unwrap()
                    .unwrap();
                match their_done.get().cloned() {
                    None => assert_eq!(done, apply(&mut model, &mine)),
                    Some(their_done) => {
                        num_between += 1;
                        // Theirs was acknowledged while mine was under way: either may have been first.
                        let mut first = model.clone();
                        let in_order = [apply(&mut first, &theirs), apply(&mut first, &mine)];
                        let mut second = model.clone();
                        let reversed = [apply(&mut second, &mine), apply(&mut second, &theirs)];
                        let versions = versions(&store);
                        if versions == first && in_order == [their_done.clone(), done.clone()] {
                            model = first;
                        } else {
                            assert_eq!(versions, second, "{batch}: neither one nor the other");
                            assert_eq!(reversed, [done, their_done]);
                            model = second;
                        }
                    }
                }
            }
            _ => {
                let done = perform(&store, &name, &mine).unwrap().unwrap();
                assert_eq!(done, apply(&mut model, &mine), "{batch}");
            }
        }
        if batch % 16 == 0 {
            merge_index(&store, &MergeIndexOptions::default(), &|_| ()).unwrap();
            assert_eq!(versions(&store), model, "after {batch} batches");
        }
    }
    assert_eq!(versions(&store), model);
    assert!(
        num_killed > 20 && num_between > 20,
        "{num_killed} {num_between}"
    );
}

/// Returns price and version of each live product.
fn versions(store: &IndexStore) -> Model {
    let mut model = Model::new();
    for product in live(store) {
        let version = product
            .get("_version")
            .map_or(1, |version| version.as_u64().unwrap());
        let state = (product["price"].as_u64().unwrap(), version);
        let before = model.insert(product["sku"].as_str().unwrap().to_owned(), state);
        assert_eq!(before, None, "{product} is live twice");
    }
    model
}
