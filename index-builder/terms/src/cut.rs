//! Cutting of a text into words, straight from its bytes for the tokenizers that nearly every field has.

use tantivy::tokenizer::{MAX_TOKEN_LEN, TextAnalyzer};

/// What `default` and `raw` do, said once more here; the tests below compare it with them.
///
/// Number of positions between the last word of a value and the first of the next.
const GAP: u32 = 100;
/// Maximum length of a word in bytes.
const MAX_WORD_BYTES: usize = 255;
/// Maximum length of a whole value in bytes.
const MAX_VALUE_BYTES: usize = 32_766;

/// Number of bytes whose kinds are found at once.
const BLOCK_LEN: usize = 64;

/// How a field cuts its texts.
pub(crate) enum Cutter {
    /// As `default` does.
    Words,
    /// As `raw` does.
    Whole,
    /// As `raw` does, but for values that are too long.
    Pieces(TextAnalyzer),
    Tokens(TextAnalyzer),
}

/// The words of a text.
#[derive(Default)]
pub(crate) struct Cut {
    /// In which their bytes are.
    text: Vec<u8>,
    pub(crate) words: Vec<Word>,
    /// The position behind the text's end, from its beginning on.
    pub(crate) end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    start: u32,
    end: u32,
    pub(crate) position: u32,
    /// Whether it has a digit.
    pub(crate) is_slot: bool,
}

impl Cut {
    #[inline]
    pub(crate) fn bytes(&self, word: &Word) -> &[u8] {
        &self.text[word.start as usize..word.end as usize]
    }

    /// Returns whether the words follow each other from position 0 on.
    pub(crate) fn is_even(&self) -> bool {
        self.words
            .last()
            .is_none_or(|last| last.position as usize + 1 == self.words.len())
            && (0..)
                .zip(&self.words)
                .all(|(nth, word)| word.position == nth)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.words.clear();
        self.end = 0;
    }

    /// Adds a word that ends with the text.
    fn push(&mut self, start: usize, position: u32, len: u32) {
        let bytes = &self.text[start..];
        let word = Word {
            start: small(start),
            end: small(self.text.len()),
            position,
            is_slot: bytes.iter().any(u8::is_ascii_digit),
        };
        self.words.push(word);
        self.end = self.end.max(position.wrapping_add(len));
    }

    fn of_ascii(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text.make_ascii_lowercase();
        // There is a byte behind the last word.
        let len = (text.len() / BLOCK_LEN + 1) * BLOCK_LEN;
        self.text.resize(len, 0);
        let mut open: Option<u32> = None;
        let (mut position, mut is_slot, mut last) = (0_u32, false, 0);
        let (blocks, _) = self.text.as_chunks::<BLOCK_LEN>();
        for (block, base) in blocks.iter().zip((0_u32..).step_by(BLOCK_LEN)) {
            let (alphanumeric, digits) = kinds(block);
            let mut edges = alphanumeric ^ (alphanumeric << 1 | last);
            last = alphanumeric >> (BLOCK_LEN - 1);
            let mut digits_left = digits;
            while edges != 0 {
                let at = edges.trailing_zeros();
                let first = edges & edges.wrapping_neg();
                edges ^= first;
                let before = first.wrapping_sub(1);
                match open.take() {
                    None => {
                        open = Some(base + at);
                        is_slot = false;
                    }
                    Some(start) => {
                        is_slot |= digits_left & before != 0;
                        let end = base + at;
                        if (end - start) as usize <= MAX_WORD_BYTES {
                            self.words.push(Word {
                                start,
                                end,
                                position,
                                is_slot,
                            });
                            self.end = position + GAP;
                        }
                        position += 1;
                    }
                }
                digits_left &= !before;
            }
            is_slot |= open.is_some() && digits_left != 0;
        }
    }

    fn of_text(&mut self, text: &str) {
        let mut open = None;
        let mut position = 0;
        for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
            if letter.is_alphanumeric() {
                open.get_or_insert((at, self.text.len()));
                let mut bytes = [0; 4];
                for letter in letter.to_lowercase() {
                    self.text
                        .extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
                }
            } else if let Some((from, start)) = open.take() {
                match at - from <= MAX_WORD_BYTES {
                    true => self.push(start, position, GAP),
                    false => self.text.truncate(start),
                }
                position += 1;
            }
        }
    }
}

/// Lengths of values fit 28 bits.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns whether a value is a term of `raw`.
fn is_whole(text: &str) -> bool {
    text.len() <= MAX_VALUE_BYTES
}

/// Returns which bytes of a block of lower-case ASCII are alphanumeric, and which are digits.
#[inline]
fn kinds(block: &[u8; BLOCK_LEN]) -> (u64, u64) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let (mut alphanumeric, mut digits) = (0_u64, 0_u64);
    // The last eight bytes first.
    for bytes in block.as_chunks::<8>().0.iter().rev() {
        let bytes = u64::from_le_bytes(*bytes);
        // The high bit of each byte that is not less than the limit.
        let from = |limit: u64| bytes.wrapping_add(EACH * (0x80 - limit));
        let is_digit = from(0x30) & !from(0x3a);
        let is_letter = from(0x61) & !from(0x7b);
        // Gathers the high bits.
        let gathered = |bits: u64| (bits >> 7 & EACH).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        digits = digits << 8 | gathered(is_digit);
        alphanumeric = alphanumeric << 8 | gathered(is_digit | is_letter);
    }
    (alphanumeric, digits)
}

impl Cutter {
    pub(crate) fn new(tokenizer: &str, analyzer: TextAnalyzer) -> Self {
        match tokenizer {
            "default" => Self::Words,
            "raw" => Self::Whole,
            "pieces" => Self::Pieces(analyzer),
            _ => Self::Tokens(analyzer),
        }
    }

    /// Returns whether a text is one word, as it is.
    pub(crate) fn keeps(&self, text: &str) -> bool {
        matches!(self, Self::Whole | Self::Pieces(_)) && is_whole(text)
    }

    /// Cuts a text; the words are those that the tokenizer makes of it.
    pub(crate) fn cut(&mut self, text: &str, cut: &mut Cut) {
        cut.clear();
        match self {
            Self::Words if text.is_ascii() => cut.of_ascii(text.as_bytes()),
            Self::Words => cut.of_text(text),
            Self::Whole => {
                if is_whole(text) {
                    cut.text.extend_from_slice(text.as_bytes());
                    cut.push(0, 0, 1);
                }
            }
            Self::Tokens(analyzer) | Self::Pieces(analyzer) => {
                analyzer.token_stream(text).process(&mut |token| {
                    if token.text.len() <= MAX_TOKEN_LEN {
                        let start = cut.text.len();
                        cut.text.extend_from_slice(token.text.as_bytes());
                        cut.push(start, token.position as u32, token.position_length as u32);
                    }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use canter_doc_mapper::tokenizers::tokenizers;
    use proptest::prelude::*;

    use super::*;

    fn words(cutter: &mut Cutter, text: &str) -> (Vec<(Vec<u8>, u32)>, u32) {
        let mut cut = Cut::default();
        cutter.cut(text, &mut cut);
        let words = cut.words.iter();
        let words = words.map(|word| (cut.bytes(word).to_vec(), word.position));
        (words.collect(), cut.end)
    }

    fn check(text: &str) {
        for name in ["default", "raw"] {
            let analyzer = || tokenizers().get(name).unwrap();
            let mut ours = Cutter::new(name, analyzer());
            assert!(!matches!(ours, Cutter::Tokens(_)));
            let mut theirs = Cutter::Tokens(analyzer());
            assert_eq!(
                words(&mut ours, text),
                words(&mut theirs, text),
                "{name}: {text:?}"
            );
        }
    }

    #[test]
    fn words_are_those_of_the_tokenizer() {
        for text in [
            "",
            " ",
            "a",
            "Foo-Bar: blk_123, runs",
            "ÄÖ İx ß1 ǅ",
            "1",
            " A",
        ] {
            check(text);
        }
        for len in [63, 64, 65, 127, 128, 254, 255, 256, 257, 32_766, 32_767] {
            let long = "x".repeat(len);
            for text in [
                long.clone(),
                format!("a {long} b"),
                format!("é {long} {long}1 b"),
                "é".repeat(len),
            ] {
                check(&text);
            }
        }
    }

    #[test]
    fn words_with_digits_are_slots() {
        let check = |text: &str, expect: &[bool]| {
            let mut cut = Cut::default();
            Cutter::Words.cut(text, &mut cut);
            let found: Vec<bool> = cut.words.iter().map(|word| word.is_slot).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("a 1 b2c d", &[false, true, true, false]);
        for len in 50..140 {
            let long = "x".repeat(len);
            check(&format!("1 {long} a"), &[true, false, false]);
            check(&format!("{long}1 a"), &[true, false]);
            check(&format!("1{long} a 3"), &[true, false, true]);
            check(&format!("é {long}1 a"), &[false, true, false]);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_the_words_of_the_tokenizer(text in "([a-zA-Z0-9]{0,90}[ -~]{0,5}){0,5}", other in ".*") {
            check(&text);
            check(&other);
            check(&(text + &other));
        }
    }
}
