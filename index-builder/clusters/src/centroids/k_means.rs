//! Lloyd's algorithm on a sample.

use super::groups::Groups;
use super::rows::Rows;
use crate::parallel;
use crate::random::Random;

/// Number of rounds; a sample changes little after some.
const NUM_ROUNDS: usize = 10;

/// Number of centroids that a vector is compared with after the first round: those near to the one that it had.
const NUM_NEAR: usize = 32;

/// Returns `num` centroids of a sample, or fewer if there are not that many vectors.
pub(crate) fn centroids(
    sample: &Rows,
    num: usize,
    random: &mut Random,
    num_threads: usize,
) -> Rows {
    let starts = random.distinct(num, sample.len());
    let mut centroids = sample.some(&starts);
    if centroids.len() < 2 {
        return means(sample, &vec![0; sample.len()], &centroids);
    }
    let mut before = first_clusters(sample, &centroids, random, num_threads);
    for _ in 1..NUM_ROUNDS {
        centroids = means(sample, &before, &centroids);
        let near = Near::new(&centroids, num_threads);
        let clusters = parallel::map(sample.len(), num_threads, |place| {
            near.closest(before[place], sample.get(place))
        });
        if clusters == before {
            return centroids;
        }
        before = clusters;
    }
    means(sample, &before, &centroids)
}

fn first_clusters(
    sample: &Rows,
    centroids: &Rows,
    random: &mut Random,
    num_threads: usize,
) -> Vec<usize> {
    let groups = Groups::new(centroids, random, num_threads);
    let closest = |place| groups.closest(sample.get(place));
    parallel::map(sample.len(), num_threads, closest)
}

/// The centroids near to each centroid, itself among them.
struct Near(Vec<(Vec<usize>, Rows)>);

impl Near {
    fn new(centroids: &Rows, num_threads: usize) -> Self {
        let near = parallel::map(centroids.len(), num_threads, |place| {
            let near = centroids.nearest(centroids.get(place), NUM_NEAR);
            let rows = centroids.some(&near);
            (near, rows)
        });
        Self(near)
    }

    /// Returns which of the centroids near to `before` is closest to a vector.
    fn closest(&self, before: usize, vector: &[f32]) -> usize {
        let (near, rows) = &self.0[before];
        near[rows.closest(vector)]
    }
}

/// Returns the mean of each cluster's vectors, in the order of vectors. One without any keeps its centroid.
fn means(sample: &Rows, clusters: &[usize], before: &Rows) -> Rows {
    let num_dims = sample.num_dims();
    let mut sums = vec![0f64; before.len() * num_dims];
    let mut counts = vec![0u32; before.len()];
    for (place, cluster) in clusters.iter().enumerate() {
        counts[*cluster] += 1;
        let sums = &mut sums[cluster * num_dims..][..num_dims];
        for (sum, number) in sums.iter_mut().zip(sample.get(place)) {
            *sum += f64::from(*number);
        }
    }
    let mut means = Rows::new(num_dims);
    for (cluster, count) in counts.iter().enumerate() {
        let sums = &sums[cluster * num_dims..][..num_dims];
        match count {
            0 => means.push(before.get(cluster)),
            _ => {
                let mean = sums.iter().map(|sum| (sum / f64::from(*count)) as f32);
                means.push(&mean.collect::<Vec<f32>>());
            }
        }
    }
    means
}
