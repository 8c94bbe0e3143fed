//! Searching one open split whose bytes have been warmed up. Pure computation.

use std::ops::Range;

use canter_aggregations::{
    Aggregations, Collector, Columns, FromHead, Objects, Origin, Partial, Ranked, Split,
};
use canter_matching::{Bits, Matcher, PostingList, WINDOW_LEN};
use canter_split_format::DeletedDocs;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Scorer};
use tantivy::{DocId, Score, TERMINATED, Term};

use super::aggregate::matching;
use super::statistics::Statistics;
use super::term_docs::TermDocs;
use super::term_scores::TermScores;
use super::windows::Windows;
use crate::exchange::Interrupt;
use crate::leaf::hits::{HitOrder, TopHits, rounded};
use crate::leaf::partial::PartialHit;
use crate::query::{BuiltQuery, QueryShape};
use crate::split::OpenSplit;

/// A task for one split.
pub(in crate::leaf) struct SplitTask<'a> {
    pub(in crate::leaf) split: &'a OpenSplit,
    pub(in crate::leaf) split_ord: u32,
    pub(in crate::leaf) built: &'a BuiltQuery,
    /// Named clauses: hits list the ones that they match.
    pub(in crate::leaf) named: &'a [BuiltQuery],
    /// Documents within the time filter.
    pub(in crate::leaf) docs: Range<DocId>,
    pub(in crate::leaf) order: &'a HitOrder,
    /// True if documents are collected with their scores.
    pub(in crate::leaf) is_scored: bool,
    pub(in crate::leaf) window: usize,
    /// The aggregations, and their filters by slot.
    pub(in crate::leaf) aggregations: Option<(&'a Aggregations, &'a [BuiltQuery])>,
    /// Objects that the aggregations take for documents, by list.
    pub(in crate::leaf) objects: &'a [Objects],
    /// The part of the aggregations that the head has answered.
    pub(in crate::leaf) from_head: &'a FromHead,
    pub(in crate::leaf) statistics: Option<&'a Statistics>,
    /// True if the matching documents are listed.
    pub(in crate::leaf) lists_documents: bool,
    /// The least score of a hit, where scores are computed.
    pub(in crate::leaf) min_score: Option<f64>,
    /// Flag that stops the search.
    pub(in crate::leaf) interrupt: &'a Interrupt,
}

/// The result of one split.
#[derive(Debug, Default)]
pub(in crate::leaf) struct SplitResult {
    pub(in crate::leaf) num_hits: u64,
    pub(in crate::leaf) hits: Vec<PartialHit>,
    pub(in crate::leaf) aggregations: Option<Partial>,
    /// The matching documents, if they are to be listed.
    pub(in crate::leaf) listed: Option<DeletedDocs>,
}

/// Consumers of matching documents.
struct Collectors {
    num_hits: u64,
    top_hits: TopHits,
    aggregations: Option<Collector>,
    listed: Option<DeletedDocs>,
    /// Documents waiting for the aggregations, which take larger batches.
    waiting: Vec<DocId>,
    /// Their scores, if they are scored.
    waiting_scores: Vec<f64>,
    /// Documents of the current window.
    window_docs: Vec<DocId>,
}

/// Batch size of the aggregations, in documents.
const AGGREGATED_AT_ONCE: usize = 4096;

/// Returns the place of a split among others.
fn origin_of(split: &OpenSplit) -> Origin<'_> {
    let range = split.identity_range();
    let time_ns = split.metadata.time_range.map_or(0, |range| range.start_ns);
    Origin {
        id: &split.entry.id,
        first: (time_ns, range.first.source.to_u128(), range.first.position),
    }
}

/// Number of documents that are scored together.
const SCORED_AT_ONCE: usize = 128;

/// Number of a term's documents that are taken together.
const TERM_AT_ONCE: u32 = 4096;

impl Collectors {
    /// Takes the documents of a window.
    fn collect_window(&mut self, first: DocId, found: &Bits) -> canter_aggregations::Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        self.num_hits += u64::from(found.count());
        self.top_hits.collect_window(first, found)?;
        if self.listed.is_some() || self.aggregations.is_some() {
            let mut docs = std::mem::take(&mut self.window_docs);
            found.list(first, &mut docs);
            self.list(&docs);
            self.aggregate(&docs)?;
            self.window_docs = docs;
        }
        Ok(())
    }

    fn list(&mut self, docs: &[DocId]) {
        if let Some(listed) = &mut self.listed {
            let ranges = docs.iter().map(|doc| *doc..doc.saturating_add(1));
            ranges.for_each(|range| listed.push(range));
        }
    }

    fn aggregate(&mut self, docs: &[DocId]) -> canter_aggregations::Result<()> {
        if self.aggregations.is_some() {
            self.waiting.extend_from_slice(docs);
            if self.waiting.len() >= AGGREGATED_AT_ONCE {
                return self.flush();
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> canter_aggregations::Result<()> {
        if let Some(aggregations) = &mut self.aggregations {
            match self.waiting_scores.is_empty() {
                true => aggregations.collect_list(&self.waiting)?,
                false => aggregations.collect_scored(&self.waiting, &self.waiting_scores)?,
            }
        }
        self.waiting.clear();
        self.waiting_scores.clear();
        Ok(())
    }
}

impl SplitTask<'_> {
    /// Runs the query.
    ///
    /// # Errors
    /// Errors of tantivy; a read that missed, whose range is noted in the split's body; buckets beyond the
    /// limits of aggregations.
    pub(in crate::leaf) fn run(&self) -> canter_aggregations::Result<SplitResult> {
        let aggregations = match self.aggregations {
            None => None,
            Some((request, filters)) => {
                let filters = filters.iter();
                let filters = filters.map(|filter| matching(self.split, filter, self.interrupt));
                let filters = filters.collect::<tantivy::Result<Vec<_>>>()?;
                let split = Split {
                    columns: Columns::Segment(self.split.segment()),
                    mapper: &self.split.mapper,
                    sort_field: self.split.metadata.sort_field.as_deref(),
                    time_index: self.split.time_index.as_ref(),
                    filters: &filters,
                    objects: self.objects,
                    origin: origin_of(self.split),
                };
                Some(Collector::open(request, &split, self.from_head)?)
            }
        };
        let mut collectors = Collectors {
            num_hits: 0,
            top_hits: TopHits::open(self.split, self.order, self.window)?,
            aggregations,
            listed: self.lists_documents.then(DeletedDocs::default),
            waiting: Vec::new(),
            waiting_scores: Vec::new(),
            window_docs: Vec::new(),
        };
        if self.is_scored {
            self.run_scored(&mut collectors)?;
        } else if self.built.shape == QueryShape::All {
            self.run_all(&mut collectors)?;
        } else if self.run_ranked(&mut collectors)? {
            // No document had to be read.
        } else {
            self.run_unscored(&mut collectors)?;
        }
        self.interrupt.check_tantivy()?;
        collectors.flush()?;
        let mut hits = collectors.top_hits.into_hits(self.split_ord)?;
        self.note_names(&mut hits)?;
        Ok(SplitResult {
            num_hits: collectors.num_hits,
            hits,
            aggregations: match collectors.aggregations {
                None => None,
                Some(collector) => Some(collector.finish()?),
            },
            listed: collectors.listed,
        })
    }

    /// Records which named clauses each hit matches.
    fn note_names(&self, hits: &mut [PartialHit]) -> tantivy::Result<()> {
        if self.named.is_empty() || hits.is_empty() {
            return Ok(());
        }
        let docs = hits.iter().enumerate().map(|(place, hit)| (hit.doc, place));
        let mut docs: Vec<(DocId, usize)> = docs.collect();
        // A matcher only goes forward.
        canter_sorting::sort(&mut docs);
        let (mut wanted, mut found) = (Bits::default(), Bits::default());
        for (ord, clause) in self.named.iter().enumerate() {
            let mut matcher = self.split.compile(clause.query.as_ref())?;
            let mut left = docs.as_slice();
            while let Some((doc, _)) = left.first() {
                self.interrupt.check_tantivy()?;
                let first = doc / u64::BITS * u64::BITS;
                let len = left.partition_point(|(doc, _)| doc - first < WINDOW_LEN);
                let (window, rest) = left.split_at_checked(len).unwrap_or_default();
                wanted.clear();
                for (doc, _) in window {
                    wanted.insert(doc - first);
                }
                matcher.find(first, &wanted, &mut found)?;
                for (doc, place) in window {
                    let (word, bit) = ((doc - first) / u64::BITS, doc % u64::BITS);
                    let word = found.words().get(word as usize).copied();
                    if let (true, Some(hit)) = (
                        (word.unwrap_or_default() >> bit) & 1 == 1,
                        hits.get_mut(*place),
                    ) {
                        hit.names |= 1 << ord;
                    }
                }
                left = rest;
            }
        }
        Ok(())
    }

    /// Collects every document of the range that is not deleted.
    fn run_all(&self, collectors: &mut Collectors) -> canter_aggregations::Result<()> {
        match &self.split.deleted {
            None => self.run_range(self.docs.clone(), collectors),
            Some(deleted) => deleted
                .left_of(self.docs.clone())
                .try_for_each(|docs| self.run_range(docs, collectors)),
        }
    }

    /// Collects every document of a range.
    fn run_range(
        &self,
        docs: Range<DocId>,
        collectors: &mut Collectors,
    ) -> canter_aggregations::Result<()> {
        const BLOCK: u32 = 65_536;
        collectors
            .top_hits
            .collect_range(docs.clone(), self.interrupt)?;
        let mut from = docs.start;
        while from < docs.end {
            self.interrupt.check_tantivy()?;
            let to = from.saturating_add(BLOCK).min(docs.end);
            collectors.num_hits += u64::from(to - from);
            if let Some(listed) = &mut collectors.listed {
                listed.push(from..to);
            }
            if let Some(aggregations) = &mut collectors.aggregations {
                aggregations.collect_range(from, to)?;
            }
            from = to;
        }
        Ok(())
    }

    /// Counts the documents of one term without visiting each. Returns `false` if more than the count is needed.
    fn run_ranked(&self, collectors: &mut Collectors) -> canter_aggregations::Result<bool> {
        let (QueryShape::Term(term), 0) = (&self.built.shape, self.window) else {
            return Ok(false);
        };
        let Some(aggregations) = &mut collectors.aggregations else {
            return Ok(false);
        };
        // A skip list counts deleted documents too.
        if self.split.deleted.is_some() {
            return Ok(false);
        }
        let mut docs = TermDocs::open(self.split, term)?;
        if !aggregations.collect_ranked(&self.docs, &mut docs)? {
            return Ok(false);
        }
        docs.restart()?;
        let (before, _) = docs.seek(self.docs.start);
        let (until, _) = docs.seek(self.docs.end);
        collectors.num_hits = u64::from(until.saturating_sub(before));
        Ok(true)
    }

    fn run_unscored(&self, collectors: &mut Collectors) -> canter_aggregations::Result<()> {
        let mut matcher = self.split.compile(self.built.query.as_ref())?;
        if let Matcher::Term(list) = &mut matcher
            && self.split.deleted.is_none()
            && collectors.top_hits.is_in_order()
        {
            return self.run_term(list, collectors);
        }
        let docs = self.docs.clone();
        let mut windows = Windows::of(matcher, self.split, docs, self.interrupt);
        let mut found = Bits::default();
        while let Some(first) = windows.next(&mut found)? {
            collectors.collect_window(first, &found)?;
        }
        Ok(())
    }

    /// Takes the documents of one term from its posting list.
    fn run_term(
        &self,
        list: &mut PostingList,
        collectors: &mut Collectors,
    ) -> canter_aggregations::Result<()> {
        let ranks = list.rank(self.docs.start)..list.rank(self.docs.end);
        collectors.num_hits += u64::from(ranks.end.saturating_sub(ranks.start));
        let mut docs = Vec::new();
        list.docs_by_rank(collectors.top_hits.ranks_of(&ranks), &mut docs);
        collectors.top_hits.collect(&docs)?;
        if collectors.listed.is_none() && collectors.aggregations.is_none() {
            return Ok(());
        }
        let mut from = ranks.start;
        while from < ranks.end {
            self.interrupt.check_tantivy()?;
            // Blocks of the list, as many as the aggregations take at once.
            let to = (from / TERM_AT_ONCE + 1).saturating_mul(TERM_AT_ONCE);
            list.docs_by_rank(from..to.min(ranks.end), &mut docs);
            collectors.list(&docs);
            collectors.aggregate(&docs)?;
            from = to;
        }
        Ok(())
    }

    fn run_scored(&self, collectors: &mut Collectors) -> canter_aggregations::Result<()> {
        let statistics = self.statistics.map(|all| all.of_split(self.split));
        let statistics: &dyn Bm25StatisticsProvider = match &statistics {
            Some(statistics) => statistics,
            None => &self.split.searcher,
        };
        if let QueryShape::Term(term) = &self.built.shape {
            return self.run_scored_term(term, statistics, collectors);
        }
        let searcher = &self.split.searcher;
        let scoring = EnableScoring::enabled_from_statistics_provider(statistics, searcher);
        let mut scorer = self.scorer(scoring)?;
        let mut scored = Vec::new();
        while scorer.doc() < self.docs.end {
            scored.clear();
            while scorer.doc() < self.docs.end && scored.len() < SCORED_AT_ONCE {
                scored.push((scorer.doc(), scorer.score()));
                scorer.advance();
            }
            self.collect_scored(&mut scored, collectors)?;
        }
        Ok(())
    }

    fn run_scored_term(
        &self,
        term: &Term,
        statistics: &dyn Bm25StatisticsProvider,
        collectors: &mut Collectors,
    ) -> canter_aggregations::Result<()> {
        let scores = TermScores::open(self.split, term, statistics, &self.docs)?;
        let Some(mut scores) = scores else {
            return Ok(());
        };
        let mut scored = Vec::new();
        loop {
            scores.next_block(&mut scored);
            if scored.is_empty() {
                return Ok(());
            }
            self.collect_scored(&mut scored, collectors)?;
        }
    }

    /// Takes documents with their scores, and keeps the hits.
    fn collect_scored(
        &self,
        scored: &mut Vec<(DocId, Score)>,
        collectors: &mut Collectors,
    ) -> canter_aggregations::Result<()> {
        self.interrupt.check_tantivy()?;
        if self.split.deleted.is_some() {
            scored.retain(|(doc, _)| self.split.is_live(*doc));
        }
        for (_, score) in scored.iter_mut() {
            *score = rounded(*score, self.built.is_precise);
        }
        if let Some(least) = self.min_score {
            scored.retain(|(_, score)| f64::from(*score) >= least);
        }
        collectors.num_hits += scored.len() as u64;
        collectors.top_hits.collect_scored(scored)?;
        if collectors.aggregations.is_some() {
            let docs: Vec<DocId> = scored.iter().map(|(doc, _)| *doc).collect();
            let scores = scored.iter().map(|(_, score)| f64::from(*score));
            collectors.waiting_scores.extend(scores);
            collectors.aggregate(&docs)?;
        }
        Ok(())
    }

    /// Returns a scorer positioned on the first matching document of the range.
    fn scorer(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Scorer>> {
        let weight = self.built.query.weight(scoring)?;
        let mut scorer = weight.scorer(self.split.segment(), 1.0)?;
        if scorer.doc() != TERMINATED && scorer.doc() < self.docs.start {
            scorer.seek(self.docs.start);
        }
        Ok(scorer)
    }
}
