//! Four words for targets without vectors, and the reference for tests.

use super::Lanes;

/// Four words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four([u32; 4]);

impl Four {
    fn each(self, other: Self, both: impl Fn(u32, u32) -> u32) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Self([both(a, e), both(b, f), both(c, g), both(d, h)])
    }
}

impl Lanes<4> for Four {
    fn splat(word: u32) -> Self {
        Self([word; 4])
    }

    fn read(bytes: &[u8]) -> Self {
        let mut words = [0; 4];
        if let Some(bytes) = bytes.get(..16) {
            for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
        Self(words)
    }

    fn from_words(words: [u32; 4]) -> Self {
        Self(words)
    }

    fn into_words(self) -> [u32; 4] {
        self.0
    }

    fn shl(self, bits: u32) -> Self {
        Self(self.0.map(|word| word.wrapping_shl(bits)))
    }

    fn shr(self, bits: u32) -> Self {
        Self(self.0.map(|word| word.wrapping_shr(bits)))
    }

    fn and(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }

    fn or(self, other: Self) -> Self {
        self.each(other, |a, b| a | b)
    }

    fn wrapping_add(self, other: Self) -> Self {
        self.each(other, u32::wrapping_add)
    }

    fn running_sum(self, before: Self) -> Self {
        let [.., mut sum] = before.0;
        Self(self.0.map(|word| {
            sum = sum.wrapping_add(word);
            sum
        }))
    }
}
