//! Writing JSON objects into a buffer, member by member; and parsing foreign JSON.

use canter_names::mend_json;
use serde::de::DeserializeOwned;

/// Parses JSON, with U+FFFD for halves of surrogate pairs.
pub(crate) fn read_json<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(text).or_else(|error| match mend_json(text) {
        Some(mended) => serde_json::from_slice(&mended),
        None => Err(error),
    })
}

/// Receiver of the members of one document, one after another: a JSON object under way, or an encoder that needs no JSON.
pub trait Members {
    /// Adds a text.
    fn string(&mut self, name: &str, value: &str);

    /// Adds a value that is valid JSON.
    fn json(&mut self, name: &str, value: &str);

    /// Adds a number if the value is a valid JSON number, otherwise a text.
    fn number(&mut self, name: &str, value: &str) {
        match is_number(value) {
            true => self.json(name, value),
            false => self.string(name, value),
        }
    }

    /// Adds a number or a boolean if the value is one, otherwise a text.
    fn bare(&mut self, name: &str, value: &str) {
        match matches!(value, "true" | "false") {
            true => self.json(name, value),
            false => self.number(name, value),
        }
    }
}

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Object<'o> {
    pub(crate) fn begin(out: &'o mut Vec<u8>) -> Object<'o> {
        out.push(b'{');
        Object {
            out,
            is_empty: true,
        }
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }

    fn key(&mut self, name: &str) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        push_string(self.out, name);
        self.out.push(b':');
    }

    pub(crate) fn string(&mut self, name: &str, value: &str) {
        self.key(name);
        push_string(self.out, value);
    }

    /// Adds a value that is JSON already.
    pub(crate) fn json(&mut self, name: &str, value: &str) {
        self.key(name);
        self.out.extend_from_slice(value.as_bytes());
    }

    pub(crate) fn object(&mut self, name: &str) -> Object<'_> {
        self.key(name);
        Object::begin(self.out)
    }

    /// Adds members that `append` writes; its argument is true if they are the first.
    pub(crate) fn members(&mut self, append: impl FnOnce(bool, &mut Vec<u8>)) {
        let len = self.out.len();
        append(self.is_empty, self.out);
        self.is_empty &= self.out.len() == len;
    }

    /// Adds only the key; the caller writes a value after it.
    pub(crate) fn value(&mut self, name: &str) -> &mut Vec<u8> {
        self.key(name);
        self.out
    }
}

impl Members for Object<'_> {
    fn string(&mut self, name: &str, value: &str) {
        Object::string(self, name, value);
    }

    fn json(&mut self, name: &str, value: &str) {
        Object::json(self, name, value);
    }
}

/// Returns whether a text is a JSON number with no more digits than a 64-bit number holds: a longer one is an id.
pub(crate) fn is_number(text: &str) -> bool {
    const MAX_LEN: usize = 24;
    let bytes = text.as_bytes();
    let digits = |from: usize| -> usize {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let at = |place: usize| bytes.get(place).copied();
    if bytes.len() > MAX_LEN {
        return false;
    }
    let mut place = usize::from(at(0) == Some(b'-'));
    let num_whole = digits(place);
    if num_whole == 0 || num_whole > 18 || (num_whole > 1 && at(place) == Some(b'0')) {
        return false;
    }
    place += num_whole;
    if at(place) == Some(b'.') {
        let num_fraction = digits(place + 1);
        if num_fraction == 0 {
            return false;
        }
        place += 1 + num_fraction;
    }
    if matches!(at(place), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(at(place + 1), Some(b'+' | b'-')));
        let num_exponent = digits(place + 1 + sign);
        // Larger ones exceed the range of a double.
        if num_exponent == 0 || num_exponent > 2 {
            return false;
        }
        place += 1 + sign + num_exponent;
    }
    place == bytes.len()
}

/// Appends a string with its quotes.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = special_place(rest) {
        let (clean, from) = rest.split_at(at);
        out.extend_from_slice(clean);
        let Some((special, after)) = from.split_first() else {
            break;
        };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => {
                let digit = |n: u8| HEX.get(usize::from(n)).copied().unwrap_or(b'0');
                out.extend_from_slice(b"\\u00");
                out.extend([digit(control >> 4), digit(control & 15)]);
            }
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Returns the place of the first byte that must be escaped. Whole blocks are compared at once.
fn special_place(bytes: &[u8]) -> Option<usize> {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    let (blocks, _) = bytes.as_chunks::<16>();
    let has_special = |block: &[u8; 16]| {
        let num = block.iter().map(|byte| u8::from(is_special(byte)));
        num.fold(0, |sum, is| sum | is) != 0
    };
    let num_clean = blocks.iter().position(has_special).unwrap_or(blocks.len()) * 16;
    let rest = bytes.get(num_clean..)?;
    rest.iter().position(is_special).map(|at| num_clean + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_those_of_json_that_fit() {
        for yes in [
            "0",
            "-1",
            "12",
            "1.5",
            "-0.25",
            "1e3",
            "2.5E-7",
            "123456789012345678",
        ] {
            assert!(is_number(yes), "{yes}");
        }
        for no in [
            "",
            "-",
            "007",
            "1.",
            ".5",
            "+1",
            "1e",
            "1e999",
            "0x1",
            "1 ",
            "1_000",
            "NaN",
            "Infinity",
            "1234567890123456789",
            "1.2.3.4",
        ] {
            assert!(!is_number(no), "{no}");
        }
    }

    proptest! {
        #[test]
        fn strings_are_read_back(text in ".{0,40}", control in "[\\x00-\\x20\"\\\\é]{0,20}") {
            for text in [text, control] {
                let mut out = Vec::new();
                push_string(&mut out, &text);
                let back: String = serde_json::from_slice(&out).unwrap();
                prop_assert_eq!(back, text);
            }
        }

        #[test]
        fn what_is_taken_for_a_number_is_one(text in "-?[0-9]{0,20}(\\.[0-9]{0,4})?([eE][+-]?[0-9]{0,3})?") {
            if is_number(&text) {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                prop_assert!(value.is_number());
            }
        }
    }
}
