//! Packed numbers → numbers.
//!
//! One function for each width, with each of its 32 rounds written out: then shifts, masks and places are constants,
//! and a round is one load at most, two shifts, an `or`, an `and` and a store, each of all lanes at once.

use crate::lanes::Lanes;

/// Numbers of a lane in a block.
pub(crate) const ROUNDS: usize = 32;

/// Unpacks a block of `width` bits by way of `V`. `false`, and nothing done, if there are too few bytes, or if numbers
/// are not so wide.
#[inline(always)]
pub(crate) fn unpack<const L: usize, V: Lanes<L>>(
    packed: &[u8],
    width: u8,
    out: &mut [[u32; L]; ROUNDS],
) -> bool {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => {
                    *out = [[0; L]; ROUNDS];
                    true
                }
                $($width => unpack_width::<$width, L, V>(packed, out),)*
                _ => false,
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
}

#[inline(never)]
fn unpack_width<const W: usize, const L: usize, V: Lanes<L>>(
    packed: &[u8],
    out: &mut [[u32; L]; ROUNDS],
) -> bool {
    let Some(packed) = packed.get(..W * 4 * L) else {
        return false;
    };
    macro_rules! rounds {
        ($($round:literal)*) => {
            $(
                if let Some(out) = out.get_mut($round) {
                    *out = round::<W, L, V>(packed, $round).into_words();
                }
            )*
        };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    true
}

/// The numbers of one round, which is a constant.
#[inline(always)]
fn round<const W: usize, const L: usize, V: Lanes<L>>(packed: &[u8], round: usize) -> V {
    let (word, shift) = (round * W / 32, round * W % 32);
    let bits = |bits: usize| u32::try_from(bits).unwrap_or(0);
    let numbers = words::<L, V>(packed, word).shr(bits(shift));
    let end = shift + W;
    let numbers = match end > 32 {
        true => numbers.or(words::<L, V>(packed, word + 1).shl(bits(32 - shift))),
        false => numbers,
    };
    match end == 32 {
        true => numbers,
        false => numbers.and(V::splat(u32::MAX >> (32 - W))),
    }
}

/// The words of one place in all lanes, which the caller has looked for.
#[inline(always)]
fn words<const L: usize, V: Lanes<L>>(packed: &[u8], place: usize) -> V {
    V::read(packed.get(place * 4 * L..).unwrap_or_default())
}
