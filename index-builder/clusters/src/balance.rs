//! Clusters of about equal size: too large ones are divided, too small ones dissolved.

use crate::centroids::{self, Groups, Rows};
use crate::parallel;
use crate::prepared::Prepared;
use crate::random::Random;
use crate::refine::refine;

/// A cluster has at most this many times the vectors that it should have.
const MOST: usize = 2;

/// A cluster has at least one in this many of the vectors that it should have.
const LEAST: usize = 8;

/// Number of vectors for each centroid that a large cluster is divided by.
const SAMPLE_LEN: usize = 64;

/// Number of times that vectors are assigned anew. With one, a merge of 8 fields into one of 250,000 vectors loses 2 points
/// of recall.
const NUM_REFINEMENTS: usize = 2;

/// Vectors are only assigned anew if there are more clusters than before by one in this many.
const FEW: usize = 10;

/// Number of times that parts are divided again.
const MAX_DEPTH: usize = 8;

/// A centroid with the ranks of its vectors in the order of documents, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cluster {
    pub(crate) centroid: Vec<f32>,
    pub(crate) ranks: Vec<u32>,
    /// Which cluster of the largest source it is, whose stored centroid it has.
    pub(crate) kept: Option<usize>,
}

impl Cluster {
    /// Returns the cluster without its vectors.
    pub(crate) fn without_ranks(&self) -> Self {
        Self {
            centroid: self.centroid.clone(),
            ranks: Vec::new(),
            kept: self.kept,
        }
    }
}

/// Assigns all vectors to their closest centroids.
pub(crate) fn assign(
    vectors: &Prepared<'_>,
    centroids: &Groups<'_>,
    num_threads: usize,
) -> Vec<Cluster> {
    let all: Vec<u32> = (0..vectors.len() as u32).collect();
    assign_some(vectors, &all, centroids, num_threads)
}

fn assign_some(
    vectors: &Prepared<'_>,
    ranks: &[u32],
    centroids: &Groups<'_>,
    num_threads: usize,
) -> Vec<Cluster> {
    let closest = parallel::map(ranks.len(), num_threads, |ord| {
        centroids.closest(&vectors.get(ranks[ord] as usize))
    });
    let clusters = (0..centroids.all().len()).map(|ord| Cluster {
        centroid: centroids.all().get(ord).to_vec(),
        ranks: Vec::new(),
        kept: None,
    });
    let mut clusters: Vec<Cluster> = clusters.collect();
    for (rank, cluster) in ranks.iter().zip(closest) {
        clusters[cluster].ranks.push(*rank);
    }
    clusters
}

/// Divides and dissolves clusters until none is far from `size` vectors, assigning vectors anew in between.
pub(crate) fn balance(
    vectors: &Prepared<'_>,
    clusters: Vec<Cluster>,
    size: usize,
    random: &mut Random,
    num_threads: usize,
) -> Vec<Cluster> {
    let mut clusters = clusters;
    let num_before = clusters.len();
    for round in 0..=NUM_REFINEMENTS {
        let mut found = Vec::new();
        for cluster in clusters {
            divide(vectors, cluster, size, random, num_threads, &mut found);
        }
        clusters = dissolve(vectors, found, size, random, num_threads);
        // Few vectors are at a border that was not there before.
        let num_divided = clusters.len().saturating_sub(num_before);
        if round == NUM_REFINEMENTS || num_divided * FEW < num_before {
            break;
        }
        clusters = refine(vectors, clusters, num_threads);
    }
    clusters
}

/// Divides a cluster that is too large, and appends what becomes of it.
fn divide(
    vectors: &Prepared<'_>,
    cluster: Cluster,
    size: usize,
    random: &mut Random,
    num_threads: usize,
    found: &mut Vec<Cluster>,
) {
    let mut waiting = vec![(cluster, 0)];
    while let Some((cluster, depth)) = waiting.pop() {
        let num = cluster.ranks.len();
        if num <= MOST * size {
            found.push(cluster);
            continue;
        }
        let num_parts = num.div_ceil(size);
        let parts = match depth < MAX_DEPTH {
            true => divide_once(vectors, &cluster, num_parts, random, num_threads),
            false => Vec::new(),
        };
        if parts.iter().filter(|part| !part.ranks.is_empty()).count() > 1 {
            waiting.extend(parts.into_iter().map(|part| (part, depth + 1)));
        } else {
            // Equal vectors: one part is as good as another.
            let parts = cluster.ranks.chunks(size).map(|ranks| Cluster {
                centroid: cluster.centroid.clone(),
                ranks: ranks.to_vec(),
                kept: cluster.kept,
            });
            found.extend(parts);
        }
    }
}

fn divide_once(
    vectors: &Prepared<'_>,
    cluster: &Cluster,
    num_parts: usize,
    random: &mut Random,
    num_threads: usize,
) -> Vec<Cluster> {
    let mut sample = Rows::new(vectors.num_dims());
    for ord in random.distinct(num_parts * SAMPLE_LEN, cluster.ranks.len()) {
        sample.push(&vectors.get(cluster.ranks[ord] as usize));
    }
    let centroids = centroids::centroids(&sample, num_parts, random, num_threads);
    let centroids = Groups::new(&centroids, random, num_threads);
    assign_some(vectors, &cluster.ranks, &centroids, num_threads)
}

/// Moves the vectors of clusters that are too small to the closest of the others.
fn dissolve(
    vectors: &Prepared<'_>,
    clusters: Vec<Cluster>,
    size: usize,
    random: &mut Random,
    num_threads: usize,
) -> Vec<Cluster> {
    let is_large = |cluster: &Cluster| cluster.ranks.len() * LEAST >= size;
    let (mut kept, dissolved): (Vec<_>, Vec<_>) = clusters.into_iter().partition(is_large);
    if kept.is_empty() {
        let filled = dissolved
            .into_iter()
            .filter(|cluster| !cluster.ranks.is_empty());
        return filled.collect();
    }
    let mut centroids = Rows::new(vectors.num_dims());
    for cluster in &kept {
        centroids.push(&cluster.centroid);
    }
    let mut ranks: Vec<u32> = dissolved
        .into_iter()
        .flat_map(|cluster| cluster.ranks)
        .collect();
    ranks.sort_unstable();
    let centroids = Groups::new(&centroids, random, num_threads);
    let moved = assign_some(vectors, &ranks, &centroids, num_threads);
    for (cluster, moved) in kept.iter_mut().zip(moved) {
        cluster.ranks.extend(moved.ranks);
        cluster.ranks.sort_unstable();
    }
    kept
}
