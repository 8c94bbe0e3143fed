//! Statistics of texts: their number, lengths and characters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of texts, their lengths in characters, and the count of each character.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StringStats {
    count: u64,
    /// Lengths of the shortest and the longest text.
    lengths: Option<(u64, u64)>,
    characters: BTreeMap<char, u64>,
}

impl StringStats {
    /// Adds a text that occurs `count` times.
    pub(crate) fn add(&mut self, text: &str, count: u64) {
        if count == 0 {
            return;
        }
        let mut length = 0;
        for character in text.chars() {
            length += 1;
            let found = self.characters.entry(character).or_default();
            *found = found.saturating_add(count);
        }
        self.count = self.count.saturating_add(count);
        self.widen(Some((length, length)));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.widen(other.lengths);
        for (character, count) in &other.characters {
            let found = self.characters.entry(*character).or_default();
            *found = found.saturating_add(*count);
        }
    }

    fn widen(&mut self, lengths: Option<(u64, u64)>) {
        self.lengths = match (self.lengths, lengths) {
            (Some((least, most)), Some((other_least, other_most))) => {
                Some((least.min(other_least), most.max(other_most)))
            }
            (mine, theirs) => mine.or(theirs),
        };
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the lengths of the shortest and the longest text.
    pub(crate) fn lengths(&self) -> Option<(u64, u64)> {
        self.lengths
    }

    pub(crate) fn avg_length(&self) -> Option<f64> {
        (self.count > 0).then(|| self.num_characters() as f64 / self.count as f64)
    }

    fn num_characters(&self) -> u64 {
        let counts = self.characters.values();
        counts.fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the Shannon entropy of the characters in bits; 0 without characters. Terms are added
    /// in the order of characters, so that the result is the same to the last digit for any
    /// division.
    pub(crate) fn entropy(&self) -> f64 {
        let shares = self.distribution();
        shares.fold(0.0, |sum, (_, share)| sum - share * libm::log2(share))
    }

    /// Returns the share of each character, in the order of characters.
    pub(crate) fn distribution(&self) -> impl Iterator<Item = (char, f64)> {
        let total = self.num_characters() as f64;
        let counts = self.characters.iter();
        counts.map(move |(character, count)| (*character, *count as f64 / total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[(&str, u64)]) -> StringStats {
        let mut stats = StringStats::default();
        for (text, count) in texts {
            stats.add(text, *count);
        }
        stats
    }

    #[test]
    fn a_repeated_text_is_as_many_texts() {
        assert_eq!(of(&[("ab", 3)]), of(&[("ab", 1), ("ab", 2)]));
        let mut merged = of(&[("ab", 1)]);
        merged.merge(&of(&[("ab", 2)]));
        assert_eq!(merged, of(&[("ab", 3)]));
        merged.merge(&StringStats::default());
        assert_eq!(merged, of(&[("ab", 3)]));
    }

    #[test]
    fn lengths_count_characters_and_an_empty_text_is_one() {
        let stats = of(&[("", 1), ("straße", 2)]);
        assert_eq!(stats.lengths(), Some((0, 6)));
        assert_eq!((stats.count(), stats.avg_length()), (3, Some(4.0)));
        assert_eq!(StringStats::default().avg_length(), None);
    }

    #[test]
    fn the_entropy_is_in_bits() {
        for (texts, expected) in [
            (&[][..], 0.0),
            (&[("aaaa", 7)], 0.0),
            (&[("ab", 1)], 1.0),
            (&[("ab", 1), ("cd", 1)], 2.0),
            (&[("aab", 1), ("c", 1)], 1.5),
        ] {
            assert_eq!(of(texts).entropy(), expected, "{texts:?}");
        }
    }
}
