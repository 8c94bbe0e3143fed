//! How alike two vectors are, and the scores that Elasticsearch gives for it.

use crate::codes::Space;
use crate::element::{Element, Problem};
use crate::kernels::{distance, dot, dot_bytes, hamming, squared_distance_bytes};

/// How vectors of a field are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// The cosine of the angle between two vectors.
    Cosine,
    /// The inner product of vectors of length 1, or of vectors of bytes.
    DotProduct,
    /// The Euclidean distance; of bits, the number of those that differ.
    L2Norm,
    /// The inner product of any vectors.
    MaxInnerProduct,
}

impl Similarity {
    /// All similarities.
    pub const ALL: [Self; 4] = [
        Self::Cosine,
        Self::DotProduct,
        Self::L2Norm,
        Self::MaxInnerProduct,
    ];

    /// Returns the name that index configs use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::DotProduct => "dot_product",
            Self::L2Norm => "l2_norm",
            Self::MaxInnerProduct => "max_inner_product",
        }
    }

    /// Returns what codes estimate for this similarity.
    pub fn space(self) -> Space {
        match self {
            Self::L2Norm => Space::Distance,
            Self::Cosine | Self::DotProduct | Self::MaxInnerProduct => Space::Product,
        }
    }

    /// Prepares the numbers of a vector for clusters and codes: for the cosine, they get length 1.
    pub fn prepare(self, mut numbers: Vec<f32>) -> Vec<f32> {
        if self == Self::Cosine {
            let length = dot(&numbers, &numbers).sqrt();
            if length > 0.0 && length.is_finite() {
                for number in &mut numbers {
                    *number /= length;
                }
            }
        }
        numbers
    }

    /// Returns the score of a similarity, as Elasticsearch's formulas give it: larger for vectors that are
    /// more alike, and never negative.
    ///
    /// `alike` is the cosine, the inner product, the distance, or the number of bits that differ.
    pub fn score(self, alike: f32, element: Element, dims: usize) -> f32 {
        let dims = float_of(dims);
        let score = match (self, element) {
            (Self::L2Norm, Element::Bit) => (dims - alike) / dims,
            (Self::L2Norm, _) => 1.0 / (1.0 + alike * alike),
            (Self::DotProduct, Element::Byte) => 0.5 + alike / (dims * 32_768.0),
            (Self::Cosine | Self::DotProduct, _) => (1.0 + alike) / 2.0,
            (Self::MaxInnerProduct, _) if alike < 0.0 => 1.0 / (1.0 - alike),
            (Self::MaxInnerProduct, _) => alike + 1.0,
        };
        // Rounding can take the cosine of opposite vectors below -1.
        score.max(0.0)
    }
}

/// A query that is compared with stored vectors.
#[derive(Clone, Debug)]
pub struct ExactQuery {
    element: Element,
    similarity: Similarity,
    dims: usize,
    stored: Vec<u8>,
    numbers: Vec<f32>,
    /// Length of the query, which the cosine divides by.
    length: f32,
}

impl ExactQuery {
    /// Prepares the numbers of a query, given as those of a document are.
    ///
    /// # Errors
    /// The vector does not suit the field.
    pub fn new(
        numbers: &[f32],
        dims: usize,
        element: Element,
        similarity: Similarity,
    ) -> Result<Self, Problem> {
        let stored = element.store(numbers, dims, similarity)?;
        let numbers = element.numbers(&stored);
        Ok(Self {
            element,
            similarity,
            dims,
            length: dot(&numbers, &numbers).sqrt(),
            stored,
            numbers,
        })
    }

    /// Returns the query's numbers, prepared for clusters and codes.
    pub fn prepared(&self) -> Vec<f32> {
        self.similarity.prepare(self.numbers.clone())
    }

    /// Returns how alike the query and a stored vector are: the cosine, the inner product, the distance, or the
    /// number of bits that differ.
    pub fn alike(&self, stored: &[u8]) -> f32 {
        match self.element {
            Element::Float => {
                let numbers = self.element.numbers(stored);
                let length = match self.similarity {
                    Similarity::Cosine => dot(&numbers, &numbers).sqrt(),
                    _ => 1.0,
                };
                let square = || distance(&self.numbers, &numbers);
                self.finish(|| dot(&self.numbers, &numbers), square, length)
            }
            Element::Byte => {
                let length = match self.similarity {
                    Similarity::Cosine => float(dot_bytes(stored, stored)).sqrt(),
                    _ => 1.0,
                };
                let square = || float(squared_distance_bytes(&self.stored, stored));
                self.finish(|| float(dot_bytes(&self.stored, stored)), square, length)
            }
            Element::Bit => float(hamming(&self.stored, stored).cast_signed()),
        }
    }

    /// Returns the score of a stored vector, which is this much [`alike`](Self::alike).
    pub fn score(&self, alike: f32) -> f32 {
        let score = self.similarity.score(alike, self.element, self.dims);
        // Of vectors that no builder stores.
        if score.is_nan() { 0.0 } else { score }
    }

    /// Returns whether the query is for vectors of this kind.
    pub fn suits(&self, dims: usize, element: Element, similarity: Similarity) -> bool {
        (self.dims, self.element, self.similarity) == (dims, element, similarity)
    }

    /// Returns whether a vector that is this much [`alike`](Self::alike) is at least as similar as `least`: near enough
    /// for the L2 norm and for bits, and otherwise alike enough.
    pub fn is_as_similar(&self, alike: f32, least: f32) -> bool {
        match self.similarity {
            Similarity::L2Norm => alike <= least,
            Similarity::Cosine | Similarity::DotProduct | Similarity::MaxInnerProduct => {
                alike >= least
            }
        }
    }

    fn finish(
        &self,
        inner: impl FnOnce() -> f32,
        square: impl FnOnce() -> f32,
        length: f32,
    ) -> f32 {
        match self.similarity {
            Similarity::L2Norm => square().sqrt(),
            Similarity::Cosine => inner() / (self.length * length),
            Similarity::DotProduct | Similarity::MaxInnerProduct => inner(),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "scores are floating-point numbers of 32 bits"
)]
fn float(whole: i32) -> f32 {
    whole as f32
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of dimensions are small"
)]
fn float_of(num_dims: usize) -> f32 {
    num_dims as f32
}
