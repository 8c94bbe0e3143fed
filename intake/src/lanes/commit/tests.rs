//! Batches with a part that cannot be published, and documents whose first bytes look like another
//! format.

use canter_index_builder::spool;

use super::*;
use crate::lanes::lane::Acknowledge;
use crate::lanes::queue::LaneSettings;
use crate::tests::{Bench, SOON, document, problems_of};
use canter_index_builder::spooled_source;

/// Returns a committer that runs in the thread of the test, and the state that it shares with
/// clients.
fn committer(bench: &Bench) -> (Committer, Arc<Shared>) {
    let settings = LaneSettings {
        commit_interval: Duration::ZERO,
        ..LaneSettings::default()
    };
    let shared = Arc::new(Shared::new(bench.store(), settings));
    (Committer::new(Arc::clone(&shared)), shared)
}

/// Returns the parts that are due now.
fn due(shared: &Shared) -> Vec<Part> {
    match shared.next(Duration::ZERO) {
        Next::Parts(parts) => parts,
        Next::Nothing { .. } => Vec::new(),
    }
}

/// A second check may run before the parts of the first one are published.
#[test]
fn what_was_left_in_the_spool_is_taken_over_once() {
    let bench = Bench::new(1 << 20);
    let store = bench.store();
    spool(&store, "left", b"{\"n\": 1}\n").unwrap();
    let (mut committer, shared) = committer(&bench);
    for _ in 0..3 {
        committer.look_into_spool();
    }
    let parts = due(&shared);
    assert_eq!(parts.len(), 1);
    committer.commit(parts);
    assert_eq!(bench.num_docs(), 1);
    assert_eq!(spooled(&store).unwrap(), Vec::<String>::new());
}

/// Puts two objects into the spool that cannot be published: one whose documents differ from those
/// published under its name, and a damaged one.
fn spool_bad(bench: &Bench) -> Vec<String> {
    let store = bench.store();
    let lines = b"{\"n\": 1}\n{\"n\": 2}\n".to_vec();
    let before = vec![spooled_source("another", lines)];
    ingest(&store, &IngestOptions::default(), before, &()).unwrap();
    spool(&store, "another", b"{\"n\": 1}\n").unwrap();
    let damaged = bench.folder.path().join("index/spool/damaged.ndjson.zst");
    std::fs::write(damaged, b"no zstd").unwrap();
    vec!["another".to_owned(), "damaged".to_owned()]
}

#[test]
fn what_cannot_be_published_holds_up_nothing_else() {
    let bench = Bench::new(1 << 20);
    let bad = spool_bad(&bench);
    let store = bench.store();
    for id in ["a", "b", "x", "y", "z"] {
        spool(&store, id, b"{\"n\": 3}\n").unwrap();
    }
    let (mut committer, shared) = committer(&bench);
    committer.look_into_spool();
    let parts = due(&shared);
    assert_eq!(parts.len(), 7);
    committer.commit(parts);
    assert_eq!(bench.num_docs(), 2 + 5);
    assert_eq!(spooled(&store).unwrap(), bad);
    assert!(due(&shared).is_empty(), "they are left where they are");
    // Later checks try them again, and other documents are published as before.
    spool(&store, "later", b"{\"n\": 4}\n").unwrap();
    committer.look_into_spool();
    committer.look_into_spool();
    let parts = due(&shared);
    assert_eq!(parts.len(), 3);
    committer.commit(parts);
    assert_eq!(bench.num_docs(), 2 + 6);
    assert_eq!(spooled(&store).unwrap(), bad);
}

#[tokio::test]
async fn who_sends_documents_does_not_suffer_from_what_is_in_the_spool() {
    let bench = Bench::new(1 << 20);
    let bad = spool_bad(&bench);
    let lane = bench.lane(Duration::from_millis(100));
    let (good, more) = (document(4), document(5));
    let (good, more): ([&[u8]; 1], [&[u8]; 1]) = ([&good], [&more]);
    let (added, durable) = tokio::join!(
        lane.add(&good, Acknowledge::Published),
        lane.add(&more, Acknowledge::Durable),
    );
    assert!(matches!(added, Ok(Taken { ids: Some(_), .. })), "{added:?}");
    assert!(
        matches!(durable, Ok(Taken { ids: Some(_), .. })),
        "{durable:?}"
    );
    while spooled(&bench.store()).unwrap() != bad {
        tokio::time::sleep(SOON).await;
    }
    // No document of this batch waits for them any longer.
    lane.add(&good, Acknowledge::PublishedNow).await.unwrap();
    lane.publish_now().await.unwrap();
    assert_eq!(bench.num_docs(), 2 + 3);
}

/// If every part fails, the search for faulty parts stops early, and all durable parts are retried.
#[test]
fn an_index_that_takes_nothing_is_tried_again_with_all_that_is_durable() {
    let bench = Bench::new(1 << 20);
    let store = bench.store();
    let ids: Vec<String> = (10..40).map(|ord| format!("left{ord}")).collect();
    for id in &ids {
        spool(&store, id, b"{\"n\": 3}\n").unwrap();
    }
    let manifest = bench.folder.path().join("index/manifest.canter");
    let whole = std::fs::read(&manifest).unwrap();
    std::fs::write(&manifest, b"no manifest").unwrap();
    let (mut committer, shared) = committer(&bench);
    committer.look_into_spool();
    let parts = due(&shared);
    assert_eq!(parts.len(), ids.len());
    committer.commit(parts);
    assert_eq!(spooled(&store).unwrap(), ids);
    std::fs::write(&manifest, whole).unwrap();
    // Ends the pause.
    shared.has_published();
    let parts = due(&shared);
    assert_eq!(parts.len(), ids.len());
    committer.commit(parts);
    assert_eq!(bench.num_docs(), ids.len() as u64);
    assert_eq!(spooled(&store).unwrap(), Vec::<String>::new());
}

const KEEPS_ALL: &str = "
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
ingest_settings:
  on_error: keep
  multiline_start: '^S'
";

/// At the start of a file, these bytes announce a compressed stream, a table or UTF-8 text, and a
/// line that does not begin with `S` continues the one before.
#[tokio::test]
async fn each_document_is_one_whatever_it_begins_with() {
    let beginnings: [&[u8]; 6] = [
        b"PAR1",
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b"\x53\x2a\x4d\x18",
        b"\xef\xbb\xbf",
        b"Start ",
    ];
    let bench = Bench::of(KEEPS_ALL, 1 << 20);
    let lane = bench.lane(SOON);
    let mut num_docs = 0;
    for beginning in beginnings {
        for acknowledge in [Acknowledge::Published, Acknowledge::Durable] {
            let first = [beginning, b"{\"n\": 1}"].concat();
            let documents: [&[u8]; 3] = [&first, b"{\"n\": 2}", b"{\"n\": 3}"];
            let problems = problems_of(&lane, &documents);
            assert!(problems.iter().all(Option::is_none), "{beginning:x?}");
            lane.add(&documents, acknowledge).await.unwrap();
            lane.publish_now().await.unwrap();
            num_docs += 3;
            assert_eq!(bench.num_docs(), num_docs, "{beginning:x?} {acknowledge:?}");
        }
    }
    assert_eq!(spooled(&bench.store()).unwrap(), Vec::<String>::new());
}

/// The publishing process may have a lower limit than the one that acknowledged.
#[test]
fn a_document_that_was_acknowledged_is_not_too_long_for_the_next_process() {
    let bench = Bench::of(KEEPS_ALL, 1 << 20);
    let store = bench.store();
    let long = format!("{{\"text\": \"{}\"}}\n{{\"n\": 2}}\n", "x".repeat(3_000));
    spool(&store, "long", long.as_bytes()).unwrap();
    let settings = LaneSettings {
        commit_interval: Duration::ZERO,
        max_document_bytes: 1_000,
        ..LaneSettings::default()
    };
    let shared = Arc::new(Shared::new(store, settings));
    let mut committer = Committer::new(Arc::clone(&shared));
    committer.look_into_spool();
    committer.commit(due(&shared));
    // Split by the limit, they would be four documents, and the last would have another id.
    assert_eq!(bench.num_docs(), 2);
    assert_eq!(spooled(&bench.store()).unwrap(), Vec::<String>::new());
}

/// Panics, as a bug in tantivy would, while the batch of that name is complete.
fn ingest_without_poison(
    store: &IndexStore,
    options: &IngestOptions,
    sources: Vec<Source>,
) -> Result<IngestReport, BuildError> {
    let has_poison = sources
        .iter()
        .any(|source| source.name().contains("poison"));
    assert!(
        !has_poison || options.max_rejects > Some(0),
        "page_id < 4096"
    );
    ingest(store, options, sources, &())
}

fn find_poison(_: &IndexStore, documents: &[&[u8]]) -> Result<Vec<usize>, BuildError> {
    let places = documents.iter().enumerate();
    let bad = places.filter(|(_, document)| document.windows(6).any(|part| part == b"poison"));
    Ok(bad.map(|(place, _)| place).collect())
}

#[test]
fn documents_with_which_building_panics_are_set_aside_and_the_others_published_once() {
    const POISON: &[u8] = b"{\"text\": \"poison\"}\n";
    let bench = Bench::new(1 << 20);
    let store = bench.store();
    let lines = [POISON, b"{\"n\": 1}\n", POISON, b"{\"n\": 2}\n"].concat();
    let folder = bench.folder.path().join("index");
    let (mut committer, shared) = committer(&bench);
    committer.builder = Builder {
        ingest: ingest_without_poison,
        unbuildable: find_poison,
    };
    // Among other parts, alone, and after a kill before the spooled object was removed.
    for good in [Some("good"), None] {
        if let Some(id) = good {
            spool(&store, id, b"{\"n\": 3}\n").unwrap();
        }
        spool(&store, "poison", &lines).unwrap();
        committer.look_into_spool();
        committer.look_into_spool();
        committer.commit(due(&shared));
        assert_eq!(bench.num_docs(), 1 + 2);
        assert_eq!(spooled(&store).unwrap(), Vec::<String>::new());
        let kept = folder.join("rejected/poisonunbuildable.ndjson");
        assert_eq!(std::fs::read(kept).unwrap(), [POISON, POISON].concat());
    }
}

#[test]
fn a_panic_that_no_document_explains_leaves_the_thread_and_the_spool_as_they_are() {
    let bench = Bench::new(1 << 20);
    let store = bench.store();
    let (mut committer, shared) = committer(&bench);
    committer.builder = Builder {
        ingest: ingest_without_poison,
        unbuildable: |_, _| Ok(Vec::new()),
    };
    spool(&store, "poison", b"{\"n\": 1}\n").unwrap();
    committer.look_into_spool();
    committer.commit(due(&shared));
    assert_eq!(spooled(&store).unwrap(), ["poison"]);
    committer.builder = Builder::default();
    shared.has_published();
    committer.commit(due(&shared));
    assert_eq!(bench.num_docs(), 1);
}

const GRAMS: &str = "
version: 0.9
index_id: grams
doc_mapping:
  tokenizers:
    - {name: grams, type: ngram, min_gram: 1, max_gram: 100}
  field_mappings:
    - {name: text, type: text, tokenizer: grams}
indexing_settings:
  max_ngram_diff: 99
";

#[tokio::test]
async fn a_document_of_too_many_terms_is_refused_and_set_aside_if_an_earlier_version_took_it() {
    let bench = Bench::of(GRAMS, 4 << 20);
    let store = bench.store();
    let long = format!("{{\"text\": \"{}\"}}", "word".repeat(1 << 18));
    let lane = bench.lane(SOON);
    let documents: [&[u8]; 2] = [long.as_bytes(), b"{\"text\": \"short\"}"];
    let problems = problems_of(&lane, &documents);
    assert_eq!(problems[0].as_ref().unwrap().reason, "too_many_terms");
    assert_eq!(problems[1], None);
    lane.stop();
    let lines = [long.as_bytes(), b"\n{\"text\": \"short\"}\n"].concat();
    spool(&store, "before", &lines).unwrap();
    let (mut committer, shared) = committer(&bench);
    committer.look_into_spool();
    committer.commit(due(&shared));
    assert_eq!(bench.num_docs(), 1);
    assert_eq!(spooled(&store).unwrap(), Vec::<String>::new());
    let kept = bench.folder.path().join("index/rejected/before.ndjson");
    assert_eq!(
        std::fs::read(kept).unwrap(),
        format!("{long}\n").into_bytes()
    );
}
