//! Vectors as clusters see them: prepared for their similarity, and rotated.

use canter_split_format::VectorShape;
use canter_vectors::Rotation;

/// The exact vectors of a field, each of which is rotated when it is asked for: all of them together would take
/// several times the memory.
pub(crate) struct Rotated<'a> {
    shape: &'a VectorShape,
    exact: &'a [u8],
    stored_len: usize,
    rotation: Rotation,
}

impl<'a> Rotated<'a> {
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

    /// Returns the number of dimensions of a rotated vector.
    pub(crate) fn num_dims(&self) -> usize {
        self.rotation.num_dims()
    }

    /// Returns the vector of a place.
    pub(crate) fn get(&self, place: usize) -> Vec<f32> {
        let from = place * self.stored_len;
        let stored = &self.exact[from..from + self.stored_len];
        // Bits beyond the last dimension of a vector of bits are none of its.
        let mut numbers = self.shape.element.numbers(stored);
        numbers.truncate(self.shape.dims());
        self.rotation
            .rotate(&self.shape.similarity.prepare(numbers))
    }
}
