//! The array `features` of GeoJSON's `{"type": "FeatureCollection", …, "features": [ … ], …}`, which may stand anywhere
//! among the members (`https://www.rfc-editor.org/rfc/rfc7946#section-3.3`). Brackets outside strings are counted.

/// Meaning of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// It opens the array.
    Array,
    /// It ends the object.
    End,
}

/// A place in the object, outside the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Members {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    /// The beginning of the last string, and its length.
    word: [u8; NAME.len()],
    len: usize,
    /// True if the array's name and a colon were last.
    is_named: bool,
}

const NAME: [u8; 8] = *b"features";

impl Members {
    /// Returns a place behind the array.
    pub(super) fn after_array() -> Members {
        Members {
            depth: 1,
            ..Members::default()
        }
    }

    pub(super) fn step(&mut self, byte: u8) -> Found {
        if self.in_string {
            self.in_string(byte);
            // JSON allows no break of a line there: the value is broken.
            return match byte {
                b'\n' => Found::End,
                _ => Found::Nothing,
            };
        }
        match byte {
            b'"' => (self.in_string, self.len, self.is_named) = (true, 0, false),
            b':' => {
                self.is_named = self.depth == 1 && self.len == NAME.len() && self.word == NAME;
            }
            b'[' if self.is_named => return Found::Array,
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.is_named = false;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Found::End;
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => self.is_named = false,
        }
        Found::Nothing
    }

    fn in_string(&mut self, byte: u8) {
        if self.is_escaped {
            self.is_escaped = false;
            return;
        }
        match byte {
            b'\\' => {
                self.is_escaped = true;
                self.len = NAME.len() + 1;
            }
            b'"' => self.in_string = false,
            byte => {
                if let Some(place) = self.word.get_mut(self.len) {
                    *place = byte;
                }
                self.len = self.len.saturating_add(1);
            }
        }
    }
}

/// Returns whether a text begins with a collection, up to the beginning of its array.
pub(crate) fn is_collection(text: &[u8]) -> bool {
    if memchr::memmem::find(text, b"\"FeatureCollection\"").is_none() {
        return false;
    }
    let mut members = Members::default();
    let found = text.iter().map(|byte| members.step(*byte));
    let mut found = found.skip_while(|found| *found == Found::Nothing);
    found.next() == Some(Found::Array)
}
