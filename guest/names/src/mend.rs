//! Repair of JSON from programs that handle Unicode incorrectly: half of a surrogate pair, or a NUL, in a string.
//!
//! Java and JavaScript hold text in UTF-16, and may cut it anywhere; the escapes they then write are invalid, and serde
//! refuses the whole text. They become U+FFFD here, as invalid bytes do in decoders of UTF-8.

/// The replacement character, escaped.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// Replaces halves of surrogate pairs by U+FFFD, and NULs in strings by their escapes; drops NULs elsewhere. `None` if
/// there is nothing to replace. Invalid JSON stays invalid.
#[must_use]
pub fn mend_json(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended: Option<Vec<u8>> = None;
    let (mut at, mut is_in_string) = (0, false);
    // Bytes before this position are in `mended`, if that has been started.
    let mut copied = 0;
    while let Some(byte) = json.get(at) {
        let (len, instead): (usize, Option<&[u8]>) = match byte {
            b'"' => {
                is_in_string = !is_in_string;
                (1, None)
            }
            b'\\' => match escaped(json, at) {
                Escaped::LoneSurrogate => (6, Some(REPLACEMENT)),
                Escaped::Pair => (12, None),
                Escaped::Other => (2, None),
            },
            0 if is_in_string => (1, Some(b"\\u0000")),
            0 => (1, Some(b"")),
            _ => (1, None),
        };
        if let Some(instead) = instead {
            let mended = mended.get_or_insert_with(|| Vec::with_capacity(json.len() + 8));
            mended.extend_from_slice(json.get(copied..at).unwrap_or_default());
            mended.extend_from_slice(instead);
            copied = at + len;
        }
        at += len;
    }
    let mut mended = mended?;
    mended.extend_from_slice(json.get(copied..).unwrap_or_default());
    Some(mended)
}

enum Escaped {
    /// `\ud800` without the other half.
    LoneSurrogate,
    /// Both halves.
    Pair,
    /// Anything else, which is independent of the bytes after the next one.
    Other,
}

/// Returns the kind of escape at a backslash.
fn escaped(json: &[u8], at: usize) -> Escaped {
    match code_unit(json, at) {
        Some(0xd800..0xdc00) => match code_unit(json, at + 6) {
            Some(0xdc00..0xe000) => Escaped::Pair,
            _ => Escaped::LoneSurrogate,
        },
        Some(0xdc00..0xe000) => Escaped::LoneSurrogate,
        _ => Escaped::Other,
    }
}

/// Returns the UTF-16 code unit that is escaped at a position.
fn code_unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_character_becomes_the_replacement_character() {
        for (json, mended) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDC00 x""#, r#""\ufffd x""#),
            (r#""\ud83d\ude00\ud83d""#, r#""\ud83d\ude00\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (
                r#"{"\udfff": "a\\\ud800\n"}"#,
                r#"{"\ufffd": "a\\\ufffd\n"}"#,
            ),
            ("\"a\0b\"", r#""a\u0000b""#),
            ("\0\0{\"a\":\0 1}\0", r#"{"a": 1}"#),
        ] {
            let found = mend_json(json.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(found).unwrap(), mended, "{json:?}");
            let _: serde_json::Value = serde_json::from_str(mended).unwrap();
        }
    }

    #[test]
    fn what_is_right_or_no_surrogate_stays() {
        for json in [
            "",
            r#"{"a": "é\u00e9\ud83d\ude00"}"#,
            r#""\\ud800""#,
            r#""\ud8"#,
            r#""\ud8zz""#,
            r#""\u+800""#,
            "\\",
        ] {
            assert_eq!(mend_json(json.as_bytes()), None, "{json}");
        }
    }
}
