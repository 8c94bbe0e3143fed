//! Clusters of about equal size: too large ones are divided, too small ones dissolved.

use crate::k_means::{self, Rows};
use crate::parallel;
use crate::random::Random;
use crate::refine::refine;
use crate::rotated::Rotated;

/// A cluster has at most this many times the vectors that it should have.
const MOST: usize = 2;

/// A cluster has at least one in this many of the vectors that it should have.
const LEAST: usize = 8;

/// Number of vectors for each centroid that a large cluster is divided by.
const SAMPLE_LEN: usize = 64;

/// Number of times that vectors are assigned anew.
const NUM_REFINEMENTS: usize = 2;

/// Vectors are only assigned anew if there are more clusters than before by one in this many.
const FEW: usize = 10;

/// Number of times that parts are divided again.
const MAX_DEPTH: usize = 8;

/// A centroid with the places of its vectors, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cluster {
    pub(crate) centroid: Vec<f32>,
    pub(crate) places: Vec<u32>,
    /// Which cluster of the largest source it is, whose stored centroid it has.
    pub(crate) kept: Option<usize>,
}

impl Cluster {
    /// Returns the cluster without its vectors.
    pub(crate) fn without_places(&self) -> Self {
        Self {
            centroid: self.centroid.clone(),
            places: Vec::new(),
            kept: self.kept,
        }
    }
}

/// Assigns all vectors to their closest centroids.
pub(crate) fn assign(vectors: &Rotated<'_>, centroids: &Rows, num_threads: usize) -> Vec<Cluster> {
    let all: Vec<u32> = (0..vectors.len() as u32).collect();
    assign_some(vectors, &all, centroids, num_threads)
}

fn assign_some(
    vectors: &Rotated<'_>,
    places: &[u32],
    centroids: &Rows,
    num_threads: usize,
) -> Vec<Cluster> {
    let closest = parallel::map(places.len(), num_threads, |ord| {
        centroids.closest(&vectors.get(places[ord] as usize))
    });
    let clusters = (0..centroids.len()).map(|ord| Cluster {
        centroid: centroids.get(ord).to_vec(),
        places: Vec::new(),
        kept: None,
    });
    let mut clusters: Vec<Cluster> = clusters.collect();
    for (place, cluster) in places.iter().zip(closest) {
        clusters[cluster].places.push(*place);
    }
    clusters
}

/// Divides and dissolves clusters until none is far from `size` vectors, assigning vectors anew in between.
pub(crate) fn balance(
    vectors: &Rotated<'_>,
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
        clusters = dissolve(vectors, found, size, num_threads);
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
    vectors: &Rotated<'_>,
    cluster: Cluster,
    size: usize,
    random: &mut Random,
    num_threads: usize,
    found: &mut Vec<Cluster>,
) {
    let mut waiting = vec![(cluster, 0)];
    while let Some((cluster, depth)) = waiting.pop() {
        let num = cluster.places.len();
        if num <= MOST * size {
            found.push(cluster);
            continue;
        }
        let num_parts = num.div_ceil(size);
        let parts = match depth < MAX_DEPTH {
            true => divide_once(vectors, &cluster, num_parts, random, num_threads),
            false => Vec::new(),
        };
        if parts.iter().filter(|part| !part.places.is_empty()).count() > 1 {
            waiting.extend(parts.into_iter().map(|part| (part, depth + 1)));
        } else {
            // Equal vectors: one part is as good as another.
            let parts = cluster.places.chunks(size).map(|places| Cluster {
                centroid: cluster.centroid.clone(),
                places: places.to_vec(),
                kept: cluster.kept,
            });
            found.extend(parts);
        }
    }
}

fn divide_once(
    vectors: &Rotated<'_>,
    cluster: &Cluster,
    num_parts: usize,
    random: &mut Random,
    num_threads: usize,
) -> Vec<Cluster> {
    let mut sample = Rows::new(vectors.num_dims());
    for ord in random.distinct(num_parts * SAMPLE_LEN, cluster.places.len()) {
        sample.push(&vectors.get(cluster.places[ord] as usize));
    }
    let centroids = k_means::centroids(&sample, num_parts, random, num_threads);
    assign_some(vectors, &cluster.places, &centroids, num_threads)
}

/// Moves the vectors of clusters that are too small to the closest of the others.
fn dissolve(
    vectors: &Rotated<'_>,
    clusters: Vec<Cluster>,
    size: usize,
    num_threads: usize,
) -> Vec<Cluster> {
    let is_large = |cluster: &Cluster| cluster.places.len() * LEAST >= size;
    let (mut kept, dissolved): (Vec<_>, Vec<_>) = clusters.into_iter().partition(is_large);
    if kept.is_empty() {
        let filled = dissolved
            .into_iter()
            .filter(|cluster| !cluster.places.is_empty());
        return filled.collect();
    }
    let mut centroids = Rows::new(vectors.num_dims());
    for cluster in &kept {
        centroids.push(&cluster.centroid);
    }
    let mut places: Vec<u32> = dissolved
        .into_iter()
        .flat_map(|cluster| cluster.places)
        .collect();
    places.sort_unstable();
    let moved = assign_some(vectors, &places, &centroids, num_threads);
    for (cluster, moved) in kept.iter_mut().zip(moved) {
        cluster.places.extend(moved.places);
        cluster.places.sort_unstable();
    }
    kept
}
