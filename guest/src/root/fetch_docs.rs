//! Fetching the documents of hits: all their bytes at once, then each block of the doc store once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::join_all;
use tantivy::{DocAddress, TantivyDocument};

use crate::SearchError;
use crate::leaf::PartialHit;
use crate::session::exchange::Exchange;
use crate::session::protocol::ByteClass;
use crate::split::{HeadSource, Mappers, OpenSplit, open_split};

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
    mappers: &Mappers,
    exchange: &Exchange,
) -> Result<Vec<Result<Document<'a>, SearchError>>, SearchError> {
    let mut needed: Vec<u32> = hits.iter().map(|hit| hit.split_ord).collect();
    needed.sort_unstable();
    needed.dedup();
    let mut failures = open_missing(&needed, sources, opened, mappers, exchange).await;
    let opened = &*opened;
    let wanted = missing_blocks(hits, opened);
    let loads = wanted
        .into_iter()
        .map(|(split_ord, split, range, class)| async move {
            (split_ord, split.body.load(range, class).await)
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
        for (doc, place) in places {
            interrupt.check()?;
            let document = match (failures.get(split_ord), opened.get(split_ord)) {
                (Some(failure), _) => Err(failure.clone()),
                (None, Some(split)) => document_of(split, *doc),
                (None, None) => Err(SearchError::internal("a hit's split is not open")),
            };
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
        docs.sort_unstable();
    }
    places
}

/// Opens the splits that are not open yet; says which could not be.
async fn open_missing(
    needed: &[u32],
    sources: &BTreeMap<u32, HeadSource>,
    opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    mappers: &Mappers,
    exchange: &Exchange,
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
        open_split(source, exchange, mappers).await
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

/// The blocks of the doc store that are not here, each once, in the order of the hits that are in them: a budget
/// that is not enough for all of them buys the documents of the first hits. Which blocks they are is found out by
/// reading the documents, whose bytes are missed.
fn missing_blocks<'a>(
    hits: &[PartialHit],
    opened: &'a BTreeMap<u32, Arc<OpenSplit>>,
) -> Vec<(u32, &'a OpenSplit, Range<u64>, ByteClass)> {
    let mut seen = BTreeSet::new();
    let mut missing = Vec::new();
    for hit in hits {
        let Some(split) = opened.get(&hit.split_ord) else {
            continue;
        };
        // Whatever this says, what is missing has been noted; the next read says what is wrong.
        let _ = split.searcher.doc::<TantivyDocument>(address_of(hit.doc));
        for (range, class) in split.body.take_wanted() {
            if seen.insert((hit.split_ord, range.start)) {
                missing.push((hit.split_ord, &**split, range, class));
            }
        }
    }
    missing
}

fn document_of(split: &OpenSplit, doc: u32) -> Result<Document<'_>, SearchError> {
    let document = split
        .searcher
        .doc(address_of(doc))
        .map_err(|error| split.error(error))?;
    Ok(Document { split, document })
}

fn address_of(doc: u32) -> DocAddress {
    DocAddress::new(0, doc)
}
