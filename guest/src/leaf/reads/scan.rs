//! Looking at stored documents for the clauses of a query that no index answers.
//!
//! ```text
//!   may match ─┐
//!              ├─▶ candidates ──▶ blocks of the doc store, some at a time ──▶ what each clause found
//!   do anyway ─┘
//! ```
//!
//! Only those documents are looked at that the rest of the query leaves open. Their blocks come in waves of bounded
//! size, and are let go of before the next.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use canter_doc_mapper::ScannedField;
use canter_protocol::ByteClass;
use tantivy::{DocId, TantivyDocument};
use tantivy_common::BitSet;

use super::rerun::rerun_on_gaps;
use crate::exchange::Interrupt;
use crate::leaf::split::aggregate::matching;
use crate::query::{Answers, BuiltQuery, Clause, DocTerms, FieldClause, Scan};
use crate::split::{Documents, OpenSplit, find_docs};
use crate::{ErrorKind, SearchError};

/// So many splits are looked through at once.
pub(in crate::leaf) const SPLITS_AT_ONCE: usize = 8;

/// Bytes of the doc store that a wave brings of each of them.
const WAVE_BYTES: u64 = 2 << 20;

/// The documents that a leaf may still look at.
pub(in crate::leaf) struct ScanBudget {
    limit: u64,
    spent: AtomicU64,
}

impl ScanBudget {
    pub(in crate::leaf) fn new(limit: u64) -> Self {
        Self {
            limit,
            spent: AtomicU64::new(0),
        }
    }

    pub(in crate::leaf) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    fn spend(&self, num_docs: u64) -> Result<(), SearchError> {
        let spent = self.spent() + num_docs;
        if spent > self.limit {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "the query looks for something in a field that is not indexed (strategy: none), and would have to \
                     look at more than {} documents for it: narrow the time range, add a clause on a field that is \
                     indexed, or raise the limit (max_docs_scanned)",
                    self.limit
                ),
            ));
        }
        self.spent.store(spent, Ordering::Relaxed);
        Ok(())
    }
}

/// Looking through one split.
pub(in crate::leaf) struct Scanner<'a> {
    pub(in crate::leaf) split: &'a OpenSplit,
    /// Documents within the time filter.
    pub(in crate::leaf) docs: Range<DocId>,
    pub(in crate::leaf) budget: &'a ScanBudget,
    pub(in crate::leaf) interrupt: &'a Interrupt,
}

impl Scanner<'_> {
    /// Finds what a query needs to know, and what is asked of the documents that it matches: the filters of aggregations,
    /// and clauses with names.
    ///
    /// # Errors
    /// If more documents would have to be looked at than may be, or what is read cannot be had.
    pub(in crate::leaf) async fn scan_all(
        &self,
        built: &BuiltQuery,
        filters: &[&BuiltQuery],
    ) -> Result<(), SearchError> {
        self.scan(built, None).await?;
        if filters.iter().all(|filter| filter.scan.is_empty()) {
            return Ok(());
        }
        // A filter is asked about documents that match, and no others.
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
            self.budget.spend(candidates.len() as u64)?;
            self.look_at(&built.scan, &candidates, &mut found).await?;
        }
        built.scan.answer(Answers::Found(found));
        Ok(())
    }

    /// A set for each clause: empty, or of the documents whose identities it names.
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

    /// The documents that match if, and only if, the clauses say so.
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

    async fn matching(
        &self,
        built: &BuiltQuery,
    ) -> Result<canter_aggregations::BitSet, SearchError> {
        rerun_on_gaps(self.split, self.interrupt, || {
            Ok(matching(self.split, built, self.interrupt)?)
        })
        .await
    }

    /// Notes which of these documents, which ascend, each clause finds.
    async fn look_at(
        &self,
        scan: &Scan,
        docs: &[DocId],
        found: &mut [BitSet],
    ) -> Result<(), SearchError> {
        let mapper = &self.split.mapper;
        let clauses = scan.clauses.iter().zip(found);
        let clauses = clauses.filter_map(|(clause, found)| Some((clause.of_field()?, found)));
        let mut clauses: Vec<(&FieldClause, &mut BitSet)> = clauses.collect();
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
        let mut reader = DocReader::open(self).await?;
        for doc in docs {
            self.interrupt.check()?;
            let document = reader.read(*doc, docs).await?;
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

/// Reads documents one after another, and brings blocks ahead of them.
struct DocReader<'a> {
    split: &'a OpenSplit,
    documents: Documents<'a>,
    /// What was there before, and stays.
    kept: std::collections::BTreeSet<u64>,
}

impl<'a> DocReader<'a> {
    async fn open(scanner: &Scanner<'a>) -> Result<Self, SearchError> {
        let split = scanner.split;
        let kept = split.body.runs();
        Ok(Self {
            split,
            documents: Documents::open(split).await?,
            kept,
        })
    }

    /// Reads a document; `docs` are all that will be asked for, ascending.
    async fn read(&mut self, doc: DocId, docs: &[DocId]) -> Result<TantivyDocument, SearchError> {
        if !self.documents.is_here(doc) {
            self.bring(doc, docs).await?;
        }
        self.documents.read(doc)
    }

    /// The next wave: the block of a document, and those of the documents behind it.
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

    fn finish(self) {
        self.split.body.release_but(&self.kept);
    }
}
