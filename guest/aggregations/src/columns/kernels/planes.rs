//! Counts of codes of 1 to 4 bits, without unpacking.
//!
//! 64 rows of `w` bits are `w` words. They are rearranged into `w` planes of 64 bits: plane `p` has
//! bit `p` of every row, with the rows in the same arbitrary order in all planes. The number of
//! rows that have at least the bits of a code is then the number of ones in the conjunction of its
//! planes; from these numbers follow those of the rows with exactly these bits.

use super::{load, low_bits};

/// Maximum width of codes that are counted in this way.
pub(crate) const MAX_PLANES: u8 = 4;

/// One number for each code of [`MAX_PLANES`] bits.
pub(crate) type CodeCounts = [u64; 16];

/// Counts each code of `width` bits, 1 to [`MAX_PLANES`], in `num_rows` rows from the first bit of
/// `data`. Rows past the end of `data` count as zeros.
#[inline]
pub(crate) fn count_planes(data: &[u8], width: u8, num_rows: u32) -> CodeCounts {
    super::wide::count_planes(data, width, num_rows)
}

/// Counts like [`count_planes`], but from row `first` of `data`: rows before the next whole byte
/// are counted one by one.
#[inline]
pub(crate) fn count_narrow(data: &[u8], width: u8, first: u32, num_rows: u32) -> CodeCounts {
    let head = (first.wrapping_neg() % 8).min(num_rows);
    let at = first.saturating_add(head);
    let from = u64::from(at / 8).saturating_mul(u64::from(width));
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let rest = data.get(from..).unwrap_or_default();
    let mut counts = match num_rows.saturating_sub(head) {
        0 => CodeCounts::default(),
        num_rows => count_planes(rest, width, num_rows),
    };
    if head > 0 {
        // Seven rows of four bits fit into the loaded word.
        let mut codes = load(data, u64::from(first).wrapping_mul(u64::from(width)));
        let mask = low_bits(u32::from(width.min(MAX_PLANES)));
        for _ in 0..head {
            let place = usize::try_from(codes & mask).unwrap_or(usize::MAX);
            if let Some(count) = counts.get_mut(place) {
                *count = count.saturating_add(1);
            }
            codes >>= width.min(MAX_PLANES);
        }
    }
    counts
}

/// Implements [`count_planes`]; inlined into callers with other target features.
#[inline(always)]
pub(super) fn count_planes_here(data: &[u8], width: u8, num_rows: u32) -> CodeCounts {
    match width {
        1 => count::<1, 2, 8>(data, num_rows, add_1),
        2 => count::<2, 4, 16>(data, num_rows, add_2),
        3 => count::<3, 8, 24>(data, num_rows, add_3),
        4 => count::<4, 16, 32>(data, num_rows, add_4),
        _ => [0; 16],
    }
}

/// Counts codes of `W` bits, of which there are `CODES` = 2^W; 64 rows are `BYTES` = 8 W bytes.
#[inline(always)]
fn count<const W: usize, const CODES: usize, const BYTES: usize>(
    data: &[u8],
    num_rows: u32,
    add: impl Fn(&mut [u64; CODES], [u64; W]),
) -> CodeCounts {
    let rows = usize::try_from(num_rows).unwrap_or(usize::MAX);
    let blocks = data.as_chunks::<BYTES>().0;
    let whole = blocks.get(..rows / 64).unwrap_or(blocks);
    let mut having = [0u64; CODES];
    for block in whole {
        add(&mut having, words(block));
    }
    let rest = rows.saturating_sub(whole.len().saturating_mul(64)).min(64);
    if rest > 0 {
        let after = data.get(whole.as_flattened().len()..).unwrap_or_default();
        add(&mut having, first_bits::<W, BYTES>(after, rest * W));
    }
    // Code 0 requires no bits, so every row counts.
    if let Some(all) = having.first_mut() {
        *all = u64::from(num_rows);
    }
    only(having)
}

#[inline(always)]
fn ones(word: u64) -> u64 {
    u64::from(word.count_ones())
}

/// Adds, for each code but 0, the number of the 64 rows that have all its bits. These functions are
/// unrolled by hand, because not every compiler unrolls and inlines loops over them.
#[inline(always)]
fn add_1([_, n1]: &mut [u64; 2], [a]: [u64; 1]) {
    *n1 = n1.wrapping_add(ones(a));
}

#[inline(always)]
fn add_2([_, n1, n2, n3]: &mut [u64; 4], words: [u64; 2]) {
    let [a, b] = planes_2(words);
    *n1 = n1.wrapping_add(ones(a));
    *n2 = n2.wrapping_add(ones(b));
    *n3 = n3.wrapping_add(ones(a & b));
}

#[inline(always)]
fn add_3([_, n1, n2, n3, n4, n5, n6, n7]: &mut [u64; 8], words: [u64; 3]) {
    let [a, b, c] = planes_3(words);
    let ab = a & b;
    *n1 = n1.wrapping_add(ones(a));
    *n2 = n2.wrapping_add(ones(b));
    *n3 = n3.wrapping_add(ones(ab));
    *n4 = n4.wrapping_add(ones(c));
    *n5 = n5.wrapping_add(ones(c & a));
    *n6 = n6.wrapping_add(ones(c & b));
    *n7 = n7.wrapping_add(ones(c & ab));
}

#[inline(always)]
fn add_4(
    [
        _,
        n1,
        n2,
        n3,
        n4,
        n5,
        n6,
        n7,
        n8,
        n9,
        n10,
        n11,
        n12,
        n13,
        n14,
        n15,
    ]: &mut [u64; 16],
    words: [u64; 4],
) {
    let [a, b, c, d] = planes_4(words);
    let (ab, ca, cb) = (a & b, c & a, c & b);
    let cab = c & ab;
    *n1 = n1.wrapping_add(ones(a));
    *n2 = n2.wrapping_add(ones(b));
    *n3 = n3.wrapping_add(ones(ab));
    *n4 = n4.wrapping_add(ones(c));
    *n5 = n5.wrapping_add(ones(ca));
    *n6 = n6.wrapping_add(ones(cb));
    *n7 = n7.wrapping_add(ones(cab));
    *n8 = n8.wrapping_add(ones(d));
    *n9 = n9.wrapping_add(ones(d & a));
    *n10 = n10.wrapping_add(ones(d & b));
    *n11 = n11.wrapping_add(ones(d & ab));
    *n12 = n12.wrapping_add(ones(d & c));
    *n13 = n13.wrapping_add(ones(d & ca));
    *n14 = n14.wrapping_add(ones(d & cb));
    *n15 = n15.wrapping_add(ones(d & cab));
}

/// Converts numbers of rows with at least the bits of a code to numbers of rows with exactly these
/// bits.
#[inline(always)]
fn only<const CODES: usize>(mut having: [u64; CODES]) -> CodeCounts {
    let mut bit = 1;
    while bit < CODES {
        for pair in having.chunks_exact_mut(2 * bit) {
            let (without, with) = pair.split_at_mut(bit);
            for (without, with) in without.iter_mut().zip(with) {
                *without = without.wrapping_sub(*with);
            }
        }
        bit *= 2;
    }
    let mut counts = [0; 16];
    for (count, having) in counts.iter_mut().zip(having) {
        *count = having;
    }
    counts
}

#[inline(always)]
fn words<const W: usize, const BYTES: usize>(block: &[u8; BYTES]) -> [u64; W] {
    // `BYTES` is 8 W, so the chunk exists.
    match block.as_chunks::<8>().0.first_chunk::<W>() {
        Some(words) => words.map(u64::from_le_bytes),
        None => [0; W],
    }
}

/// Returns the first `num_bits` of `data`, followed by zeros.
#[inline(always)]
fn first_bits<const W: usize, const BYTES: usize>(data: &[u8], num_bits: usize) -> [u64; W] {
    let mut words = match data.first_chunk::<BYTES>() {
        Some(block) => words(block),
        None => words(&padded::<BYTES>(data)),
    };
    let mut left = u32::try_from(num_bits).unwrap_or(u32::MAX);
    for word in &mut words {
        *word &= low_bits(left);
        left = left.saturating_sub(64);
    }
    words
}

/// Returns the end of a column, shorter than 64 rows, padded with zeros.
#[cold]
fn padded<const BYTES: usize>(data: &[u8]) -> [u8; BYTES] {
    let mut block = [0; BYTES];
    for (to, from) in block.iter_mut().zip(data) {
        *to = *from;
    }
    block
}

/// Arranges the rows of the first word at even positions, and those of the second at odd ones.
#[inline(always)]
fn planes_2([a, b]: [u64; 2]) -> [u64; 2] {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    [
        (a & EVEN) | ((b & EVEN) << 1),
        ((a >> 1) & EVEN) | (b & !EVEN),
    ]
}

/// Arranges rows of three bits. 64 is not a multiple of three, so the lowest bits of the rows of
/// the three words are at positions that differ modulo three, and all of them keep theirs. The
/// other planes follow in the same way after shifting the three words together.
#[inline(always)]
fn planes_3([a, b, c]: [u64; 3]) -> [u64; 3] {
    const PLACES_0: u64 = 0x9249_2492_4924_9249;
    const PLACES_1: u64 = PLACES_0 << 1;
    const PLACES_2: u64 = PLACES_0 << 2;
    let lowest = |a: u64, b: u64, c: u64| (a & PLACES_0) | (b & PLACES_2) | (c & PLACES_1);
    [
        lowest(a, b, c),
        lowest((a >> 1) | (b << 63), (b >> 1) | (c << 63), c >> 1),
        lowest((a >> 2) | (b << 62), (b >> 2) | (c << 62), c >> 2),
    ]
}

/// Arranges the rows of word `i` at the positions that are `i` modulo four.
#[inline(always)]
fn planes_4([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    const LOW: u64 = 0x5555_5555_5555_5555;
    const LOW_PAIR: u64 = 0x3333_3333_3333_3333;
    // Exchanges pairs of bits between two words, then single bits: two steps of a transposition.
    let pairs = |x: u64, y: u64| {
        let low = (x & LOW_PAIR) | ((y & LOW_PAIR) << 2);
        let high = ((x >> 2) & LOW_PAIR) | (y & !LOW_PAIR);
        [low, high]
    };
    let bits = |x: u64, y: u64| {
        let low = (x & LOW) | ((y & LOW) << 1);
        let high = ((x >> 1) & LOW) | (y & !LOW);
        [low, high]
    };
    let ([ac_low, ac_high], [bd_low, bd_high]) = (pairs(a, c), pairs(b, d));
    let ([first, second], [third, fourth]) = (bits(ac_low, bd_low), bits(ac_high, bd_high));
    [first, second, third, fourth]
}

#[cfg(test)]
mod tests;
