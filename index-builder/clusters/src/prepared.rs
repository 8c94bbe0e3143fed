//! Vectors as clusters see them: prepared for their similarity.
//!
//! Distances are those of rotated vectors, so that only what is written is rotated: codes and centroids.

use canter_split_format::VectorShape;
use canter_vectors::Rotation;

/// The exact vectors of a field, each of which is prepared when it is asked for: all of them together would take
/// several times the memory.
pub(crate) struct Prepared<'a> {
    shape: &'a VectorShape,
    exact: &'a [u8],
    stored_len: usize,
    rotation: Rotation,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(shape: &'a VectorShape, exact: &'a [u8]) -> Self {
        let dims = shape.dims();
        Self {
            shape,
            exact,
            stored_len: shape.element.stored_len(dims).max(1),
            rotation: Rotation::new(shape.seed, dims),
        }
    }

    /// Returns the number of vectors.
    pub(crate) fn len(&self) -> usize {
        self.exact.len() / self.stored_len
    }

    /// Returns the number of dimensions.
    pub(crate) fn num_dims(&self) -> usize {
        self.shape.dims()
    }

    /// Returns the vector of a rank.
    pub(crate) fn get(&self, rank: usize) -> Vec<f32> {
        let from = rank * self.stored_len;
        let stored = &self.exact[from..from + self.stored_len];
        // Bits beyond the last dimension of a vector of bits are none of its.
        let mut numbers = self.shape.element.numbers(stored);
        numbers.truncate(self.shape.dims());
        self.shape.similarity.prepare(numbers)
    }

    /// Returns the vector that a rotated one is of.
    pub(crate) fn rotated_back(&self, rotated: &[f32]) -> Vec<f32> {
        let mut numbers = self.rotation.rotate_back(rotated);
        numbers.truncate(self.num_dims());
        numbers
    }

    /// Returns how vectors are rotated.
    pub(crate) fn rotation(&self) -> &Rotation {
        &self.rotation
    }
}
