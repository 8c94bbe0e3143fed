//! Positions of rows in the lanes of vectors, and the bounds that they are compared with.

use super::super::low_bits;
use super::VECTOR_LEN;

/// Constants for processing 16 bytes, lane by lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lanes {
    /// Source byte of each position.
    pub(super) places: [u8; VECTOR_LEN],
    /// Bits of the row.
    pub(super) mask: [u8; VECTOR_LEN],
    pub(super) least: [u8; VECTOR_LEN],
    pub(super) span: [u8; VECTOR_LEN],
}

/// Constants for comparing the rows of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// Width of a row in bits.
    pub(super) width: usize,
    /// True if lanes have 16 bits, so that a vector contains eight rows, rather than 32 bits.
    pub(super) is_narrow: bool,
    /// Offset of the byte in which the first row begins.
    pub(super) first_byte: usize,
    /// Rows 0, 8, … and those after them, as many as a vector has lanes.
    pub(super) even: Lanes,
    /// With 32-bit lanes: rows 4, 12, … and those after them, which begin `odd_byte` bytes after
    /// the even ones.
    pub(super) odd: Lanes,
    pub(super) odd_byte: usize,
}

impl Rows {
    /// Creates the constants for rows from `skip`, and a range within their width.
    pub(super) fn new(width: u8, skip: u32, range: [u32; 2], lane_len: usize) -> Self {
        let width = usize::from(width);
        let first_bit = usize::try_from(skip)
            .unwrap_or_default()
            .saturating_mul(width);
        let even_bit = first_bit % 8;
        let odd_bit = even_bit.saturating_add(width.saturating_mul(4));
        Self {
            width,
            is_narrow: lane_len == 2,
            first_byte: first_bit / 8,
            even: Lanes::new(width, even_bit, range, lane_len),
            odd: Lanes::new(width, odd_bit % 8, range, lane_len),
            odd_byte: odd_bit / 8,
        }
    }

    /// Returns the number of bytes read for 64 rows: their own, and those that vectors read past
    /// them.
    pub(super) fn num_bytes_read(&self) -> usize {
        self.width.saturating_mul(8).saturating_add(VECTOR_LEN)
    }
}

impl Lanes {
    fn new(width: usize, first_bit: usize, [least, span]: [u32; 2], lane_len: usize) -> Self {
        let mask = low_bits(u32::try_from(width).unwrap_or(0));
        let mut lanes = Self::default();
        let all = lanes
            .places
            .chunks_mut(lane_len)
            .zip(lanes.mask.chunks_mut(lane_len))
            .zip(lanes.least.chunks_mut(lane_len))
            .zip(lanes.span.chunks_mut(lane_len));
        let mut bit = first_bit;
        for (((places, of_mask), of_least), of_span) in all {
            let byte = u8::try_from(bit / 8).unwrap_or(u8::MAX);
            for (place, ord) in places.iter_mut().zip(0u8..) {
                *place = byte.saturating_add(ord);
            }
            let moved = |number: u64, to: &mut [u8]| {
                for (to, from) in to.iter_mut().zip((number << (bit % 8)).to_le_bytes()) {
                    *to = from;
                }
            };
            moved(mask, of_mask);
            moved(least.into(), of_least);
            moved(span.into(), of_span);
            bit = bit.saturating_add(width);
        }
        lanes
    }
}
