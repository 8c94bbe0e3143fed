//! The vectors of a split: an inverted file of clusters, made for reads of ranges.
//!
//! ```text
//!   vecindex   of each field: what its vectors are │ vectors of each cluster │ centroids      in the head
//!   vectors    of each field: clusters │ which documents have a vector │ exact vectors        in the body
//!
//!              a cluster: codes │ corrections │ document ids │ places among the exact vectors
//! ```
//!
//! A query finds the clusters whose centroids are closest (the head), reads them, each as one range,
//! and estimates how close their vectors are. It then reads the exact vectors of the best. How many
//! bytes anything has follows from the index alone, so that every range is known before the bytes
//! are there.
//!
//! What a code means stands in `canter-vectors`; here are lengths, order and bounds.

mod centroids;
mod cluster;
mod field;
mod index;
mod presence;
mod writer;

pub use cluster::VectorCluster;
pub use field::{VectorField, VectorShape};
pub use index::VectorIndex;
pub use writer::{VectorClusterParts, VectorFieldParts, WrittenVectors, write_vectors};

#[cfg(test)]
mod tests;

/// Length of the two corrections of a code.
const CORRECTIONS_LEN: u64 = 8;

/// Maximum number of dimensions.
const MAX_DIMS: u32 = 4_096;

/// Maximum number of clusters of a field.
const MAX_CLUSTERS: usize = 65_536;

/// Returns the number of bits of the largest of `num` places, counted from 0.
fn width_of_places(num: u32) -> u32 {
    u32::BITS - num.saturating_sub(1).leading_zeros()
}

/// Returns the number of bytes of `num` numbers of `width` bits, of which a split has fewer than 2^64.
fn packed_len(num: u32, width: u32) -> u64 {
    (u64::from(num) * u64::from(width)).div_ceil(8)
}
