//! Scan of stored documents for the clauses of a query that no index answers.
//!
//! ```text
//!   may match ─┐
//!              ├─▶ candidates ──▶ blocks of the doc store, some at a time ──▶ what each clause found
//!   do anyway ─┘
//! ```
//!
//! Only documents that the rest of the query leaves undecided are read. Their blocks arrive in waves of bounded
//! size, and are released before the next.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use canter_doc_mapper::ScannedField;
use canter_protocol::ByteClass;
use tantivy::{DocId, TantivyDocument};
use tantivy_common::BitSet;

use super::rerun::rerun_on_gaps;
use crate::exchange::Interrupt;
use crate::leaf::split::aggregate::matching;
use crate::query::{Answers, BuiltQuery, Clause, DocTerms, FieldClause, NestedClause, Scan};
use crate::split::{Documents, OpenSplit, find_docs};
use crate::{ErrorKind, SearchError};

/// Number of splits that are scanned at once.
pub(in crate::leaf) const SPLITS_AT_ONCE: usize = 8;

/// Bytes of the doc store that one wave brings for each of these splits.
pub(super) const WAVE_BYTES: u64 = 2 << 20;

/// Number of documents that a leaf may still read.
pub(in crate::leaf) struct ScanBudget {
    limit: u64,
    spent: AtomicU64,
    /// What is looked for, and what to do instead of looking at more documents.
    reason: &'static str,
}

impl ScanBudget {
    /// Creates the budget for fields that are not indexed.
    pub(in crate::leaf) fn of_fields(limit: u64) -> Self {
        Self {
            limit,
            spent: AtomicU64::new(0),
            reason: "the query looks for something in a field that is not indexed (strategy: none): narrow the time \
                     range, add a clause on a field that is indexed, or raise the limit (max_docs_scanned)",
        }
    }

    /// Creates the budget for the objects of nested queries.
    pub(in crate::leaf) fn of_objects(limit: u64) -> Self {
        Self {
            limit,
            spent: AtomicU64::new(0),
            reason: "a nested clause or aggregation looks at the objects of each document that may match: \
                     narrow the time range, add a clause that fewer documents match, or raise the limit \
                     (max_docs_verified)",
        }
    }

    /// Creates the budget for documents that may have rare words.
    pub(in crate::leaf) fn of_rare_words(limit: u64) -> Self {
        Self {
            limit,
            spent: AtomicU64::new(0),
            reason: "the query has a pattern for words with digits, most of which only documents have as a whole: give \
                     more of its beginning, narrow the time range, or raise the limit (max_docs_scanned)",
        }
    }

    pub(in crate::leaf) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    pub(super) fn spend(&self, num_docs: u64) -> Result<(), SearchError> {
        let spent = self.spent() + num_docs;
        if spent > self.limit {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "the search would have to look at more than {} documents: {}",
                    self.limit, self.reason
                ),
            ));
        }
        self.spent.store(spent, Ordering::Relaxed);
        Ok(())
    }
}

/// Scan of one split.
pub(in crate::leaf) struct Scanner<'a> {
    pub(in crate::leaf) split: &'a OpenSplit,
    /// Documents within the time filter.
    pub(in crate::leaf) docs: Range<DocId>,
    pub(in crate::leaf) budget: &'a ScanBudget,
    pub(in crate::leaf) verify_budget: &'a ScanBudget,
    pub(in crate::leaf) interrupt: &'a Interrupt,
}

impl Scanner<'_> {
    /// Answers the clauses of a query that need a scan, then those of the filters and named clauses that apply to its
    /// matches.
    ///
    /// # Errors
    /// If more documents would have to be read than the limit allows, or a read fails.
    pub(in crate::leaf) async fn scan_all(
        &self,
        built: &BuiltQuery,
        filters: &[&BuiltQuery],
    ) -> Result<(), SearchError> {
        self.scan(built, None).await?;
        if filters.iter().all(|filter| filter.scan.is_empty()) {
            return Ok(());
        }
        // A filter applies to matching documents only.
        let within = self.matching(built).await?;
        for filter in filters {
            self.scan(filter, Some(&within)).await?;
        }
        Ok(())
    }

    async fn scan(
        &self,
        built: &BuiltQuery,
        within: Option<&canter_aggregations::BitSet>,
    ) -> Result<(), SearchError> {
        if built.scan.is_empty() {
            return Ok(());
        }
        let mut found = self.look_up(&built.scan).await?;
        if built.scan.looks_at_documents() {
            let candidates = self.candidates(built, within).await?;
            let num_docs = candidates.len() as u64;
            if built
                .scan
                .clauses
                .iter()
                .any(|clause| clause.of_field().is_some())
            {
                self.budget.spend(num_docs)?;
            }
            if built.scan.looks_at_objects() {
                self.verify_budget.spend(num_docs)?;
            }
            self.look_at(&built.scan, &candidates, &mut found).await?;
        }
        built.scan.answer(Answers::Found(found));
        Ok(())
    }

    /// Returns a set for each clause: empty, or with the documents whose identities the clause names.
    async fn look_up(&self, scan: &Scan) -> Result<Vec<BitSet>, SearchError> {
        let max_doc = self.split.segment().max_doc();
        let mut found = Vec::with_capacity(scan.clauses.len());
        for clause in &scan.clauses {
            let mut docs = BitSet::with_max_value(max_doc);
            if let Clause::Ids(wanted) = clause {
                for doc in find_docs(self.split, wanted).await? {
                    docs.insert(doc);
                }
            }
            found.push(docs);
        }
        Ok(found)
    }

    /// Returns the documents for which the clauses decide whether they match.
    async fn candidates(
        &self,
        built: &BuiltQuery,
        within: Option<&canter_aggregations::BitSet>,
    ) -> Result<Vec<DocId>, SearchError> {
        built.scan.answer(Answers::Most);
        let most = self.matching(built).await?;
        built.scan.answer(Answers::Least);
        let least = self.matching(built).await?;
        let live = self.split.live_ranges(self.docs.clone());
        let docs = live.into_iter().flatten();
        let is_open = |doc: &DocId| {
            most.contains(*doc)
                && !least.contains(*doc)
                && within.is_none_or(|within| within.contains(*doc))
        };
        Ok(docs.filter(is_open).collect())
    }

    pub(super) async fn matching(
        &self,
        built: &BuiltQuery,
    ) -> Result<canter_aggregations::BitSet, SearchError> {
        rerun_on_gaps(self.split, self.interrupt, || {
            Ok(matching(self.split, built, self.interrupt)?)
        })
        .await
    }

    /// Records which of these ascending documents each clause matches.
    async fn look_at(
        &self,
        scan: &Scan,
        docs: &[DocId],
        found: &mut [BitSet],
    ) -> Result<(), SearchError> {
        let mapper = &self.split.mapper;
        let mut clauses: Vec<(&FieldClause, &mut BitSet)> = Vec::new();
        let mut of_objects: Vec<(&NestedClause, &mut BitSet)> = Vec::new();
        for (clause, found) in scan.clauses.iter().zip(found) {
            match clause {
                Clause::Field(clause) => clauses.push((clause, found)),
                Clause::Nested(clause) => of_objects.push((clause, found)),
                Clause::Ids(_) => {}
            }
        }
        let with_json = clauses.iter().any(|(clause, _)| clause.field.is_json());
        // The terms of each field are read once for all clauses on it.
        let mut fields: Vec<(&ScannedField, DocTerms)> = Vec::new();
        let mut field_of: Vec<usize> = Vec::new();
        for (clause, _) in &clauses {
            let field = &clause.field;
            let known = fields.iter().position(|(other, _)| *other == field);
            field_of.push(known.unwrap_or_else(|| {
                fields.push((field, DocTerms::new(mapper, field)));
                fields.len() - 1
            }));
        }
        let mut reader = DocReader::open(self.split).await?;
        for doc in docs {
            self.interrupt.check()?;
            let document = reader.read(*doc, docs).await?;
            if !of_objects.is_empty() {
                let text = mapper.text_with_objects(&document).unwrap_or_default();
                for (clause, found) in &mut of_objects {
                    if clause.is_in(mapper, text) {
                        found.insert(*doc);
                    }
                }
            }
            let document = mapper.stored_doc(&document, with_json);
            for (field, terms) in &mut fields {
                terms.read(mapper, field, &document);
            }
            for ((clause, found), field) in clauses.iter_mut().zip(&field_of) {
                if fields
                    .get(*field)
                    .is_some_and(|(_, terms)| clause.is_in(terms))
                {
                    found.insert(*doc);
                }
            }
        }
        reader.finish();
        Ok(())
    }
}

/// Reads documents one after another, and fetches blocks ahead of them.
pub(super) struct DocReader<'a> {
    split: &'a OpenSplit,
    documents: Documents<'a>,
    /// Blocks that were resident before, and stay.
    kept: std::collections::BTreeSet<u64>,
}

impl<'a> DocReader<'a> {
    pub(super) async fn open(split: &'a OpenSplit) -> Result<Self, SearchError> {
        let kept = split.body.runs();
        Ok(Self {
            split,
            documents: Documents::open(split).await?,
            kept,
        })
    }

    /// Reads a document; `docs` are all documents that will be read, ascending.
    pub(super) async fn read(
        &mut self,
        doc: DocId,
        docs: &[DocId],
    ) -> Result<TantivyDocument, SearchError> {
        if !self.documents.is_here(doc) {
            self.bring(doc, docs).await?;
        }
        self.documents.read(doc)
    }

    /// Keeps a document that was read, for it may be a hit.
    pub(super) fn keep(&self, doc: DocId) -> Result<(), SearchError> {
        let range = self.documents.range_of(doc)?;
        self.split.body.keep_documents(range);
        Ok(())
    }

    /// Fetches the next wave: the block of a document, and those of the documents after it.
    async fn bring(&self, doc: DocId, docs: &[DocId]) -> Result<(), SearchError> {
        let body = &self.split.body;
        body.release_but(&self.kept);
        let mut wanted: Vec<Range<u64>> = Vec::new();
        let mut num_bytes = 0;
        let from = docs.partition_point(|other| *other < doc);
        for next in docs.get(from..).unwrap_or_default() {
            let range = self.documents.range_of(*next)?;
            if wanted.last() == Some(&range) {
                continue;
            }
            if num_bytes >= WAVE_BYTES {
                break;
            }
            num_bytes += range.end - range.start;
            wanted.push(range);
        }
        let loads = wanted.into_iter();
        let loads = loads.map(|range| (range, ByteClass::DocStore));
        body.load_all(loads.collect()).await
    }

    pub(super) fn finish(self) {
        self.split.body.release_but(&self.kept);
    }
}
