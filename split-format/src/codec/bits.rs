//! Sequences of numbers with a fixed width in bits, lowest bit first.

/// Writer of numbers.
#[derive(Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, and their number.
    pending: u128,
    num_pending: u32,
}

impl BitWriter {
    /// Appends the lowest `width` bits of `value`, at most 64; the other bits must be 0.
    pub(crate) fn push(&mut self, value: u64, width: u32) {
        self.pending |= u128::from(value) << self.num_pending;
        self.num_pending += width;
        while self.num_pending >= 8 {
            self.take_byte();
            self.num_pending -= 8;
        }
    }

    fn take_byte(&mut self) {
        let [low, ..] = self.pending.to_le_bytes();
        self.bytes.push(low);
        self.pending >>= 8;
    }

    /// Returns the bytes, the last one padded with zeros.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        if self.num_pending > 0 {
            self.take_byte();
        }
        self.bytes
    }
}

/// Returns the number of bytes for `num` numbers, or `None` if it exceeds the address space.
pub(crate) fn num_bytes_of(num: u64, width: u32) -> Option<usize> {
    let bits = num.checked_mul(u64::from(width))?;
    usize::try_from(bits.div_ceil(8)).ok()
}

/// Returns the number at an index, or `None` if the bytes end before its end.
pub(crate) fn bits_at(bytes: &[u8], place: u64, width: u32) -> Option<u64> {
    bits_from(bytes, place.checked_mul(u64::from(width))?, width)
}

/// Returns the number of `width` bits, at most 64, that begins at a bit, or `None` if the bytes end before
/// its end.
pub(crate) fn bits_from(bytes: &[u8], bit: u64, width: u32) -> Option<u64> {
    if width == 0 {
        return Some(0);
    }
    let from = usize::try_from(bit / 8).ok()?;
    let shift = u32::try_from(bit % 8).ok()?;
    let next: Option<&[u8; 8]> = bytes.get(from..).and_then(<[u8]>::first_chunk);
    if let Some(next) = next
        && shift + width <= u64::BITS
    {
        let mask = u64::MAX >> (u64::BITS - width);
        return Some(u64::from_le_bytes(*next) >> shift & mask);
    }
    let len = usize::try_from((shift + width).div_ceil(8)).ok()?;
    let bytes = bytes.get(from..from.checked_add(len)?)?;
    let wide = bytes
        .iter()
        .rev()
        .fold(0_u128, |wide, byte| wide << 8 | u128::from(*byte));
    let mask = u128::MAX >> (u128::BITS - width);
    u64::try_from(wide >> shift & mask).ok()
}
