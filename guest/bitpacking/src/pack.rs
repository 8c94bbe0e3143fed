//! Packing of numbers, as [`unpack`](crate::unpack) reads them.

use crate::unpack::ROUNDS;

/// Packs a block of numbers with at most `width` bits, as far as `packed` has room.
#[inline(always)]
pub(crate) fn pack<const L: usize>(numbers: &[[u32; L]; ROUNDS], width: u8, packed: &mut [u8]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                $($width => pack_width::<$width, L>(numbers, packed),)*
                _ => {}
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

#[inline(never)]
fn pack_width<const W: usize, const L: usize>(numbers: &[[u32; L]; ROUNDS], packed: &mut [u8]) {
    let mut words = [[0u32; L]; W];
    macro_rules! rounds {
        ($($round:literal)*) => {
            $(add::<W, L>(&mut words, numbers, $round);)*
        };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    let bytes = packed.as_chunks_mut().0;
    for (bytes, word) in bytes.iter_mut().zip(words.as_flattened()) {
        *bytes = word.to_le_bytes();
    }
}

/// Adds the numbers of a constant round to the one or two words that contain them.
#[inline(always)]
fn add<const W: usize, const L: usize>(
    words: &mut [[u32; L]; W],
    numbers: &[[u32; L]; ROUNDS],
    round: usize,
) {
    let Some(numbers) = numbers.get(round) else {
        return;
    };
    let (word, shift) = (round * W / 32, round * W % 32);
    if let Some(words) = words.get_mut(word) {
        for (word, number) in words.iter_mut().zip(numbers) {
            *word |= number << shift;
        }
    }
    if shift + W > 32
        && let Some(words) = words.get_mut(word + 1)
    {
        for (word, number) in words.iter_mut().zip(numbers) {
            *word |= number >> (32 - shift);
        }
    }
}
