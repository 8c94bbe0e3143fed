//! The documents of all splits whose vectors are nearest to a query's.
//!
//! ```text
//!   head       centroids, and where everything is         (filters: which documents pass)
//!   1st wave   clusters, the closest of all splits   ──▶ candidates of all splits, by their codes
//!   2nd wave   exact vectors of the best             ──▶ scores
//! ```
//!
//! Where few vectors pass, or few bytes are all there is, exact vectors are read at once: these answers are exact.

use std::ops::Range;

use canter_aggregations::BitSet;
use canter_nearest::{
    Candidate, Candidates, Choice, Effort, Nearest as Scored, RankedCluster, Search,
};
use canter_split_format::{VectorField, VectorIndex};
use canter_vectors::ExactQuery;
use futures_util::future::try_join_all;

use super::columns::found_paths;
use super::rare_words::{RareWordSearch, add_rare_words};
use super::scan::{ScanBudget, Scanner};
use super::warmup::warm_up;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::split::times::Within;
use crate::query::{Factor, FoundIn, Nearest, QueryNode};
use crate::request::{Question, VectorReads};
use crate::split::{
    HeadSource, Indexes, OpenSplit, SearchedIndex, all_places, guarded, load_all_vectors,
    load_vectors, places_of, vector_bytes, vector_index, vectors_of,
};

/// Maximum number of bytes of the exact vectors of all splits that are read instead of clusters.
const MAX_EXACT_BYTES: u64 = 1 << 20;

/// Number of candidates that are compared exactly for each of those wanted: codes of two bits lose few then
/// (docs/decisions/vectors.md).
const CANDIDATES_OF_ONE: usize = 3;

/// Number of splits without codes whose vectors are read at once, each of which has at most 64 KiB.
const PLAIN_AT_ONCE: usize = 256;

/// Minimum and maximum number of candidates above those wanted.
const MIN_MORE: usize = 20;
const MAX_MORE: usize = 1_000;

/// A condition, and where its documents are looked for.
pub(crate) struct NearestIn<'a> {
    pub(crate) question: &'a Question,
    pub(crate) nearest: &'a Nearest,
    /// The query for each index; `None` for one without the field.
    pub(crate) queries: &'a [Option<ExactQuery>],
    /// Number of documents that are wanted.
    pub(crate) k: usize,
    pub(crate) indexes: &'a [SearchedIndex],
    pub(crate) exchange: &'a Exchange,
}

/// Vectors of an open split, and which of its documents count.
struct OfSplit<'a> {
    split: OpenSplit,
    index: VectorIndex,
    query: &'a ExactQuery,
    accepted: Accepted,
}

/// Documents that count.
struct Accepted {
    within: Range<u32>,
    filter: Option<BitSet>,
    num_docs: u64,
}

impl Accepted {
    fn has(&self, split: &OpenSplit, doc: u32) -> bool {
        let passes = self.filter.as_ref().is_none_or(|docs| docs.contains(doc));
        passes && self.within.contains(&doc) && split.is_live(doc)
    }

    /// Returns the documents, ascending.
    fn docs<'a>(&'a self, split: &'a OpenSplit) -> impl Iterator<Item = u32> + 'a {
        let live = split.live_ranges(self.within.clone()).into_iter().flatten();
        let passes = |doc: &u32| self.filter.as_ref().is_none_or(|docs| docs.contains(*doc));
        live.filter(passes)
    }
}

/// Returns the nearest documents of these splits, by split, and what was read to find them.
///
/// # Errors
/// A split cannot be read: without it, others would be the nearest.
pub(crate) async fn find_nearest(
    search: &NearestIn<'_>,
    splits: &[&HeadSource],
) -> Result<(Vec<FoundIn>, VectorReads), SearchError> {
    let indexes = Indexes::new(search.indexes, search.exchange);
    let budget = ScanBudget::of_fields(search.question.limits.max_docs_scanned);
    let verify_budget = ScanBudget::of_objects(search.question.limits.max_docs_verified);
    let budgets = [&budget, &verify_budget];
    let opened = splits.iter().map(|source| {
        let opening = search.open(source, &indexes, budgets);
        guarded(&source.entry.id, opening)
    });
    let opened: Vec<OfSplit<'_>> = try_join_all(opened).await?.into_iter().flatten().collect();
    let (scored, reads) = search.scored(&opened).await?;
    let scored = scored
        .into_iter()
        .filter(|found| search.is_similar(found, &opened));
    let mut best = Scored::best(scored.collect(), search.k);
    canter_sorting::sort_by_key(&mut best, |found| (found.split, found.doc));
    let mut found: Vec<FoundIn> = Vec::new();
    let mut last = None;
    for Scored {
        split, doc, score, ..
    } in best
    {
        let Some(of_split) = opened.get(split) else {
            continue;
        };
        if last.replace(split) != Some(split) {
            found.push(FoundIn {
                index: of_split.split.mapper.index_name().to_owned(),
                split: of_split.split.entry.id.clone(),
                docs: Vec::new(),
            });
        }
        if let Some(found) = found.last_mut() {
            found.docs.push((doc, Factor(score)));
        }
    }
    Ok((found, reads))
}

impl<'a> NearestIn<'a> {
    /// Opens a split, and finds out which of its documents count; `None` if it has no vectors of the field.
    async fn open(
        &self,
        source: &HeadSource,
        indexes: &Indexes,
        budgets: [&ScanBudget; 2],
    ) -> Result<Option<OfSplit<'a>>, SearchError> {
        let Some(Some(query)) = self.queries.get(source.index) else {
            return Ok(None);
        };
        let mut split = indexes.open(source.clone()).await?;
        let Some(index) = vector_index(&split).await? else {
            return Ok(None);
        };
        let name = &self.nearest.field;
        let Some(field) = vectors_of(&split, &index, name) else {
            return Ok(None);
        };
        let shape = field.shape();
        if !query.suits(shape.dims(), shape.element, shape.similarity) {
            return Err(split.error(format!(
                "the vectors of its field {name:?} are others than those of the index"
            )));
        }
        let within = Within::of(&split, self.question.time).docs(&split).await?;
        let filter = self.filter(&mut split, &within, budgets).await?;
        let mut accepted = Accepted {
            within,
            filter,
            num_docs: 0,
        };
        accepted.num_docs = match accepted.filter {
            Some(_) => accepted.docs(&split).count() as u64,
            None => split.num_live(accepted.within.clone()),
        };
        Ok(Some(OfSplit {
            split,
            index,
            query,
            accepted,
        }))
    }

    /// Returns the documents that pass all filters; `None` if there are none.
    async fn filter(
        &self,
        split: &mut OpenSplit,
        docs: &Range<u32>,
        [budget, verify_budget]: [&ScanBudget; 2],
    ) -> Result<Option<BitSet>, SearchError> {
        let forced = self.question.forced_filter.iter().flatten();
        let filters = forced.chain(self.nearest.filter.as_deref());
        let filters: Vec<QueryNode> = filters.cloned().collect();
        if filters.is_empty() {
            return Ok(None);
        }
        let filter = QueryNode::all_of(filters);
        let interrupt = self.exchange.interrupt();
        let Question {
            search_field,
            limits,
            ..
        } = self.question;
        let has_default =
            !search_field.is_empty() || !split.mapper.default_search_fields().is_empty();
        if filter.asks_open_fields(has_default) {
            split.found_paths = Some(found_paths(split, &interrupt).await?);
        }
        let built = split.build(&filter, search_field, false, limits)?;
        let rare_words = RareWordSearch {
            budget,
            interrupt: &interrupt,
            warms_up: true,
        };
        add_rare_words(split, &built.needs, &rare_words).await?;
        let warmed_up = warm_up(split, &built.needs).await;
        warmed_up.map_err(|error| split.error(error))?;
        let scanner = Scanner {
            split,
            docs: docs.clone(),
            budget,
            verify_budget,
            interrupt: &interrupt,
        };
        scanner.scan_all(&built, &[]).await?;
        let matching = scanner.matching(&built).await?;
        // Clusters take the memory from here on.
        split.body.release();
        Ok(Some(matching))
    }

    /// Returns documents with their scores, the nearest among them.
    async fn scored(
        &self,
        opened: &[OfSplit<'_>],
    ) -> Result<(Vec<Scored>, VectorReads), SearchError> {
        let mut reads = VectorReads {
            exact: true,
            ..VectorReads::default()
        };
        let searches = self.searches(opened);
        let num_wanted = self.num_candidates();
        let num_bytes = searches.iter().map(|(_, field, _)| exact_len(field));
        let is_small = num_bytes.fold(0, u64::saturating_add) <= MAX_EXACT_BYTES;
        if is_small || num_accepted(&searches) <= num_wanted as u64 {
            let candidates = all_of(&searches, is_small).await?;
            reads.compared = candidates.len() as u64;
            return Ok((self.compare(&searches, candidates).await?, reads));
        }
        let is_plain = |(_, field, _): &SearchIn<'_>| field.shape().codes.is_none();
        let (plain, coded): (Vec<_>, Vec<_>) = searches.into_iter().partition(is_plain);
        let mut scored = Vec::new();
        // Nothing but their exact vectors says which of these are near.
        for some in plain.chunks(PLAIN_AT_ONCE) {
            let candidates = all_of(some, true).await?;
            reads.compared += candidates.len() as u64;
            scored.extend(self.compare(some, candidates).await?);
            scored = Scored::best(scored, self.k);
        }
        if !coded.is_empty() {
            let (candidates, num_clusters) = self.of_clusters(&coded, num_wanted).await?;
            reads.add(VectorReads {
                clusters: num_clusters,
                compared: candidates.len() as u64,
                exact: false,
            });
            scored.extend(self.compare(&coded, candidates).await?);
        }
        Ok((scored, reads))
    }

    fn searches<'o>(&self, opened: &'o [OfSplit<'o>]) -> Vec<SearchIn<'o>> {
        let name = &self.nearest.field;
        let searches = opened.iter().enumerate().filter_map(|(place, of)| {
            let field = vectors_of(&of.split, &of.index, name)?;
            Some((of, field, Search::new(place, field, of.query)))
        });
        searches.collect()
    }

    /// Returns the number of candidates that are compared exactly.
    fn num_candidates(&self) -> usize {
        let wanted = self.k.saturating_mul(CANDIDATES_OF_ONE);
        wanted.clamp(
            self.k.saturating_add(MIN_MORE),
            self.k.saturating_add(MAX_MORE),
        )
    }

    /// Returns the best candidates of the clusters that are closest, and the number of these.
    async fn of_clusters(
        &self,
        searches: &[SearchIn<'_>],
        num_wanted: usize,
    ) -> Result<(Vec<Candidate>, u64), SearchError> {
        let num_docs = searches
            .iter()
            .map(|(of, ..)| u64::from(of.index.num_docs()));
        let num_docs = num_docs.fold(0, u64::saturating_add).max(1);
        let all = searches.iter().flat_map(|(.., search)| search.clusters());
        let all: Vec<RankedCluster> = all.collect();
        let considered = self.nearest.num_candidates.unwrap_or(0);
        let effort = Effort::new(num_wanted, considered, num_accepted(searches), num_docs);
        let mut candidates = Candidates::new(num_wanted);
        let mut choice = Choice::new(all);
        let mut chosen = choice.first(effort);
        let mut num_clusters = 0;
        while !chosen.is_empty() {
            num_clusters += chosen.len() as u64;
            let mut rest = &*chosen;
            while !rest.is_empty() {
                let (some, others) = rest.split_at(self.num_at_once(searches, rest));
                rest = others;
                self.scan(searches, some, &mut candidates).await?;
            }
            chosen = match candidates.lacks_some() {
                true => choice.more(),
                false => Vec::new(),
            };
        }
        Ok((candidates.into_places(), num_clusters))
    }

    /// Returns the number of clusters, at least one, that half of the memory holds.
    fn num_at_once(&self, searches: &[SearchIn<'_>], clusters: &[RankedCluster]) -> usize {
        let mut left = self.question.limits.max_resident_bytes / 2;
        let fit = clusters.iter().take_while(|of| {
            let search = searches
                .iter()
                .find(|(.., search)| search.split() == of.split);
            let range = search.map(|(.., search)| search.cluster_range(of.cluster));
            let len = range.map_or(0, |range| range.end - range.start);
            let fits = left >= len;
            left = left.saturating_sub(len);
            fits
        });
        fit.count().max(1)
    }

    /// Looks through these clusters, which are sorted by split.
    async fn scan(
        &self,
        searches: &[SearchIn<'_>],
        chosen: &[RankedCluster],
        candidates: &mut Candidates,
    ) -> Result<(), SearchError> {
        let of = |place: usize| {
            let from = chosen.partition_point(|cluster| cluster.split < place);
            let to = chosen.partition_point(|cluster| cluster.split <= place);
            chosen.get(from..to).unwrap_or_default()
        };
        let loads = searches.iter().map(|(of_split, field, search)| {
            let clusters = of(search.split()).iter();
            let ranges = clusters.map(|cluster| search.cluster_range(cluster.cluster));
            load_vectors(&of_split.split, field, ranges)
        });
        try_join_all(loads).await?;
        let interrupt = self.exchange.interrupt();
        for (of_split, _, search) in searches {
            let split = &of_split.split;
            let accepts = |doc: u32| of_split.accepted.has(split, doc);
            for cluster in of(search.split()) {
                interrupt.check()?;
                let range = search.cluster_range(cluster.cluster);
                let bytes = vector_bytes(split, &range)?;
                let scanned = search.scan(cluster.cluster, &bytes, accepts, candidates);
                scanned.map_err(|error| split.error(error))?;
            }
            split.body.release();
        }
        Ok(())
    }

    /// Compares candidates exactly, as many at a time as memory allows.
    async fn compare(
        &self,
        searches: &[SearchIn<'_>],
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Scored>, SearchError> {
        let len = searches
            .iter()
            .map(|(_, field, _)| field.shape().stored_len())
            .max();
        let at_once = self.question.limits.max_resident_bytes / 4 / len.unwrap_or(1).max(1);
        let at_once = usize::try_from(at_once).unwrap_or(usize::MAX).max(1);
        // Few bytes are held at once, however many vectors they are.
        let all = searches.iter().map(|(_, field, _)| exact_len(field));
        let all = all.fold(0, u64::saturating_add);
        let at_once = match all <= self.question.limits.max_resident_bytes / 4 {
            true => usize::MAX,
            false => at_once,
        };
        let interrupt = self.exchange.interrupt();
        let mut scored = Vec::with_capacity(candidates.len());
        for some in candidates.chunks(at_once) {
            interrupt.check()?;
            let of = |place: usize| some.iter().filter(move |of| of.split == place);
            let loads = searches.iter().map(|(of_split, field, search)| {
                let ranges = of(search.split()).map(|candidate| search.exact_range(candidate));
                load_vectors(&of_split.split, field, ranges)
            });
            try_join_all(loads).await?;
            for (of_split, _, search) in searches {
                for candidate in of(search.split()) {
                    let bytes = vector_bytes(&of_split.split, &search.exact_range(candidate))?;
                    scored.push(search.score(candidate, &bytes));
                }
                of_split.split.body.release();
            }
        }
        Ok(scored)
    }

    /// Returns whether a vector is as similar as the request demands.
    fn is_similar(&self, found: &Scored, opened: &[OfSplit<'_>]) -> bool {
        let Some(least) = self.nearest.similarity else {
            return true;
        };
        let query = opened.get(found.split).map(|of| of.query);
        query.is_none_or(|query| query.is_as_similar(found.alike, least.0))
    }
}

type SearchIn<'o> = (&'o OfSplit<'o>, &'o VectorField, Search<'o>);

fn num_accepted(searches: &[SearchIn<'_>]) -> u64 {
    let num_docs = searches.iter().map(|(of, ..)| of.accepted.num_docs);
    num_docs.fold(0, u64::saturating_add)
}

fn exact_len(field: &VectorField) -> u64 {
    u64::from(field.num_vectors()).saturating_mul(field.shape().stored_len())
}

/// Returns all documents that count and have a vector. With `loads_all`, everything that is needed comes in one wave.
async fn all_of(searches: &[SearchIn<'_>], loads_all: bool) -> Result<Vec<Candidate>, SearchError> {
    let loads = searches.iter().map(|(of, field, _)| async move {
        if loads_all {
            return load_all_vectors(&of.split, field).await;
        }
        let docs = of.accepted.docs(&of.split);
        let mut ranges: Vec<Range<u64>> = docs.map(|doc| field.places_range(doc)).collect();
        ranges.dedup();
        load_vectors(&of.split, field, ranges.into_iter()).await
    });
    try_join_all(loads).await?;
    let mut candidates = Vec::new();
    for (of, field, search) in searches {
        let placed = match loads_all {
            true => all_places(&of.split, field, |doc| of.accepted.has(&of.split, doc)),
            false => places_of(&of.split, field, of.accepted.docs(&of.split)),
        };
        let placed = placed?.into_iter();
        candidates.extend(placed.map(|(doc, place)| Candidate {
            closeness: 0.0,
            split: search.split(),
            doc,
            place,
        }));
    }
    Ok(candidates)
}
