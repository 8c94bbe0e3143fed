//! Tests of delayed callers: other callers act between the read of the list of indexes and the
//! dependent swap, or between a swap and its answer, which gets lost.

use std::sync::Arc;

use canter_doc_mapper::IndexConfig;
use object_store::ObjectStore;
use object_store::memory::InMemory;

use super::tests::{
    A1, A2, HOUR_MS, LOGS_A1, LOGS_A2, config, created, folder, folders, new, over,
};
use super::{Catalog, Creation, NewIndex};
use crate::blocking;
use crate::error::ErrorKind;
use crate::index::storage::meanwhile::InterruptedStore;

/// Root with a caller that is interrupted at the `nth` swap.
struct Bench {
    memory: Arc<InMemory>,
    others: Catalog,
}

impl Bench {
    fn new() -> Self {
        let memory = Arc::new(InMemory::new());
        Self {
            others: over(Arc::clone(&memory) as Arc<dyn ObjectStore>),
            memory,
        }
    }

    fn interrupted(
        &self,
        nth: u64,
        is_before: bool,
        meanwhile: impl FnOnce(&Catalog) + Send + 'static,
    ) -> Catalog {
        let others = self.others.clone();
        let inner = Arc::clone(&self.memory);
        let deed = move || meanwhile(&others);
        over(Arc::new(InterruptedStore::at_swap(
            inner,
            "indexes.json",
            nth,
            is_before,
            deed,
        )))
    }

    /// Returns the folder of the index of this name, after a check that it is complete.
    fn folder_of(&self, name: &str) -> Option<String> {
        let entry = self.others.indexes().unwrap().remove(name)?;
        let index = self.others.store_of(&entry).unwrap();
        assert_eq!(index.load_config().unwrap(), config());
        Some(entry.folder.as_str().to_owned())
    }

    /// Returns the folders that remain after a sweep at a much later time.
    fn rest(&self) -> Vec<String> {
        self.others.sweep(9 * HOUR_MS, HOUR_MS).unwrap();
        folders(&self.memory).into_iter().collect()
    }
}

/// Creates an index without its last swap.
fn begun<'c>(catalog: &Catalog, config: &'c IndexConfig) -> NewIndex<'c> {
    let new = new("logs", A1, config);
    let refusal = blocking::run(catalog.reserve(&new, &folder("logs", A1))).unwrap();
    assert_eq!(refusal, None);
    let store = catalog.store.below(&folder("logs", A1)).unwrap();
    store.create_manifest(config).unwrap();
    new
}

#[test]
fn a_sweep_takes_nothing_of_an_index_that_is_completed_while_it_looks() {
    let bench = Bench::new();
    begun(&bench.others, &config());
    let sweeping = bench.interrupted(0, true, |others| {
        let config = config();
        let new = new("logs", A1, &config);
        created(blocking::run(others.settle(&new, &folder("logs", A1))));
    });
    assert_eq!(sweeping.sweep(9 * HOUR_MS, HOUR_MS).unwrap(), 0);
    assert_eq!(bench.folder_of("logs").as_deref(), Some(LOGS_A1));
    assert_eq!(bench.rest(), [LOGS_A1]);
}

#[test]
fn an_index_that_is_condemned_is_not_completed_any_more() {
    let bench = Bench::new();
    let config = config();
    let new = begun(&bench.others, &config);
    let condemned = blocking::run(bench.others.condemn(9 * HOUR_MS)).unwrap();
    assert_eq!(condemned, [folder("logs", A1)]);
    let late = blocking::run(bench.others.settle(&new, &folder("logs", A1))).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Unavailable);
    assert_eq!(bench.folder_of("logs"), None);
    // The next sweep continues an interrupted one, regardless of the time between them.
    assert_eq!(bench.others.sweep(HOUR_MS, HOUR_MS).unwrap(), 1);
    assert_eq!(bench.rest(), Vec::<String>::new());
}

#[test]
fn a_removal_whose_answer_was_lost_leaves_what_was_made_since_alone() {
    let bench = Bench::new();
    let config = config();
    let first = created(bench.others.create(&new("logs", A1, &config)));
    let removing = bench.interrupted(0, false, |others| {
        created(others.create(&new("logs", A2, &self::config())));
    });
    assert_eq!(removing.remove("logs", HOUR_MS).unwrap(), Some(first));
    assert_eq!(bench.folder_of("logs").as_deref(), Some(LOGS_A2));
    assert_eq!(bench.rest(), [LOGS_A2]);
}

#[test]
fn an_index_that_was_made_and_deleted_is_not_made_again_because_an_answer_was_lost() {
    for replaces in [false, true] {
        let bench = Bench::new();
        // The first swap reserves the folder, and the second creates the index.
        let making = bench.interrupted(1, false, |others| {
            let entry = others.remove("logs", HOUR_MS).unwrap().unwrap();
            others.remove_objects(&entry).unwrap();
        });
        let config = config();
        let asked = NewIndex {
            replaces,
            ..new("logs", A1, &config)
        };
        let creation = making.create(&asked).unwrap();
        assert!(matches!(creation, Creation::Created { replaced: None, .. }));
        assert_eq!(bench.folder_of("logs"), None);
        assert_eq!(bench.rest(), Vec::<String>::new());
    }
}

#[test]
fn an_index_that_took_the_place_of_another_keeps_it() {
    let bench = Bench::new();
    let making = bench.interrupted(1, false, |others| {
        let config = config();
        let over = NewIndex {
            replaces: true,
            ..new("logs", A2, &config)
        };
        created(others.create(&over));
    });
    let config = config();
    let asked = NewIndex {
        replaces: true,
        ..new("logs", A1, &config)
    };
    assert_eq!(created(making.create(&asked)).folder.as_str(), LOGS_A1);
    assert_eq!(bench.folder_of("logs").as_deref(), Some(LOGS_A2));
    assert_eq!(bench.rest(), [LOGS_A2]);
}
