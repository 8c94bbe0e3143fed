//! Fetching the documents of hits: all their bytes at once, then each block of documents once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::join_all;
use tantivy::TantivyDocument;

use crate::SearchError;
use crate::leaf::PartialHit;
use crate::session::exchange::Exchange;
use crate::session::protocol::ByteClass;
use crate::split::{Documents, HeadSource, Indexes, OpenSplit};

/// The document of a hit, and the split it is in.
pub(super) struct Document<'a> {
    pub(super) split: &'a OpenSplit,
    pub(super) document: TantivyDocument,
}

/// The documents of `hits`, in their order; a split that fails has an error for each of its hits.
///
/// # Errors
/// If the host stops the search.
pub(super) async fn fetch_docs<'a>(
    hits: &[PartialHit],
    sources: &BTreeMap<u32, HeadSource>,
    opened: &'a mut BTreeMap<u32, Arc<OpenSplit>>,
    indexes: &Indexes,
    exchange: &Exchange,
) -> Result<Vec<Result<Document<'a>, SearchError>>, SearchError> {
    let mut needed: Vec<u32> = hits.iter().map(|hit| hit.split_ord).collect();
    canter_sorting::sort(&mut needed);
    needed.dedup();
    let mut failures = open_missing(&needed, sources, opened, indexes).await;
    let opened = &*opened;
    let open = needed.iter().filter_map(|split_ord| {
        let split = opened.get(split_ord)?;
        Some(async move { (*split_ord, Documents::open(split).await) })
    });
    let mut stored: BTreeMap<u32, Documents<'a>> = BTreeMap::new();
    for (split_ord, documents) in join_all(open).await {
        match documents {
            Ok(documents) => {
                stored.insert(split_ord, documents);
            }
            Err(error) => {
                failures.entry(split_ord).or_insert(error);
            }
        }
    }
    let loads = missing_blocks(hits, &stored).into_iter();
    let loads = loads.filter_map(|(split_ord, range)| {
        let body = &opened.get(&split_ord)?.body;
        Some(async move { (split_ord, body.load(range, ByteClass::DocStore).await) })
    });
    for (split_ord, loaded) in join_all(loads).await {
        if let Err(error) = loaded {
            failures.entry(split_ord).or_insert(error);
        }
    }
    let places = by_place(hits);
    let interrupt = exchange.interrupt();
    let mut documents: BTreeMap<usize, Result<Document<'a>, SearchError>> = BTreeMap::new();
    for (split_ord, places) in &places {
        // Let go of behind its documents: it has buffers to decompress with.
        let mut stored = stored.remove(split_ord);
        for (doc, place) in places {
            interrupt.check()?;
            let document = match (failures.get(split_ord), &mut stored) {
                (Some(failure), _) => Err(failure.clone()),
                (None, Some(stored)) => stored.read(*doc),
                (None, None) => Err(SearchError::internal("a hit's split is not open")),
            };
            let split = opened.get(split_ord);
            let document = document.and_then(|document| {
                let split =
                    split.ok_or_else(|| SearchError::internal("a hit's split is not open"))?;
                Ok(Document { split, document })
            });
            documents.insert(*place, document);
        }
    }
    Ok(documents.into_values().collect())
}

/// Documents with their places among the hits, in the order in which they lie in their split: so that a block, which
/// holds many of them, is decompressed once and not for each.
fn by_place(hits: &[PartialHit]) -> BTreeMap<u32, Vec<(u32, usize)>> {
    let mut places: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
    for (place, hit) in hits.iter().enumerate() {
        places
            .entry(hit.split_ord)
            .or_default()
            .push((hit.doc, place));
    }
    for docs in places.values_mut() {
        canter_sorting::sort(docs);
    }
    places
}

/// Opens the splits that are not open yet; says which could not be.
async fn open_missing(
    needed: &[u32],
    sources: &BTreeMap<u32, HeadSource>,
    opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    indexes: &Indexes,
) -> BTreeMap<u32, SearchError> {
    let needed: Vec<u32> = needed
        .iter()
        .copied()
        .filter(|split_ord| !opened.contains_key(split_ord))
        .collect();
    let opens = needed.iter().map(|split_ord| async move {
        let source = sources
            .get(split_ord)
            .ok_or_else(|| SearchError::internal(format!("no split {split_ord} in the plan")))?;
        let mut source = source.clone();
        // Hits are none of the deleted documents: which those are is not asked again.
        source.entry.deletes = None;
        indexes.open(source).await
    });
    let mut failures: BTreeMap<u32, SearchError> = BTreeMap::new();
    for (split_ord, split) in needed.iter().zip(join_all(opens).await) {
        match split {
            Ok(split) => {
                opened.insert(*split_ord, Arc::new(split));
            }
            Err(error) => {
                failures.insert(*split_ord, error);
            }
        }
    }
    failures
}

/// The blocks of documents that are not here, each once, in the order of the hits that are in them: a budget that is
/// not enough for all of them buys the documents of the first hits.
fn missing_blocks(
    hits: &[PartialHit],
    stored: &BTreeMap<u32, Documents<'_>>,
) -> Vec<(u32, Range<u64>)> {
    let mut seen = BTreeSet::new();
    let mut missing = Vec::new();
    for hit in hits {
        let documents = stored.get(&hit.split_ord);
        // What is wrong with a document that there is not, reading it says.
        let range = documents.and_then(|documents| {
            let is_missing = !documents.is_here(hit.doc);
            documents.range_of(hit.doc).ok().filter(|_| is_missing)
        });
        if let Some(range) = range
            && seen.insert((hit.split_ord, range.start))
        {
            missing.push((hit.split_ord, range));
        }
    }
    missing
}
