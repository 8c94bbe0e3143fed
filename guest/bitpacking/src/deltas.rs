//! Conversion between numbers and their differences.

use crate::lanes::Lanes;
use crate::unpack::ROUNDS;

/// Returns the differences to pack for a sorted block: each number minus the one before it, and
/// minus `step`. `before` precedes the first number.
pub(crate) fn differences<const L: usize>(
    numbers: &[[u32; L]; ROUNDS],
    before: u32,
    step: u32,
) -> [[u32; L]; ROUNDS] {
    let mut differences = *numbers;
    let mut last = before;
    for difference in differences.as_flattened_mut() {
        let number = *difference;
        *difference = number.wrapping_sub(last).wrapping_sub(step);
        last = number;
    }
    differences
}

/// Converts the result of [`differences`] back to numbers.
///
/// The rounds are unrolled: in a loop, WebAssembly would check for interruption in each round, and
/// keep the sums in memory for that.
#[inline(never)]
pub(crate) fn add_up<const L: usize, V: Lanes<L>>(
    block: &mut [[u32; L]; ROUNDS],
    before: u32,
    step: u32,
) {
    let mut sums = V::splat(before);
    let step = V::splat(step);
    macro_rules! rounds {
        ($($round:literal)*) => {
            $(
                if let Some(words) = block.get_mut($round) {
                    sums = V::from_words(*words).wrapping_add(step).running_sum(sums);
                    *words = sums.into_words();
                }
            )*
        };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}

/// Returns the width in bits of the largest number.
pub(crate) fn width<const L: usize>(numbers: &[[u32; L]; ROUNDS]) -> u8 {
    let all = numbers.as_flattened();
    let all = all.iter().fold(0, |all, number| all | number);
    u8::try_from(u32::BITS - all.leading_zeros()).unwrap_or(32)
}
