//! Fetching the documents of hits, all at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use tantivy::{DocAddress, TantivyDocument};

use crate::SearchError;
use crate::leaf::PartialHit;
use crate::session::exchange::Exchange;
use crate::split::{HeadSource, Mappers, OpenSplit, open_split};

/// The document of a hit, and the split it is in.
pub(super) struct Document<'a> {
    pub(super) split: &'a OpenSplit,
    pub(super) document: TantivyDocument,
}

/// The documents of `hits`, in their order; a split that fails has an error for each of its hits.
pub(super) async fn fetch_docs<'a>(
    hits: &[PartialHit],
    sources: &BTreeMap<u32, HeadSource>,
    opened: &'a mut BTreeMap<u32, Arc<OpenSplit>>,
    exchange: &Exchange,
) -> Vec<Result<Document<'a>, SearchError>> {
    let mut needed: Vec<u32> = hits.iter().map(|hit| hit.split_ord).collect();
    needed.sort_unstable();
    needed.dedup();
    needed.retain(|split_ord| !opened.contains_key(split_ord));
    let mappers = Mappers::default();
    let mappers = &mappers;
    let opens = needed.iter().map(|split_ord| async move {
        let source = sources
            .get(split_ord)
            .ok_or_else(|| SearchError::internal(format!("no split {split_ord} in the plan")))?;
        open_split(source.clone(), exchange, mappers).await
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
    let opened = &*opened;
    let fetches = hits.iter().map(|hit| {
        let split = opened.get(&hit.split_ord);
        let failure = failures.get(&hit.split_ord);
        async move {
            match split {
                Some(split) => fetch_doc(split, hit.doc).await,
                None => Err(failure
                    .cloned()
                    .unwrap_or_else(|| SearchError::internal("a hit's split is not open"))),
            }
        }
    });
    join_all(fetches).await
}

async fn fetch_doc(split: &OpenSplit, doc: u32) -> Result<Document<'_>, SearchError> {
    let document = split
        .searcher
        .doc_async(DocAddress::new(0, doc))
        .await
        .map_err(|error| split.error(error))?;
    Ok(Document { split, document })
}
