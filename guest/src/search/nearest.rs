//! Documents with the nearest vectors (`knn`), and those of several rankings (`rrf`), looked for before a search is planned: its query then names them, with
//! their scores, so that everything else is done as for any other query.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use canter_doc_mapper::DocMapper;
use canter_vectors::ExactQuery;
use futures_util::future::try_join_all;

use super::alike::{mappers_of, plan_of_all};
use super::planning::plan_only;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::{HitOrder, NearestIn, find_nearest, search_leaf};
use crate::plan::SearchPlan;
use crate::query::{Factor, FoundIn, Fused, Nearest, QueryNode, vectors_at};
use crate::request::{AskedAggregations, AskedIndexes, Question, VectorReads};
use crate::root::Merged;

/// Maximum number of conditions on vectors in a search: each reads clusters of its own.
const MAX_CONDITIONS: usize = 16;

/// Maximum number of candidates of a condition that says neither how many, nor how many are wanted.
const MAX_CANDIDATES: u64 = 10_000;

/// Returns the question with documents in place of conditions that look for the nearest vectors; `None` if there are none.
///
/// # Errors
/// A field has no such vectors, or a split cannot be read: without it, others would be the nearest.
pub(super) async fn with_nearest(
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Option<Question>, SearchError> {
    let filters = question.forced_filter.iter().flatten();
    let asked = question.aggregations.iter();
    let of_aggregations = asked.flat_map(AskedAggregations::queries);
    let mut others = filters.chain(of_aggregations.map(|(_, query)| query));
    if others.any(QueryNode::has_nearest) {
        return Err(SearchError::invalid(
            "[knn] is for the query only: not for filters of aggregations",
        ));
    }
    let mut queries = std::iter::once(&question.query).chain(&question.named);
    if !queries.any(QueryNode::has_nearest) {
        return Ok(None);
    }
    // The documents that are found now are looked for in the same splits later.
    exchange.keep_reads();
    let plan = plan_of_all(question, indexes, exchange).await?;
    let context = Context {
        question,
        mappers: mappers_of(&plan)?,
        indexes,
        plan: &plan,
        exchange,
        reads: Mutex::default(),
    };
    let mut resolved = question.clone();
    let mut conditions = Vec::new();
    let nodes = std::iter::once(&mut resolved.query).chain(&mut resolved.named);
    nodes.for_each(|node| node.find_nearest(&mut conditions));
    // A named clause is a part of the query, too.
    let mut known: Vec<(QueryNode, QueryNode)> = Vec::new();
    for node in conditions {
        let found = match known.iter().find(|(other, _)| other == node) {
            Some((_, found)) => found.clone(),
            None if known.len() >= MAX_CONDITIONS => {
                return Err(SearchError::invalid(format!(
                    "[knn]: a search has at most {MAX_CONDITIONS} of these"
                )));
            }
            None => {
                let found = context.replaced(node).await?;
                known.push((node.clone(), found.clone()));
                found
            }
        };
        *node = found;
    }
    resolved.vector_reads = context.reads.into_inner().unwrap_or_default();
    Ok(Some(resolved))
}

/// What documents are looked for in.
struct Context<'a> {
    question: &'a Question,
    /// Those of the plan's indexes.
    mappers: Vec<DocMapper>,
    indexes: &'a AskedIndexes,
    plan: &'a SearchPlan,
    exchange: &'a Exchange,
    /// What was read for all conditions.
    reads: Mutex<Option<VectorReads>>,
}

impl Context<'_> {
    /// Returns what stands for a condition: the documents that it finds.
    async fn replaced(&self, node: &QueryNode) -> Result<QueryNode, SearchError> {
        if let Some(nearest) = node.nearest() {
            let (found, reads) = find(nearest, self).await?;
            let mut all = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *all {
                Some(all) => all.add(reads),
                None => *all = Some(reads),
            }
            return Ok(QueryNode::found(found));
        }
        let Some(fused) = node.fused() else {
            return Ok(node.clone());
        };
        let mut queries = fused.queries.clone();
        let mut conditions = Vec::new();
        for query in &mut queries {
            query.find_nearest(&mut conditions);
        }
        // All read in the same waves.
        let inner = conditions.iter().map(|node| Box::pin(self.replaced(node)));
        let inner = try_join_all(inner).await?;
        for (node, found) in conditions.into_iter().zip(inner) {
            *node = found;
        }
        let rankings = queries.iter().map(|query| self.ranked(query, fused.window));
        let rankings = try_join_all(rankings).await?;
        let found = fuse(&rankings, fused.constant);
        Ok(Fused::with_found(queries, found))
    }

    /// Returns the best documents of a query, best first: index, split and document.
    async fn ranked(&self, query: &QueryNode, window: u32) -> Result<Vec<Ranked>, SearchError> {
        let question = self.question.by_score(query.clone(), window.into());
        let (plan, resolved) = plan_only(&question, self.indexes, self.exchange).await?;
        let leaf = plan.leaf(&question, &resolved);
        let order = HitOrder::of(&question, plan.mixes_times, None);
        let mut merged = Merged::default();
        merged.add(search_leaf(leaf, self.exchange, &mut BTreeMap::new()).await?)?;
        merged.select(&order, 0, question.window());
        let hits = merged.result.hits.iter().filter_map(|hit| {
            let mut splits = plan.splits.iter();
            let split = splits.find(|split| split.split_ord == hit.split_ord)?;
            let index = plan.indexes.get(split.source.index)?;
            let id = split.source.entry.id.clone();
            Some((index.name().to_owned(), id, hit.doc))
        });
        Ok(hits.collect())
    }
}

/// A document: its index, its split, and its number in this.
type Ranked = (String, String, u32);

/// Adds up the shares of all rankings.
#[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
fn fuse(rankings: &[Vec<Ranked>], constant: u32) -> Vec<FoundIn> {
    let mut scores: BTreeMap<&Ranked, f64> = BTreeMap::new();
    for ranking in rankings {
        for (rank, ranked) in (1u32..).zip(ranking) {
            *scores.entry(ranked).or_default() += 1.0 / (f64::from(constant) + f64::from(rank));
        }
    }
    let mut found: Vec<FoundIn> = Vec::new();
    for ((index, split, doc), score) in scores {
        let document = (*doc, Factor(score as f32));
        match found.last_mut() {
            Some(last) if last.index == *index && last.split == *split => last.docs.push(document),
            _ => found.push(FoundIn {
                index: index.clone(),
                split: split.clone(),
                docs: vec![document],
            }),
        }
    }
    found
}

/// Finds the documents of one condition.
async fn find(
    nearest: &Nearest,
    context: &Context<'_>,
) -> Result<(Vec<FoundIn>, VectorReads), SearchError> {
    let Context {
        question,
        mappers,
        plan,
        exchange,
        ..
    } = context;
    let mut queries: Vec<Option<ExactQuery>> = Vec::new();
    let mut missing = None;
    for mapper in mappers {
        let query = match vectors_at(mapper, &nearest.field) {
            Ok(kind) => {
                let wrong = |problem: String| {
                    SearchError::invalid(format!(
                        "[knn] {}: query_vector: {problem}",
                        nearest.field
                    ))
                };
                let mut json = serde_json::Deserializer::from_str(&nearest.vector);
                let numbers = kind.read(&mut json);
                let numbers = numbers.map_err(|error| wrong(error.to_string()))?;
                let numbers = numbers.map_err(wrong)?.unwrap_or_default();
                let (dims, element) = (kind.num_dims(), kind.element);
                let query = ExactQuery::new(&numbers, dims, element, kind.similarity);
                Some(query.map_err(|problem| wrong(problem.to_string()))?)
            }
            Err(error) => {
                missing.get_or_insert(error);
                None
            }
        };
        queries.push(query);
    }
    if queries.iter().all(Option::is_none) {
        // An index that is there has none; without an index, there is nothing to find.
        let reads = VectorReads {
            exact: true,
            ..VectorReads::default()
        };
        return missing.map_or(Ok((Vec::new(), reads)), Err);
    }
    let of_size = (question.max_hits.saturating_mul(3) / 2).clamp(1, MAX_CANDIDATES);
    let of_size = u32::try_from(of_size).unwrap_or(u32::MAX);
    let k = nearest.k.or(nearest.num_candidates).unwrap_or(of_size);
    let search = NearestIn {
        question,
        nearest,
        queries: &queries,
        k: usize::try_from(k).unwrap_or(usize::MAX),
        indexes: &plan.indexes,
        exchange,
    };
    let splits: Vec<_> = plan.splits.iter().map(|split| &split.source).collect();
    find_nearest(&search, &splits).await
}
