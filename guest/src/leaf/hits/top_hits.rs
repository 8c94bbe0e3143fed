//! The best hits of one split.

use std::collections::VecDeque;
use std::ops::Range;

use canter_matching::{Bits, list};
use tantivy::{DocId, Score};

use super::best::BestByKeys;
use super::order::HitOrder;
use super::sent_back::sent_back;
use super::sort_key::KeyReader;
use crate::exchange::Interrupt;
use crate::leaf::partial::{HitPlace, PartialHit};
use crate::request::{SortKeySpec, SortMode, SortOrder, SortTarget};
use crate::split::OpenSplit;

/// Collects the best hits as documents go by, in document order.
pub(in crate::leaf) enum TopHits {
    /// Nothing is wanted.
    Nothing,
    /// The first `window` documents.
    First { window: usize, docs: Vec<DocId> },
    /// The last `window` documents.
    Last {
        window: usize,
        docs: VecDeque<DocId>,
    },
    /// The best by rank: a heap with the worst on top.
    Best(Box<BestByKeys>),
}

impl TopHits {
    pub(in crate::leaf) fn open(
        split: &OpenSplit,
        order: &HitOrder,
        window: usize,
    ) -> tantivy::Result<Self> {
        if window == 0 {
            return Ok(Self::Nothing);
        }
        Ok(match order {
            HitOrder::Place(SortOrder::Ascending)
            | HitOrder::Time(SortOrder::Ascending)
            | HitOrder::Stored => Self::First {
                window,
                docs: Vec::new(),
            },
            HitOrder::Place(SortOrder::Descending) | HitOrder::Time(SortOrder::Descending) => {
                Self::Last {
                    window,
                    docs: VecDeque::new(),
                }
            }
            HitOrder::Keys {
                keys,
                ties,
                after,
                collapse,
            } => {
                let after = sent_back(after, keys, &split.mapper);
                let is_value = |key: &&SortKeySpec| key.target != SortTarget::SplitDoc;
                let shows_place = !keys.iter().all(|key| is_value(&key));
                let keys = keys
                    .iter()
                    .filter(is_value)
                    .map(|spec| {
                        Ok((
                            KeyReader::open(
                                split.segment(),
                                &split.mapper,
                                &spec.target,
                                spec.mode,
                            )?,
                            spec.clone(),
                        ))
                    })
                    .collect::<tantivy::Result<_>>()?;
                let group = collapse.as_ref().map(|name| {
                    let target = SortTarget::Field(name.clone());
                    KeyReader::open(split.segment(), &split.mapper, &target, SortMode::Nearest)
                });
                let best = BestByKeys::new(window, keys, *ties, after, group.transpose()?);
                let place = (split.entry.id.clone(), split.index.clone());
                Self::Best(Box::new(best.placed_by(shows_place.then_some(place))))
            }
        })
    }

    /// Returns whether the hits are those that stand first, or last.
    pub(in crate::leaf) fn is_in_order(&self) -> bool {
        !matches!(self, Self::Best(_))
    }

    /// Returns the range of `ranks` whose documents are hits, where the first or last documents are the hits.
    pub(in crate::leaf) fn ranks_of(&self, ranks: &Range<u32>) -> Range<u32> {
        let most = |window: usize| u32::try_from(window).unwrap_or(u32::MAX);
        match self {
            Self::Nothing | Self::Best(_) => ranks.end..ranks.end,
            Self::First { window, .. } => {
                let end = ranks.start.saturating_add(most(*window));
                ranks.start..end.min(ranks.end)
            }
            Self::Last { window, .. } => {
                let start = ranks.end.saturating_sub(most(*window));
                start.max(ranks.start)..ranks.end
            }
        }
    }

    /// Takes documents in ascending order.
    ///
    /// # Errors
    /// A damaged column.
    pub(in crate::leaf) fn collect(&mut self, docs: &[DocId]) -> tantivy::Result<()> {
        match self {
            Self::Nothing => {}
            Self::First {
                window,
                docs: first,
            } => {
                let room = window.saturating_sub(first.len());
                first.extend(docs.iter().take(room));
            }
            Self::Last { window, docs: last } => {
                let skip = docs.len().saturating_sub(*window);
                last.extend(docs.iter().skip(skip));
                let excess = last.len().saturating_sub(*window);
                last.drain(..excess);
            }
            Self::Best(best) => best.collect_list(docs)?,
        }
        Ok(())
    }

    /// Takes the documents of a window after all previous ones.
    ///
    /// # Errors
    /// A damaged column.
    pub(in crate::leaf) fn collect_window(
        &mut self,
        first: DocId,
        found: &Bits,
    ) -> tantivy::Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::First { window, docs } if docs.len() >= *window => Ok(()),
            Self::Best(best) => best.collect_window(first, found),
            Self::Last { window, docs } => {
                // Only the last documents, if they are enough.
                let words = found.words();
                let mut num_docs = 0;
                let is_enough = |word: &u64| {
                    num_docs += word.count_ones() as usize;
                    num_docs >= *window
                };
                let from = words.iter().rposition(is_enough).unwrap_or_default();
                let base =
                    first.saturating_add(u32::try_from(from).unwrap_or_default() * u64::BITS);
                let words = words.get(from..).unwrap_or_default();
                let mut here = Vec::new();
                list(words, base, &mut here);
                docs.extend(here);
                let excess = docs.len().saturating_sub(*window);
                docs.drain(..excess);
                Ok(())
            }
            Self::First { window, docs } => {
                let room = window.saturating_sub(docs.len());
                let mut here = Vec::new();
                found.list(first, &mut here);
                docs.extend(here.into_iter().take(room));
                Ok(())
            }
        }
    }

    /// Takes a range of documents after all previous ones.
    ///
    /// # Errors
    /// A damaged column, or if it is time to stop.
    pub(in crate::leaf) fn collect_range(
        &mut self,
        docs: Range<DocId>,
        interrupt: &Interrupt,
    ) -> tantivy::Result<()> {
        let most = |window: usize| u32::try_from(window).unwrap_or(u32::MAX);
        let list: Vec<DocId> = match self {
            Self::Nothing => return Ok(()),
            Self::Best(best) => return best.collect_range(docs, interrupt),
            Self::First { window, .. } => {
                (docs.start..docs.end.min(docs.start.saturating_add(most(*window)))).collect()
            }
            Self::Last { window, .. } => {
                (docs.start.max(docs.end.saturating_sub(most(*window)))..docs.end).collect()
            }
        };
        self.collect(&list)
    }

    /// Takes documents in ascending order, with their scores.
    ///
    /// # Errors
    /// A damaged column.
    pub(in crate::leaf) fn collect_scored(
        &mut self,
        scored: &[(DocId, Score)],
    ) -> tantivy::Result<()> {
        match self {
            Self::Best(best) => best.collect_scored(scored),
            other => {
                let docs: Vec<DocId> = scored.iter().map(|(doc, _)| *doc).collect();
                other.collect(&docs)
            }
        }
    }

    /// Returns the hits, best first. The caller fills in their places.
    pub(in crate::leaf) fn into_hits(self, split_ord: u32) -> tantivy::Result<Vec<PartialHit>> {
        let hit = |doc| PartialHit {
            split_ord,
            doc,
            keys: Vec::new(),
            place: HitPlace::default(),
            names: 0,
        };
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::First { docs, .. } => Ok(docs.into_iter().map(hit).collect()),
            Self::Last { docs, .. } => Ok(docs.into_iter().rev().map(hit).collect()),
            Self::Best(best) => best.into_hits(split_ord),
        }
    }
}
