//! The search in one split.

use std::ops::Range;

use canter_split_format::{BlockCheck, FormatError, VectorField};
use canter_vectors::{ClusterQuery, ExactQuery, Rotation, Space, distance, dot};

use crate::candidates::{Candidate, Candidates};
use crate::choice::RankedCluster;

/// Number of spreads from its centroid that a cluster reaches. More favours wide clusters, fewer near ones: recall is
/// best from 0.35 to 0.5 (docs/decisions/vectors.md).
const RISE: f32 = 0.5;

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

    /// Returns the clusters with their reach. The only cluster of a field has none: its centroid, the mean of all vectors,
    /// says nothing of the nearest.
    pub fn clusters(&self) -> Vec<RankedCluster> {
        let ranked = |cluster, (reach, spread)| RankedCluster {
            reach,
            spread,
            split: self.split,
            cluster,
            num_vectors: self.field.num_vectors_of(cluster),
            is_whole: self.field.num_clusters() == 1,
        };
        if self.field.num_clusters() == 1 {
            return vec![ranked(0, (0.0, 0.0))];
        }
        let length = dot(&self.rotated, &self.rotated).sqrt();
        let centroids = self.field.centroids().enumerate();
        centroids
            .map(|(cluster, centroid)| ranked(cluster, self.reach(cluster, &centroid, length)))
            .collect()
    }

    /// Returns the reach of a cluster, and what a spread of its vectors makes of closeness.
    fn reach(&self, cluster: usize, centroid: &[f32], length: f32) -> (f32, f32) {
        let spread = self.field.spread(cluster);
        let (middle, spread) = match self.field.shape().similarity.space() {
            // A vector at a spread from the centroid, in the direction of the query.
            Space::Product => (dot(&self.rotated, centroid), spread * length),
            Space::Distance => {
                let square = distance(&self.rotated, centroid);
                let middle = -square - spread * spread;
                (middle, 2.0 * spread * square.sqrt())
            }
        };
        let reach = middle + RISE * spread;
        match reach.is_finite() {
            true => (reach, spread),
            // Of vectors so large that their squares have no sum.
            false => (f32::MIN, 0.0),
        }
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
        let documents = opened.placed();
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

    /// Returns how the bytes of a range are checked: of a cluster, or of an exact vector.
    pub fn check_of(&self, range: &Range<u64>) -> BlockCheck {
        self.field.check_of(range)
    }

    /// Returns where a candidate's exact vector is.
    pub fn exact_range(&self, candidate: &Candidate) -> Range<u64> {
        self.field.exact_range(candidate.place)
    }

    /// Returns the score of a candidate. `bytes` are those of its [`exact_range`](Self::exact_range).
    pub fn score(&self, candidate: &Candidate, bytes: &[u8]) -> Nearest {
        let alike = self.query.alike(self.field.exact(bytes));
        Nearest {
            score: self.query.score(alike),
            alike,
            split: candidate.split,
            doc: candidate.doc,
        }
    }
}
