//! Positions of the leaves of a condition, document by document.

use canter_matching::{NO_DOC, Occurrences};
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy::{DocId, Searcher, TantivyError};

use super::source::{LeafTerms, Source};
use crate::query::build::TermAutomaton;
use crate::query::matching::file::PostingFiles;
use crate::query::matching::term_infos::TermInfos;
use crate::query::tree::Relation;

/// Maximum number of terms of one split that a pattern at a position stands for. Their occurrences in a document are
/// sorted, so that a pattern that takes nearly all terms would cost more than reading the documents.
const MAX_EXPANSIONS: usize = 16_384;

/// Cursor over the positions of a leaf.
pub(super) enum Cursor {
    /// Of one term; `None` if it has no document.
    Term(Option<Box<Occurrences>>),
    /// Of several terms: documents with positions, both ascending, and the place of the next one.
    Accepted(Vec<(DocId, u32)>, usize),
}

impl Cursor {
    /// Replaces `positions` by those in a document, which is not before that of an earlier call.
    pub(super) fn positions(&mut self, doc: DocId, positions: &mut Vec<u32>) {
        positions.clear();
        match self {
            Self::Term(None) => {}
            Self::Term(Some(occurrences)) => {
                if occurrences.seek(doc) == doc {
                    occurrences.positions(0, positions);
                }
            }
            Self::Accepted(found, next) => {
                let rest = found.get(*next..).unwrap_or_default();
                *next += rest.partition_point(|(there, _)| *there < doc);
                let rest = found.get(*next..).unwrap_or_default();
                let here = rest.iter().take_while(|(there, _)| *there == doc);
                positions.extend(here.map(|(_, position)| *position));
            }
        }
    }
}

/// A condition's leaves in a split, all of whose bytes must be resident.
pub(super) struct Leaves<'l> {
    leaves: &'l [LeafTerms],
    /// Located lists of the leaves that are not single terms.
    accepted: Vec<Vec<TermInfo>>,
    files: PostingFiles<'l>,
}

impl<'l> Leaves<'l> {
    /// Looks up the terms that automata accept.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn open(
        leaves: &'l [LeafTerms],
        searcher: &'l Searcher,
        terms: &'l TermInfos,
    ) -> tantivy::Result<Self> {
        let files = PostingFiles::new(searcher, terms);
        let accepted = leaves.iter().map(|leaf| match leaf {
            LeafTerms::Term(_) => Ok(Vec::new()),
            LeafTerms::Accepted(field, automaton) => located(&files, *field, automaton),
        });
        Ok(Self {
            leaves,
            accepted: accepted.collect::<tantivy::Result<_>>()?,
            files,
        })
    }

    /// Returns the documents, ascending, that have the terms which any interval of a source needs; only of `within`, if
    /// that is given.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn docs(
        &mut self,
        source: &Source,
        within: Option<&[DocId]>,
    ) -> tantivy::Result<Vec<DocId>> {
        match source {
            Source::Leaf(ord) => self.docs_of_leaf(*ord, within),
            Source::Any(sources) => {
                let mut all = Vec::new();
                for source in sources {
                    all.append(&mut self.docs(source, within)?);
                }
                canter_sorting::sort(&mut all);
                all.dedup();
                Ok(all)
            }
            Source::Phrase(sources) | Source::Ordered(sources) | Source::Unordered(sources) => {
                // Those with few documents first: they leave less to look up.
                let mut parts: Vec<(u64, &Source)> = sources
                    .iter()
                    .map(|source| Ok((self.num_docs(source)?, source)))
                    .collect::<tantivy::Result<_>>()?;
                canter_sorting::sort_by_key(&mut parts, |(num_docs, _)| *num_docs);
                let mut docs: Option<Vec<DocId>> = None;
                for (_, source) in parts {
                    docs = Some(self.docs(source, docs.as_deref().or(within))?);
                }
                Ok(docs.unwrap_or_default())
            }
            Source::Repeated(source, _)
            | Source::MaxGaps(source, _)
            | Source::Extended(source, ..)
            | Source::First(source, _) => self.docs(source, within),
            Source::Related(source, relation, other) => {
                let docs = self.docs(source, within)?;
                match relation {
                    Relation::NotContaining
                    | Relation::NotContainedBy
                    | Relation::NotOverlapping => Ok(docs),
                    Relation::Containing
                    | Relation::ContainedBy
                    | Relation::Overlapping
                    | Relation::Before
                    | Relation::After => self.docs(other, Some(&docs)),
                }
            }
        }
    }

    /// Returns about the number of documents of a source, an upper bound.
    fn num_docs(&mut self, source: &Source) -> tantivy::Result<u64> {
        let sum = |infos: &[TermInfo]| infos.iter().map(|info| u64::from(info.doc_freq)).sum();
        match source {
            Source::Leaf(ord) => match (self.leaves.get(*ord), self.accepted.get(*ord)) {
                (Some(LeafTerms::Term(term)), _) => {
                    let info = self.files.info(term)?;
                    Ok(info.map_or(0, |info| u64::from(info.doc_freq)))
                }
                (_, Some(infos)) => Ok(sum(infos)),
                (_, None) => Ok(0),
            },
            Source::Any(sources) => {
                let mut num_docs = 0_u64;
                for source in sources {
                    num_docs = num_docs.saturating_add(self.num_docs(source)?);
                }
                Ok(num_docs)
            }
            Source::Phrase(sources) | Source::Ordered(sources) | Source::Unordered(sources) => {
                let mut num_docs = u64::MAX;
                for source in sources {
                    num_docs = num_docs.min(self.num_docs(source)?);
                }
                Ok(num_docs)
            }
            Source::Repeated(source, _)
            | Source::MaxGaps(source, _)
            | Source::Extended(source, ..)
            | Source::First(source, _)
            | Source::Related(source, ..) => self.num_docs(source),
        }
    }

    fn docs_of_leaf(
        &mut self,
        ord: usize,
        within: Option<&[DocId]>,
    ) -> tantivy::Result<Vec<DocId>> {
        let mut docs = Vec::new();
        match self.leaves.get(ord) {
            None => {}
            Some(LeafTerms::Term(term)) => {
                if let Some(mut list) = self.files.occurrences(term)? {
                    add_docs(&mut list, within, &mut docs);
                }
            }
            Some(LeafTerms::Accepted(field, _)) => {
                for info in self.accepted.get(ord).into_iter().flatten() {
                    if let Some(mut list) = self.files.occurrences_at(*field, info.clone())? {
                        add_docs(&mut list, within, &mut docs);
                    }
                }
                canter_sorting::sort(&mut docs);
                docs.dedup();
            }
        }
        Ok(docs)
    }

    /// Opens cursors over the leaves, for documents of `within` only.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn cursors(&mut self, within: &[DocId]) -> tantivy::Result<Vec<Cursor>> {
        let mut cursors = Vec::with_capacity(self.leaves.len());
        for (leaf, infos) in self.leaves.iter().zip(&self.accepted) {
            cursors.push(match leaf {
                LeafTerms::Term(term) => Cursor::Term(self.files.occurrences(term)?.map(Box::new)),
                LeafTerms::Accepted(field, _) => {
                    let (mut found, mut positions) = (Vec::new(), Vec::new());
                    for info in infos {
                        let Some(mut list) = self.files.occurrences_at(*field, info.clone())?
                        else {
                            continue;
                        };
                        for_each_common(&mut list, within, |list, doc| {
                            list.positions(0, &mut positions);
                            found.extend(positions.iter().map(|position| (doc, *position)));
                        });
                    }
                    canter_sorting::sort(&mut found);
                    Cursor::Accepted(found, 0)
                }
            });
        }
        Ok(cursors)
    }
}

/// Returns the located lists of the terms that an automaton accepts.
fn located(
    files: &PostingFiles<'_>,
    field: Field,
    automaton: &TermAutomaton,
) -> tantivy::Result<Vec<TermInfo>> {
    let mut infos = Vec::new();
    let mut num_terms = 0_usize;
    let inverted_index = files.segment.inverted_index(field)?;
    automaton.for_each_term(inverted_index.terms(), &mut |info| {
        num_terms += 1;
        if num_terms <= MAX_EXPANSIONS {
            infos.push(info.clone());
        }
    })?;
    match num_terms <= MAX_EXPANSIONS {
        true => Ok(infos),
        false => Err(TantivyError::InvalidArgument(format!(
            "a prefix, wildcard, fuzzy or regexp rule at a position expanded to too many terms of one split (limit \
             {MAX_EXPANSIONS} but got {num_terms}): give more of its beginning"
        ))),
    }
}

/// Adds the documents of a list; only those of `within`, if that is given.
fn add_docs(list: &mut Occurrences, within: Option<&[DocId]>, docs: &mut Vec<DocId>) {
    match within {
        Some(within) => for_each_common(list, within, |_, doc| docs.push(doc)),
        None => {
            let mut doc = list.doc();
            while doc != NO_DOC {
                docs.push(doc);
                doc = list.advance();
            }
        }
    }
}

/// Calls `each` with the documents of a list that are in `within`, which ascends.
fn for_each_common(
    list: &mut Occurrences,
    within: &[DocId],
    mut each: impl FnMut(&mut Occurrences, DocId),
) {
    let mut rest = within;
    while let Some(next) = rest.first() {
        let doc = list.seek(*next);
        if doc == NO_DOC {
            return;
        }
        if doc == *next {
            each(list, doc);
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let num_before = rest.partition_point(|there| *there < doc);
        rest = rest.get(num_before..).unwrap_or_default();
    }
}
