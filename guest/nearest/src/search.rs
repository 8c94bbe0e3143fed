//! The search in one split.

use std::ops::Range;

use canter_split_format::{FormatError, VectorField};
use canter_vectors::{ClusterQuery, ExactQuery, Rotation};

use crate::candidates::{Candidate, Candidates};
use crate::choice::RankedCluster;

/// A document with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Score, by the exact vector.
    pub score: f32,
    /// How alike vector and query are: the cosine, the inner product, the distance, or the number of bits that
    /// differ.
    pub alike: f32,
    /// Which of the splits it is in.
    pub split: usize,
    /// Document id in the split.
    pub doc: u32,
}

impl Nearest {
    /// Sorts by score, best first, then by split and document, and keeps `k` of them.
    pub fn best(mut found: Vec<Self>, k: usize) -> Vec<Self> {
        canter_sorting::sort_by(&mut found, |one: &Self, other| {
            let better = other.score.total_cmp(&one.score);
            better.then((one.split, one.doc).cmp(&(other.split, other.doc)))
        });
        found.truncate(k);
        found
    }
}

/// The search for a query in the vectors of one split.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    split: usize,
    field: &'a VectorField,
    query: &'a ExactQuery,
    rotated: Vec<f32>,
}

impl<'a> Search<'a> {
    /// Prepares a search in the split of a number, by which results name it.
    pub fn new(split: usize, field: &'a VectorField, query: &'a ExactQuery) -> Self {
        let shape = field.shape();
        let rotated = match shape.codes {
            Some(_) => Rotation::new(shape.seed, shape.dims()).rotate(&query.prepared()),
            None => Vec::new(),
        };
        Self {
            split,
            field,
            query,
            rotated,
        }
    }

    /// Returns the number of the split.
    pub fn split(&self) -> usize {
        self.split
    }

    /// Returns the clusters with the closeness of their centroids. That of a field with one cluster is closer than any
    /// other: its centroid, the mean of all vectors, says nothing of the nearest.
    pub fn clusters(&self) -> Vec<RankedCluster> {
        let space = self.field.shape().similarity.space();
        let ranked = |(cluster, closeness)| RankedCluster {
            closeness,
            split: self.split,
            cluster,
            num_vectors: self.field.num_vectors_of(cluster),
        };
        if self.field.num_clusters() == 1 {
            return vec![ranked((0, f32::INFINITY))];
        }
        let closeness = self
            .field
            .centroids()
            .map(|centroid| space.closeness(&self.rotated, &centroid));
        closeness.enumerate().map(ranked).collect()
    }

    /// Returns where the bytes of a cluster are.
    pub fn cluster_range(&self, cluster: usize) -> Range<u64> {
        self.field.cluster_range(cluster)
    }

    /// Pushes the vectors of a cluster, whose bytes are `bytes`, if `accepts` takes their documents.
    ///
    /// # Errors
    /// The bytes are not those of the cluster.
    pub fn scan(
        &self,
        cluster: usize,
        bytes: &[u8],
        accepts: impl Fn(u32) -> bool,
        candidates: &mut Candidates,
    ) -> Result<(), FormatError> {
        let opened = self.field.open_cluster(cluster, bytes)?;
        let documents = opened
            .docs()
            .iter()
            .copied()
            .zip(opened.places().iter().copied());
        let candidate = |closeness, (doc, place)| Candidate {
            closeness,
            split: self.split,
            doc,
            place,
        };
        let Some(width) = self.field.shape().codes else {
            for document in documents.filter(|(doc, _)| accepts(*doc)) {
                candidates.push(candidate(f32::INFINITY, document));
            }
            return Ok(());
        };
        let space = self.field.shape().similarity.space();
        let centroid = self.field.centroid(cluster);
        let query = ClusterQuery::new(&self.rotated, &centroid, width, space);
        for (closeness, document) in query.closeness(opened.codes()).into_iter().zip(documents) {
            // A filter costs more than a comparison.
            if candidates.may_take(closeness) && accepts(document.0) {
                candidates.push(candidate(closeness, document));
            }
        }
        Ok(())
    }

    /// Returns where a candidate's exact vector is.
    pub fn exact_range(&self, candidate: &Candidate) -> Range<u64> {
        self.field.exact_range(candidate.place)
    }

    /// Returns the score of a candidate, whose exact vector is `stored`.
    pub fn score(&self, candidate: &Candidate, stored: &[u8]) -> Nearest {
        let alike = self.query.alike(stored);
        Nearest {
            score: self.query.score(alike),
            alike,
            split: candidate.split,
            doc: candidate.doc,
        }
    }
}
