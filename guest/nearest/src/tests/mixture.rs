//! Made-up vectors: a mixture of clusters of very different sizes and spreads, with heavy tails, in fewer
//! dimensions than they have numbers, as embeddings are.

/// Generator of vectors.
pub(crate) struct Mixture {
    state: u64,
    dims: usize,
    centers: Vec<Center>,
}

struct Center {
    numbers: Vec<f32>,
    /// Spread of each dimension.
    spreads: Vec<f32>,
    /// Sum of the weights of this and all before it.
    weight: f64,
}

impl Mixture {
    /// Creates a generator of vectors around `num_centers` centers.
    pub(crate) fn new(seed: u64, dims: usize, num_centers: usize) -> Self {
        let mut mixture = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            dims,
            centers: Vec::new(),
        };
        let mut weight = 0.0;
        for rank in 1..=num_centers {
            // Zipf: the largest has a few per cent of all.
            weight += 1.0 / (rank as f64).powf(0.8);
            let numbers = (0..dims).map(|dim| mixture.normal() * falling(dim));
            let numbers = numbers.collect();
            let width = 0.3 + 0.5 * mixture.uniform() as f32;
            let spreads = (0..dims).map(|_| width * (0.3 + mixture.uniform() as f32));
            let spreads = spreads
                .enumerate()
                .map(|(dim, spread)| spread * falling(dim))
                .collect();
            mixture.centers.push(Center {
                numbers,
                spreads,
                weight,
            });
        }
        mixture
    }

    fn uniform(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f32 {
        let (one, other) = (self.uniform().max(1e-12), self.uniform());
        ((-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()) as f32
    }

    /// Returns the next vector.
    pub(crate) fn next(&mut self) -> Vec<f32> {
        let total = self.centers.last().map_or(0.0, |last| last.weight);
        let drawn = self.uniform() * total;
        let center = self.centers.partition_point(|center| center.weight < drawn);
        // Student's t with three degrees of freedom.
        let square: f32 = (0..3).map(|_| self.normal().powi(2)).sum();
        let tail = (3.0 / square.max(0.05)).sqrt();
        let normals: Vec<f32> = (0..self.dims).map(|_| self.normal()).collect();
        let center = &self.centers[center];
        let numbers = center.numbers.iter().zip(&center.spreads).zip(normals);
        numbers
            .map(|((center, spread), normal)| center + spread * tail * normal)
            .collect()
    }
}

/// Scale of a dimension: some tens of them have most of the variance.
fn falling(dim: usize) -> f32 {
    1.0 / (1.0 + dim as f32 / 12.0).powf(0.8)
}
