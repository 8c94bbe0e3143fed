//! Where rows lie in the lanes of vectors, and what they are compared with there.

use super::super::low_bits;
use super::VECTOR_LEN;

/// What is done with 16 bytes, lane by lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lanes {
    /// Which byte goes to each place.
    pub(super) places: [u8; VECTOR_LEN],
    /// The bits of the row.
    pub(super) mask: [u8; VECTOR_LEN],
    pub(super) least: [u8; VECTOR_LEN],
    pub(super) span: [u8; VECTOR_LEN],
}

/// How the rows of one column are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// Bits of a row.
    pub(super) width: usize,
    /// Whether lanes have 16 bits, so that eight rows are a vector, and not 32.
    pub(super) is_narrow: bool,
    /// The byte in which the first row begins.
    pub(super) first_byte: usize,
    /// Rows 0, 8, … and those behind them, as many as a vector has lanes.
    pub(super) even: Lanes,
    /// In lanes of 32 bits: rows 4, 12, … and those behind them, which begin so many bytes behind those before.
    pub(super) odd: Lanes,
    pub(super) odd_byte: usize,
}

impl Rows {
    /// Rows from `skip` on, and a range that is within their width.
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

    /// Bytes that 64 rows are read from: their own, and what vectors read behind them.
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
