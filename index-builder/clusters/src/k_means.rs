//! Lloyd's algorithm on a sample.

use canter_vectors::{closest, dot};

use crate::parallel;
use crate::random::Random;

/// Number of rounds; a sample changes little after some.
const NUM_ROUNDS: usize = 10;

/// Vectors of equal length, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    numbers: Vec<f32>,
    num_dims: usize,
    /// Half of the inner product of each row with itself.
    half_squares: Vec<f32>,
}

impl Rows {
    pub(crate) fn new(num_dims: usize) -> Self {
        Self {
            numbers: Vec::new(),
            num_dims,
            half_squares: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: &[f32]) {
        self.numbers.extend_from_slice(row);
        self.half_squares.push(dot(row, row) / 2.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.half_squares.len()
    }

    pub(crate) fn get(&self, place: usize) -> &[f32] {
        let from = place * self.num_dims;
        &self.numbers[from..from + self.num_dims]
    }

    /// Returns the row that is closest to a vector; 0 if there is none.
    pub(crate) fn closest(&self, vector: &[f32]) -> usize {
        closest(vector, &self.numbers, &self.half_squares).unwrap_or(0)
    }
}

/// Returns `num` centroids of a sample, or fewer if there are not that many vectors.
pub(crate) fn centroids(
    sample: &Rows,
    num: usize,
    random: &mut Random,
    num_threads: usize,
) -> Rows {
    let mut centroids = Rows::new(sample.num_dims);
    for place in random.distinct(num, sample.len()) {
        centroids.push(sample.get(place));
    }
    if centroids.len() < 2 {
        return means(sample, &vec![0; sample.len()], &centroids);
    }
    let mut before = Vec::new();
    for _ in 0..NUM_ROUNDS {
        let closest = |place| centroids.closest(sample.get(place));
        let clusters = parallel::map(sample.len(), num_threads, closest);
        if clusters == before {
            break;
        }
        centroids = means(sample, &clusters, &centroids);
        before = clusters;
    }
    centroids
}

/// Returns the mean of each cluster's vectors, in the order of vectors. One without any keeps its centroid.
fn means(sample: &Rows, clusters: &[usize], before: &Rows) -> Rows {
    let num_dims = sample.num_dims;
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
