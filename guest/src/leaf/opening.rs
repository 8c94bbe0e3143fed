//! Opening splits, and building the query for each.

use std::sync::Arc;

use canter_aggregations::FromHead;
use futures_util::future::join_all;

use super::batch::are_few_bytes;
use super::candidate::Candidate;
use super::leaf_search::{Leaf, LeafSearch};
use super::partial::FailedSplit;
use super::reads::{RareWordSearch, add_rare_words, found_paths};
use super::split::aggregate::{build_filters, said_by_head};
use super::split::times::Within;
use crate::SearchError;
use crate::query::QueryShape;
use crate::split::{HeadSource, OpenSplit, guarded};

impl<'a> LeafSearch<'a> {
    /// Opens these splits at once, and builds the query for each. Reads that the query needs are shared by all
    /// splits in one wave.
    pub(super) async fn open(&mut self, splits: Vec<&'a (u32, HeadSource)>) -> Vec<Candidate> {
        let search = &*self;
        let max_bytes = self.leaf.question.limits.max_resident_bytes;
        let warms_up = are_few_bytes(splits.iter().map(|(_, source)| &source.entry), max_bytes);
        let opens = splits.iter().map(|(split_ord, source)| {
            let opening = search.indexes.open(source.clone());
            let work = async move { search.prepare(*split_ord, opening.await?, warms_up).await };
            guarded(&source.entry.id, work)
        });
        let opens = join_all(opens).await;
        let mut candidates = Vec::new();
        for ((_, source), candidate) in splits.into_iter().zip(opens) {
            match candidate {
                Ok(candidate) => {
                    let range = candidate.split.identity_range();
                    self.identities.insert(candidate.split_ord, range);
                    candidates.push(candidate);
                }
                Err(error) => {
                    self.result
                        .failed_splits
                        .push(FailedSplit::new(&source.entry.id, error));
                }
            }
        }
        candidates
    }

    /// Builds the query and the rest of the question for one split.
    async fn prepare(
        &self,
        split_ord: u32,
        mut split: OpenSplit,
        warms_up: bool,
    ) -> Result<Candidate, SearchError> {
        if self.leaf.question.is_filtered() {
            // The table covers all documents; the reads of a search would reveal those that the caller may not see.
            split.co_occurrence = None;
        }
        let Leaf {
            question, resolved, ..
        } = self.leaf;
        let (fields, limits) = (&question.search_field, &question.limits);
        if question.asks_open_fields(&resolved.query, &split.mapper) {
            split.found_paths = Some(found_paths(&split, &self.interrupt).await?);
        }
        let order = self.leaf.order(split.metadata.sort_field.as_deref());
        let has_scores = order.is_scored(question);
        let mut built = split.build(&resolved.query, fields, has_scores, limits)?;
        let within = Within::of(&split, resolved.time);
        if !within.is_exact() {
            // Read together with everything else, without a round trip of its own.
            let times = split.metadata.sort_field.clone();
            built.needs.fast_fields.extend(times);
        }
        let from_head = match self.leaf.aggregations() {
            Some(aggregations) if built.shape == QueryShape::All => {
                said_by_head(&split, aggregations, &within)
            }
            _ => FromHead::default(),
        };
        let whole = from_head.whole();
        let filters = match &question.aggregations {
            Some(asked) if whole.is_none() => {
                let needs = &mut built.needs;
                Some(build_filters(&split, asked, &from_head, question, needs)?)
            }
            _ => None,
        };
        let mut named = Vec::new();
        if self.window > 0 {
            for clause in &question.named {
                let clause = split.build(clause, fields, false, limits)?;
                built.needs.add(clause.needs.clone());
                named.push(clause);
            }
            built.needs.columns(&split.mapper, order.fast_fields());
        }
        add_rare_words(&mut split, &built.needs, &self.rare_words(warms_up)).await?;
        let reads_objects = filters.is_some() && self.reads_objects(&split);
        Ok(Candidate {
            split_ord,
            split: Arc::new(split),
            built,
            order,
            within,
            named,
            reads_objects,
            filters,
            interrupt: self.interrupt.clone(),
            from_head,
            whole,
        })
    }

    fn rare_words(&self, warms_up: bool) -> RareWordSearch<'_> {
        RareWordSearch {
            budget: &self.rare_words_budget,
            interrupt: &self.interrupt,
            warms_up,
        }
    }

    /// Returns whether aggregations look at objects in the documents of a split.
    fn reads_objects(&self, split: &OpenSplit) -> bool {
        let asked = self.leaf.aggregations();
        let lists = asked.map_or(&[][..], |asked| asked.lists());
        lists.iter().any(|list| list.is_read(&split.mapper))
    }
}
