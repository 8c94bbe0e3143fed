//! Number and depth of the values in JSON, determined before it is parsed: a value of two bytes takes dozens once it is
//! parsed.

/// Number and depth of the values in a text that may be JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonNesting {
    /// Maximum number of arrays and objects inside one another.
    pub depth: usize,
    /// Number of arrays and objects, and of the elements and members after the first of each.
    pub num_values: usize,
}

impl JsonNesting {
    /// Counts in one pass, without allocating. For invalid JSON it returns at least what a parser sees before it
    /// notices.
    #[must_use]
    pub fn of(json: &[u8]) -> Self {
        let mut nesting = Self::default();
        let mut depth = 0_usize;
        let mut bytes = json.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => skip_string(&mut bytes),
                b'[' | b'{' => {
                    depth += 1;
                    nesting.depth = nesting.depth.max(depth);
                    nesting.num_values += 1;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' => nesting.num_values += 1,
                _ => {}
            }
        }
        nesting
    }
}

/// Skips to the end of a string, past its closing quote.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_strings_is_not_nested() {
        for (json, depth, num_values) in [
            ("", 0, 0),
            ("7", 0, 0),
            ("[]", 1, 1),
            (r#"{"a": [1, {"b": 2}], "c": [[]]}"#, 3, 7),
            (r#"["[[[\"[[[,", "\\", [1]]"#, 2, 4),
            ("]]][", 1, 1),
            (r#"["[[["#, 1, 1),
        ] {
            let expect = JsonNesting { depth, num_values };
            assert_eq!(JsonNesting::of(json.as_bytes()), expect, "{json}");
        }
    }
}
