//! Variables of a text, which change from line to line: numbers, and words with digits.
//!
//! ```text
//!   Received block blk_-1608999687919862906 of size 91178 from /10.250.14.224
//!                       ^^^^^^^^^^^^^^^^^^^         ^^^^^       ^^ ^^^ ^^ ^^^
//! ```
//!
//! A word consists of letters and digits; one without a digit is no variable. In a word with one
//! number, such as `datanode13` or `12ms`, the number is the variable, as are two numbers with one
//! letter in between (`02T03`); any other word, such as `7f3a` or `x1y2z`, is a variable as a
//! whole. Readers need not know these rules: they join literals and variables, however they were
//! split.

use std::ops::Range;

/// Maximum length of texts that are searched for variables.
pub(super) const MAX_TEXT_NUM_BYTES: usize = 2 << 10;

/// Returns the variables of a text in order.
pub(super) fn variables(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let mut second = None;
    std::iter::from_fn(move || {
        if let Some(second) = second.take() {
            return Some(second);
        }
        loop {
            // Most words have no digit, and are passed unseen.
            let rest = text.get(at..)?;
            let digit = rest.iter().position(u8::is_ascii_digit)?;
            let (before, from) = rest.split_at_checked(digit)?;
            let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric();
            let start = at + digit - before.iter().rev().take_while(is_of_word).count();
            at += digit + from.iter().take_while(is_of_word).count();
            let found = variables_of(text.get(start..at)?);
            if let Some((first, more)) = found {
                let in_text = |range: Range<usize>| start + range.start..start + range.end;
                second = more.map(in_text);
                return Some(in_text(first));
            }
        }
    })
}

/// Returns the variables of a word: none, one or two parts.
fn variables_of(word: &[u8]) -> Option<(Range<usize>, Option<Range<usize>>)> {
    let first = word.iter().position(u8::is_ascii_digit)?;
    let last = word.iter().rposition(u8::is_ascii_digit)?;
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
    let mut letters = word.iter().filter(is_letter);
    let is_hex = letters.clone().all(|byte| (b'a'..=b'f').contains(byte))
        || letters.all(|byte| (b'A'..=b'F').contains(byte));
    let numbers = word.get(first..=last)?;
    let letter = numbers.iter().position(u8::is_ascii_alphabetic);
    Some(match letter {
        None if !is_hex => (first..last + 1, None),
        Some(letter) if !is_hex && word.iter().filter(is_letter).count() == 1 => {
            (first..first + letter, Some(first + letter + 1..last + 1))
        }
        _ => (0..word.len(), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_of_digits_and_letters_are_variables() {
        let check = |text: &str, expect: &[&str]| {
            let found = variables(text.as_bytes()).map(|range| &text[range]);
            assert_eq!(found.collect::<Vec<_>>(), expect, "{text}");
        };
        check("", &[]);
        check("no digits here", &[]);
        check(
            "blk_-16089 of 91178 from /10.2.3.4",
            &["16089", "91178", "10", "2", "3", "4"],
        );
        check("datanode13 took 12ms", &["13", "12"]);
        check("a1-b2c_3 no9 x", &["a1", "b2c", "3", "9"]);
        check(
            "7f3a DEADBEEF0 a1 x1y2 http2",
            &["7f3a", "DEADBEEF0", "a1", "x1y2", "2"],
        );
        check(
            "é1é 2024-01-02T03:04:05Z",
            &["1", "2024", "01", "02", "03", "04", "05"],
        );
    }
}
