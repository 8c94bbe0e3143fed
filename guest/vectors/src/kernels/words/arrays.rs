//! Eight words for targets without vectors, and the reference for tests.

use super::Words;

/// Eight words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eight([u16; 8]);

impl Words for Eight {
    type Sums = [i32; 4];

    fn splat(word: u16) -> Self {
        Self([word; 8])
    }

    fn read(bytes: [u8; 16]) -> Self {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u16::from_le_bytes(*bytes);
        }
        Self(words)
    }

    fn numbers(numbers: [i16; 8]) -> Self {
        Self(numbers.map(i16::cast_unsigned))
    }

    fn and(self, other: Self) -> Self {
        let mut words = self.0;
        for (word, other) in words.iter_mut().zip(other.0) {
            *word &= other;
        }
        Self(words)
    }

    fn shr<const BITS: u16>(self) -> Self {
        Self(self.0.map(|word| word.wrapping_shr(BITS.into())))
    }

    fn no_sums() -> [i32; 4] {
        [0; 4]
    }

    fn multiply_add(self, other: Self, mut sums: [i32; 4]) -> [i32; 4] {
        let pairs = self
            .0
            .as_chunks::<2>()
            .0
            .iter()
            .zip(other.0.as_chunks::<2>().0);
        for (sum, (one, other)) in sums.iter_mut().zip(pairs) {
            for (one, other) in one.iter().zip(other) {
                let product = i32::from(one.cast_signed()) * i32::from(other.cast_signed());
                *sum = sum.wrapping_add(product);
            }
        }
        sums
    }

    fn total(sums: [i32; 4]) -> i32 {
        sums.into_iter().fold(0, i32::wrapping_add)
    }
}
