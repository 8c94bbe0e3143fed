//! Vectors at the borders of clusters that were divided: each to the closest of the near centroids.
//!
//! Parts of a cluster are only compared with each other when it is divided. A vector at its border may be
//! closer to a part of another one.

use crate::balance::Cluster;
use crate::centroids::Rows;
use crate::parallel;
use crate::prepared::Prepared;

/// Number of clusters that the vectors of a cluster are compared with, their own among them.
const NUM_NEAR: usize = 24;

/// Assigns vectors anew, and moves centroids that are not kept to the mean of their vectors.
pub(crate) fn refine(
    vectors: &Prepared<'_>,
    clusters: Vec<Cluster>,
    num_threads: usize,
) -> Vec<Cluster> {
    let centroids = centroids_of(&clusters, vectors.num_dims());
    let near: Vec<Vec<usize>> = parallel::map(clusters.len(), num_threads, |ord| {
        centroids.nearest(centroids.get(ord), NUM_NEAR)
    });
    let mut moved: Vec<Cluster> = clusters.iter().map(Cluster::without_ranks).collect();
    for (cluster, near) in clusters.iter().zip(&near) {
        let rows = centroids.some(near);
        let closest = parallel::map(cluster.ranks.len(), num_threads, |ord| {
            near[rows.closest(&vectors.get(cluster.ranks[ord] as usize))]
        });
        for (rank, to) in cluster.ranks.iter().zip(closest) {
            moved[to].ranks.push(*rank);
        }
    }
    let centroids = parallel::map(moved.len(), num_threads, |ord| mean(vectors, &moved[ord]));
    for (cluster, centroid) in moved.iter_mut().zip(centroids) {
        cluster.ranks.sort_unstable();
        cluster.ranks.dedup();
        if let Some(centroid) = centroid {
            cluster.centroid = centroid;
        }
    }
    moved
}

/// Returns the centroids of clusters.
pub(crate) fn centroids_of(clusters: &[Cluster], num_dims: usize) -> Rows {
    let mut centroids = Rows::new(num_dims);
    for cluster in clusters {
        centroids.push(&cluster.centroid);
    }
    centroids
}

/// Returns the mean of a cluster's vectors, unless its centroid is kept or it has none.
fn mean(vectors: &Prepared<'_>, cluster: &Cluster) -> Option<Vec<f32>> {
    if cluster.kept.is_some() || cluster.ranks.is_empty() {
        return None;
    }
    let mut sums = vec![0f64; vectors.num_dims()];
    let mut ranks = cluster.ranks.clone();
    ranks.sort_unstable();
    for rank in &ranks {
        for (sum, number) in sums.iter_mut().zip(vectors.get(*rank as usize)) {
            *sum += f64::from(number);
        }
    }
    let num = ranks.len() as f64;
    Some(sums.into_iter().map(|sum| (sum / num) as f32).collect())
}
