//! Vectors at the borders of clusters that were divided: each to the closest of the near centroids.
//!
//! Parts of a cluster are only compared with each other when it is divided. A vector at its border may be
//! closer to a part of another one.

use canter_vectors::distance;

use crate::balance::Cluster;
use crate::k_means::Rows;
use crate::parallel;
use crate::rotated::Rotated;

/// Number of clusters that the vectors of a cluster are compared with, their own among them.
const NUM_NEAR: usize = 24;

/// Assigns vectors anew, and moves centroids that are not kept to the mean of their vectors.
pub(crate) fn refine(
    vectors: &Rotated<'_>,
    clusters: Vec<Cluster>,
    num_threads: usize,
) -> Vec<Cluster> {
    let near: Vec<Vec<usize>> = parallel::map(clusters.len(), num_threads, |ord| {
        nearest(&clusters, &clusters[ord].centroid, NUM_NEAR)
    });
    let mut moved: Vec<Cluster> = clusters.iter().map(Cluster::without_places).collect();
    for (cluster, near) in clusters.iter().zip(&near) {
        let mut rows = Rows::new(vectors.num_dims());
        for ord in near {
            rows.push(&clusters[*ord].centroid);
        }
        let closest = parallel::map(cluster.places.len(), num_threads, |ord| {
            near[rows.closest(&vectors.get(cluster.places[ord] as usize))]
        });
        for (place, to) in cluster.places.iter().zip(closest) {
            moved[to].places.push(*place);
        }
    }
    let centroids = parallel::map(moved.len(), num_threads, |ord| mean(vectors, &moved[ord]));
    for (cluster, centroid) in moved.iter_mut().zip(centroids) {
        cluster.places.sort_unstable();
        cluster.places.dedup();
        if let Some(centroid) = centroid {
            cluster.centroid = centroid;
        }
    }
    moved
}

/// Returns up to `num` clusters, nearest first.
pub(crate) fn nearest(clusters: &[Cluster], centroid: &[f32], num: usize) -> Vec<usize> {
    let distances = clusters.iter();
    let distances = distances.map(|cluster| distance(&cluster.centroid, centroid));
    let distances: Vec<f32> = distances.collect();
    let mut near: Vec<usize> = (0..clusters.len()).collect();
    let nearer = |one: &usize, other: &usize| {
        let nearer = distances[*one].total_cmp(&distances[*other]);
        nearer.then(one.cmp(other))
    };
    if num < near.len() {
        near.select_nth_unstable_by(num, nearer);
        near.truncate(num);
    }
    near.sort_unstable_by(nearer);
    near
}

/// Returns the mean of a cluster's vectors, unless its centroid is kept or it has none.
fn mean(vectors: &Rotated<'_>, cluster: &Cluster) -> Option<Vec<f32>> {
    if cluster.kept.is_some() || cluster.places.is_empty() {
        return None;
    }
    let mut sums = vec![0f64; vectors.num_dims()];
    let mut places = cluster.places.clone();
    places.sort_unstable();
    for place in &places {
        for (sum, number) in sums.iter_mut().zip(vectors.get(*place as usize)) {
            *sum += f64::from(number);
        }
    }
    let num = places.len() as f64;
    Some(sums.into_iter().map(|sum| (sum / num) as f32).collect())
}
