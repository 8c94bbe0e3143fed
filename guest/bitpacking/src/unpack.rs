//! Unpacking of numbers.
//!
//! Each width has a function of its own with 32 unrolled rounds, so that shifts, masks and offsets
//! are constants. A round is at most one load, two shifts, an `or`, an `and` and a store, each for
//! all lanes together.

use crate::lanes::Lanes;

/// Number of numbers of a lane in a block.
pub(crate) const ROUNDS: usize = 32;

/// Unpacks a block of `width` bits with lanes `V`. Returns `false` without any effect if there are
/// too few bytes or the width is too large.
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

/// Returns the numbers of a constant round.
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

/// Returns the words at one position in all lanes; the caller has checked the length.
#[inline(always)]
fn words<const L: usize, V: Lanes<L>>(packed: &[u8], place: usize) -> V {
    V::read(packed.get(place * 4 * L..).unwrap_or_default())
}
