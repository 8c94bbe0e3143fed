//! Documents that were found before, with their scores.

use canter_doc_mapper::config::VectorKind;
use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField};
use tantivy::query::{EmptyQuery, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

use crate::SearchError;
use crate::query::build::builder::Builder;
use crate::query::columns::explained;
use crate::query::tree::{Factor, FoundIn, Fused, Nearest};

impl Builder<'_> {
    /// Checks a condition on vectors. Documents are found before a split is searched.
    pub(in crate::query::build) fn nearest(
        &mut self,
        nearest: &Nearest,
    ) -> Result<Box<dyn Query>, SearchError> {
        vectors_at(self.mapper, &nearest.field)?;
        if let Some(filter) = &nearest.filter {
            self.without_trace(|builder| builder.without_scores(|builder| builder.node(filter)))?;
        }
        self.found_before()
    }

    pub(in crate::query::build) fn fused(
        &mut self,
        fused: &Fused,
    ) -> Result<Box<dyn Query>, SearchError> {
        for query in &fused.queries {
            self.without_trace(|builder| builder.without_scores(|builder| builder.node(query)))?;
        }
        self.found_before()
    }

    /// Builds what stands for documents that are to be found before a split is searched.
    fn found_before(&self) -> Result<Box<dyn Query>, SearchError> {
        match self.split {
            None => Ok(Box::new(FoundDocs::new(&[]))),
            Some(_) => Err(SearchError::invalid(
                "[knn] is for the query only: not for filters of aggregations, and not inside of other filters",
            )),
        }
    }

    /// Builds a query for the documents of this split among those that were found.
    pub(in crate::query::build) fn found(
        &mut self,
        found: &[FoundIn],
    ) -> Result<Box<dyn Query>, SearchError> {
        self.is_precise = true;
        if self.of_objects {
            return Err(SearchError::invalid(
                "a query inside of nested cannot look for the nearest vectors: documents have these, and not objects in \
                 lists",
            ));
        }
        let here = found.iter().find(|found| {
            found.index == self.mapper.index_name() && Some(&*found.split) == self.split
        });
        Ok(match here {
            Some(here) => Box::new(FoundDocs::new(&here.docs)),
            // An index as a whole has them.
            None if self.split.is_none() => Box::new(FoundDocs::new(&[])),
            None => Box::new(EmptyQuery),
        })
    }
}

/// Returns the options of a field of vectors that are searched.
///
/// # Errors
/// There is no such field, or it is another one.
pub(crate) fn vectors_at(mapper: &DocMapper, name: &str) -> Result<VectorKind, SearchError> {
    let wrong = |what: &str| SearchError::invalid(format!("[knn]: the field {name:?} {what}"));
    let is_mapped = |field: &ResolvedField<'_>| field.path() == name;
    let is_mapped = mapper.fields().iter().any(is_mapped);
    match mapper.kind_of(name).filter(|_| is_mapped) {
        None => Err(wrong("does not exist in this index")),
        Some(FieldKind::Vector(kind)) => {
            let fields = mapper.vector_fields();
            match fields.iter().any(|(_, path, _)| *path == name) {
                true => Ok(*kind),
                false => Err(wrong("is not indexed: its vectors are only stored")),
            }
        }
        Some(_) => Err(wrong("is no dense_vector")),
    }
}

/// Matches ascending documents of one split.
#[derive(Clone, Debug)]
struct FoundDocs(Vec<(DocId, Score)>);

impl FoundDocs {
    fn new(docs: &[(u32, Factor)]) -> Self {
        let docs = docs.iter();
        Self(docs.map(|(doc, score)| (*doc, score.0)).collect())
    }
}

impl Query for FoundDocs {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for FoundDocs {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let max_doc = reader.max_doc();
        let docs = self.0.iter().copied();
        Ok(Box::new(Found {
            docs: docs.filter(|(doc, _)| *doc < max_doc).collect(),
            place: 0,
            boost,
        }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "within top k documents")
    }
}

struct Found {
    docs: Vec<(DocId, Score)>,
    place: usize,
    boost: Score,
}

impl DocSet for Found {
    fn advance(&mut self) -> DocId {
        self.place = self.place.saturating_add(1);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.docs
            .get(self.place)
            .map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.docs.len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for Found {
    fn score(&mut self) -> Score {
        let score = self.docs.get(self.place).map_or(0.0, |(_, score)| *score);
        score * self.boost
    }
}
