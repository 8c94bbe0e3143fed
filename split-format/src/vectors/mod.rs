//! The vectors of a split: an inverted file of clusters, made for reads of ranges.
//!
//! ```text
//!   vecindex   of each field: what its vectors are │ vectors of each cluster │ spreads │ centroids      in the head
//!   vectors    of each field: clusters │ places │ exact vectors                                         in the body
//!
//!              a cluster: codes │ corrections │ document ids
//! ```
//!
//! A query finds the clusters whose centroids are closest (the head), reads them, each as one range,
//! and estimates how close their vectors are. It then reads the exact vectors of the best, which stand in the
//! order of clusters, so that those of one query are near to each other. How many
//! bytes anything has follows from the index alone, so that every range is known before the bytes
//! are there. Each cluster, block of places and exact vector begins with a checksum of its own: a reader
//! need not read whole blocks of the body.
//!
//! What a code means stands in `canter-vectors`; here are lengths, order and bounds.

mod centroids;
mod cluster;
mod field;
mod index;
mod places;
mod shape;
mod writer;

pub use cluster::VectorCluster;
pub use field::VectorField;
pub use index::VectorIndex;
pub use shape::VectorShape;
pub use writer::{VectorClusterParts, VectorFieldParts, WrittenVectors, write_vectors};

use crate::codec::bits::{BitWriter, bits_at};
use crate::documents::BlockCheck;
use crate::version::{VECTORS_NAME, checksum64};

#[cfg(test)]
mod tests;

/// Stands before each piece of the file until its checksum does.
const NO_CHECKSUM: [u8; 4] = [0; 4];

/// Length of the checksum before each piece.
const CHECKSUM_LEN: u64 = NO_CHECKSUM.len() as u64;

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

fn packed(numbers: &[u32], width: u32) -> Vec<u8> {
    let mut bits = BitWriter::default();
    for number in numbers {
        bits.push(u64::from(*number), width);
    }
    bits.into_bytes()
}

/// Returns `num` numbers; `None` if one is not less than `end`.
fn unpacked(bytes: &[u8], num: u32, end: u32) -> Option<Vec<u32>> {
    let width = width_of_places(end);
    let numbers = (0..u64::from(num)).map(|place| {
        let number = u32::try_from(bits_at(bytes, place, width)?).ok();
        number.filter(|number| *number < end)
    });
    numbers.collect()
}

/// Returns how a piece of the file is checked: one that was moved is damaged, too.
fn check_at(start: u64) -> BlockCheck {
    BlockCheck::new(checksum64(VECTORS_NAME.as_bytes()).wrapping_add(start))
}

/// Returns what follows the checksum of a piece.
fn content(piece: &[u8]) -> &[u8] {
    check_at(0).skip(piece)
}

/// Appends a piece: its checksum, and what `write` appends.
fn write_piece(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&NO_CHECKSUM);
    write(out);
    if let Some(piece) = out.get_mut(start..) {
        check_at(start as u64).seal(piece);
    }
}
