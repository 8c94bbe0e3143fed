//! Conversion of Windows-1252, and of ISO 8859-1 within it, to UTF-8: what programs for Windows in Western Europe still
//! write (`https://encoding.spec.whatwg.org/index-windows-1252.txt`).

use std::io::{self, BufRead, Read};

use super::converted::Converted;

/// Characters from 0x80 on; bytes that have none are controls.
const FROM_0X80: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn character(byte: u8) -> char {
    let named = byte
        .checked_sub(0x80)
        .and_then(|place| FROM_0X80.get(usize::from(place)));
    named.copied().unwrap_or(char::from(byte))
}

/// Returns whether text with this beginning is written so: it is not UTF-8 anywhere, letters beyond ASCII are few and
/// stand beside others, and so do signs.
pub(super) fn is_latin(beginning: &[u8], is_whole: bool) -> bool {
    let Err(error) = std::str::from_utf8(beginning) else {
        return false;
    };
    if !is_whole && error.error_len().is_none() {
        return false;
    }
    let (mut num_high, mut num_likely) = (0_usize, 0_usize);
    let mut before = b' ';
    let mut bytes = beginning.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let after = bytes.peek().copied().unwrap_or(b' ');
        match byte {
            b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | b' '..=b'~' => {}
            0..=0x1f | 0x7f | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d => return false,
            _ => {
                num_high += 1;
                num_likely += usize::from(is_likely(before, byte, after));
            }
        }
        before = byte;
    }
    let is_utf8_within = beginning
        .utf8_chunks()
        .any(|chunk| !chunk.valid().is_ascii());
    num_high * 5 < beginning.len() && num_likely * 10 >= num_high * 9 && !is_utf8_within
}

/// Returns whether a character stands where it would in words and numbers.
fn is_likely(before: u8, byte: u8, after: u8) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic();
    match byte {
        // `÷`, `þ` and `ÿ` are no letters of many words, and begin binary data.
        0xd7 | 0xf7 | 0xde | 0xf0 | 0xfe | 0xff => false,
        0xc0..=0xff | 0x8a | 0x8c | 0x8e | 0x9a | 0x9c | 0x9e | 0x9f => {
            // `Maß`, `Öl`; `é` and `à` are words; two may stand together: `ïë`.
            let stands_apart = |byte: u8| byte.is_ascii_punctuation() || byte.is_ascii_whitespace();
            is_letter(before)
                || is_letter(after)
                || (stands_apart(before)
                    && stands_apart(after)
                    && matches!(byte, 0xe0 | 0xe8 | 0xe9 | 0xc0 | 0xf3))
        }
        // Quotes, dashes and signs of money and units.
        0x80
        | 0x82
        | 0x84
        | 0x85
        | 0x91..=0x97
        | 0x99
        | 0xa0
        | 0xa3
        | 0xa7
        | 0xa9
        | 0xab
        | 0xae
        | 0xb0
        | 0xb2
        | 0xb3
        | 0xb4
        | 0xb5
        | 0xb7
        | 0xbb => true,
        _ => false,
    }
}

/// Reads Windows-1252 as UTF-8.
pub(super) struct Latin<R> {
    reader: R,
    out: Converted,
}

impl<R: BufRead> Latin<R> {
    pub(super) fn new(reader: R) -> Latin<R> {
        Latin {
            reader,
            out: Converted::default(),
        }
    }

    /// Decodes the reader's buffer; returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.out.clear();
        let bytes = self.reader.fill_buf()?;
        let num_bytes = bytes.len();
        for byte in bytes {
            self.out.push(character(*byte));
        }
        self.reader.consume(num_bytes);
        Ok(num_bytes > 0)
    }
}

impl<R: BufRead> Read for Latin<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.out.is_read() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        Ok(self.out.read(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_the_characters_of_windows_1252() {
        let mut text = String::new();
        Latin::new(&b"Gr\xf6\xdfe \x80 5 \x84x\x93 caf\xe9\n"[..])
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "Größe € 5 „x“ café\n");
    }

    #[test]
    fn text_of_western_europe_is_told_from_others() {
        for text in [
            &b"2024-05-01 10:00:00 INFO Gr\xf6\xdfe ge\xe4ndert\n"[..],
            b"Buchungstag;Empf\xe4nger;Betrag\n13.05.2024;B\xe4cker;12,50 \x80\n",
            b"d\xe9j\xe0 vu \xe0 la veille de No\xebl\n",
            b"temp 20 \xb0C\n",
        ] {
            assert!(is_latin(text, true), "{text:?}");
        }
        for text in [
            &b"plain\n"[..],
            "Größe\n".as_bytes(),
            // UTF-8 with a damaged byte, or cut off.
            b"Gr\xc3\xb6\xc3\x9fe \xff\n",
            b"{\"ts\":1,\"text\":\"\xff\xfe\"}\n",
            b"bad \xff line\n",
            // Japanese and Russian in their own encodings.
            b"\x93\xfa\x95t,\x92S\x93\x96,\x8b\xe0\x8az\n",
            b"\xcf\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0\n",
            b"\x00\x01Gr\xf6\xdfe\n",
        ] {
            assert!(!is_latin(text, true), "{text:?}");
        }
        assert!(!is_latin(&"Größe".as_bytes()[..3], false));
    }
}
