//! Vectors of equal length in one piece, and which of them are close to another one.

use canter_vectors::{closest, distance, dot};

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

    pub(crate) fn num_dims(&self) -> usize {
        self.num_dims
    }

    pub(crate) fn get(&self, place: usize) -> &[f32] {
        let from = place * self.num_dims;
        &self.numbers[from..from + self.num_dims]
    }

    /// Returns the rows of these places.
    pub(crate) fn some(&self, places: &[usize]) -> Self {
        let mut some = Self::new(self.num_dims);
        for place in places {
            some.push(self.get(*place));
        }
        some
    }

    /// Returns the row that is closest to a vector; 0 if there is none.
    pub(crate) fn closest(&self, vector: &[f32]) -> usize {
        closest(vector, &self.numbers, &self.half_squares).unwrap_or(0)
    }

    /// Returns up to `num` rows, nearest to a vector first.
    pub(crate) fn nearest(&self, vector: &[f32], num: usize) -> Vec<usize> {
        let distances: Vec<f32> = (0..self.len())
            .map(|place| distance(self.get(place), vector))
            .collect();
        let mut near: Vec<usize> = (0..self.len()).collect();
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
}
