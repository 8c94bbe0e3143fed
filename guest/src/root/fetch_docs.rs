//! Fetching the documents of hits: all their bytes at once, then each block of documents once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use canter_protocol::ByteClass;
use canter_split_format::DocIdentity;
use futures_util::future::{join, join_all};
use tantivy::TantivyDocument;

use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::PartialHit;
use crate::split::{DocIdentities, Documents, HeadSource, Indexes, OpenSplit, guard, guarded};

/// The document of a hit, and the split it is in.
pub(super) struct Document<'a> {
    pub(super) split: &'a OpenSplit,
    pub(super) document: TantivyDocument,
    /// The document's identity, if requested.
    pub(super) identity: Option<DocIdentity>,
}

/// Readers for the documents of a split.
struct Reader<'a> {
    documents: Documents<'a>,
    identities: Option<DocIdentities<'a>>,
}

/// Returns the documents of `hits`, in order, with their identities if requested; a split that fails yields an error
/// for each of its hits.
///
/// # Errors
/// If the host stops the search.
pub(super) async fn fetch_docs<'a>(
    hits: &[PartialHit],
    sources: &BTreeMap<u32, HeadSource>,
    opened: &'a mut BTreeMap<u32, Arc<OpenSplit>>,
    indexes: &Indexes,
    exchange: &Exchange,
    with_identities: bool,
) -> Result<Vec<Result<Document<'a>, SearchError>>, SearchError> {
    let mut needed: Vec<u32> = hits.iter().map(|hit| hit.split_ord).collect();
    canter_sorting::sort(&mut needed);
    needed.dedup();
    let mut failures = open_missing(&needed, sources, opened, indexes).await;
    let opened = &*opened;
    let open = needed.iter().filter_map(|split_ord| {
        let split = opened.get(split_ord)?;
        let opening = open_reader(split, with_identities);
        Some(async move { (*split_ord, guarded(&split.entry.id, opening).await) })
    });
    let mut readers: BTreeMap<u32, Reader<'a>> = BTreeMap::new();
    for (split_ord, reader) in join_all(open).await {
        match reader {
            Ok(reader) => {
                readers.insert(split_ord, reader);
            }
            Err(error) => {
                failures.entry(split_ord).or_insert(error);
            }
        }
    }
    for (split_ord, error) in load_missing(hits, &readers, opened).await {
        failures.entry(split_ord).or_insert(error);
    }
    let places = by_place(hits);
    let interrupt = exchange.interrupt();
    let mut documents: BTreeMap<usize, Result<Document<'a>, SearchError>> = BTreeMap::new();
    for (split_ord, places) in &places {
        // Dropped after its documents: it owns buffers for decompression.
        let mut reader = readers.remove(split_ord);
        for (doc, place) in places {
            interrupt.check()?;
            let missing = || SearchError::internal("a hit's split is not open");
            let document = match (failures.get(split_ord), &mut reader) {
                (Some(failure), _) => Err(failure.clone()),
                (None, Some(reader)) => reader.read_guarded(*doc),
                (None, None) => Err(missing()),
            };
            let document = document.and_then(|(document, identity)| {
                Ok(Document {
                    split: opened.get(split_ord).ok_or_else(missing)?,
                    document,
                    identity,
                })
            });
            documents.insert(*place, document);
        }
    }
    Ok(documents.into_values().collect())
}

async fn open_reader(split: &OpenSplit, with_identities: bool) -> Result<Reader<'_>, SearchError> {
    let identities = async {
        match with_identities {
            true => DocIdentities::open(split).await.map(Some),
            false => Ok(None),
        }
    };
    let (documents, identities) = join(Documents::open(split), identities).await;
    Ok(Reader {
        documents: documents?,
        identities: identities?,
    })
}

impl Reader<'_> {
    fn read_guarded(
        &mut self,
        doc: u32,
    ) -> Result<(TantivyDocument, Option<DocIdentity>), SearchError> {
        let split_id = self.documents.split_id();
        guard(split_id, || self.read(doc))
    }

    fn read(&mut self, doc: u32) -> Result<(TantivyDocument, Option<DocIdentity>), SearchError> {
        let document = self.documents.read(doc)?;
        let identities = self.identities.as_ref();
        Ok((
            document,
            identities.map(|known| known.get(doc)).transpose()?,
        ))
    }
}

/// Returns documents with their places among the hits, in the order in which they are stored in their split, so that
/// a block, which holds many of them, is decompressed only once.
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

/// Opens the splits that are not open yet; returns the ones that failed.
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
        // Hits are never deleted documents, so the deletions are not read again.
        source.entry.deletes = None;
        let split_id = source.entry.id.clone();
        guarded(&split_id, indexes.open(source)).await
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

/// Loads what is missing to read the documents of hits, all at once; returns the splits that failed.
async fn load_missing(
    hits: &[PartialHit],
    readers: &BTreeMap<u32, Reader<'_>>,
    opened: &BTreeMap<u32, Arc<OpenSplit>>,
) -> Vec<(u32, SearchError)> {
    let loads = missing_blocks(hits, readers).into_iter();
    let loads = loads.filter_map(|(split_ord, missing)| {
        let body = &opened.get(&split_ord)?.body;
        let documents = &readers.get(&split_ord)?.documents;
        Some(async move {
            let loaded = match missing {
                Missing::Document(doc) => documents.load(doc).await,
                Missing::Identities(range) => body.load(range, ByteClass::FastField).await,
            };
            (split_ord, loaded)
        })
    });
    let loaded = join_all(loads).await.into_iter();
    loaded
        .filter_map(|(split_ord, loaded)| Some((split_ord, loaded.err()?)))
        .collect()
}

/// What is missing to read a document.
enum Missing {
    /// The block that holds this document.
    Document(u32),
    Identities(Range<u64>),
}

/// Returns the missing ranges of documents, each once, in the order of hits: a budget that does not cover all of them
/// is spent on the documents of the first hits.
fn missing_blocks(hits: &[PartialHit], readers: &BTreeMap<u32, Reader<'_>>) -> Vec<(u32, Missing)> {
    let mut seen = BTreeSet::new();
    let mut missing = Vec::new();
    for hit in hits {
        let Some(reader) = readers.get(&hit.split_ord) else {
            continue;
        };
        let mut is_new = |range: &Range<u64>| seen.insert((hit.split_ord, range.start));
        let documents = &reader.documents;
        // A document that does not exist is reported when it is read.
        if !documents.is_here(hit.doc)
            && let Ok(range) = documents.range_of(hit.doc)
            && is_new(&range)
        {
            missing.push((hit.split_ord, Missing::Document(hit.doc)));
        }
        if let Some(identities) = &reader.identities {
            for range in identities.missing(hit.doc) {
                if is_new(&range) {
                    missing.push((hit.split_ord, Missing::Identities(range)));
                }
            }
        }
    }
    missing
}
