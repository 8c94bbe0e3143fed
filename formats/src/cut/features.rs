//! The list of records in an object that stands around it: `features` of GeoJSON's `{"type": "FeatureCollection", …,
//! "features": [ … ], …}` (`https://www.rfc-editor.org/rfc/rfc7946#section-3.3`), `hits.hits` of Elasticsearch's answers,
//! and `data`, `items`, `value` and their kin in the answers of other programs. It may stand anywhere among the members.
//! Brackets outside strings are counted.

use serde::de::IgnoredAny;

/// Maximum number of bytes before a list that goes on beyond the sample.
const MAX_AROUND: usize = 4096;

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
    word: [u8; MAX_NAME],
    len: usize,
    /// True if the array's name and a colon were last.
    is_named: bool,
    /// Name of the member around this place, if lists may stand in it.
    inner: Option<&'static [u8]>,
}

const MAX_NAME: usize = 14;
/// Members with a list in them, and the number of brackets around its name: of Elasticsearch's answers, of HTTP archives, of
/// Solr's answers, of Prometheus' and other programs' answers, and of SARIF, where each run has one.
const AROUND: [(&[u8], &[u8], u32); 10] = [
    (b"hits", b"hits", 2),
    (b"log", b"entries", 2),
    (b"response", b"docs", 2),
    (b"data", b"result", 2),
    (b"data", b"items", 2),
    (b"data", b"records", 2),
    (b"data", b"events", 2),
    (b"data", b"logs", 2),
    (b"data", b"list", 2),
    (RUNS, b"results", 3),
];
/// The only member that may have several lists.
const RUNS: &[u8] = b"runs";
/// Names of lists in an object around them.
const NAMES: [&[u8]; 36] = [
    b"features",
    b"records",
    b"Records",
    b"findings",
    b"Findings",
    b"documents",
    b"docs",
    b"list",
    b"content",
    b"objects",
    b"elements",
    b"Items",
    b"Results",
    b"Data",
    b"Events",
    b"Messages",
    b"Logs",
    b"Entries",
    b"Values",
    b"activities",
    b"value",
    b"items",
    b"data",
    b"results",
    b"result",
    b"events",
    b"logEvents",
    b"entries",
    b"logs",
    b"messages",
    b"rows",
    b"locations",
    b"transactions",
    b"alerts",
    b"issues",
    // Android Studio's.
    b"logcatMessages",
];

impl Members {
    /// Returns the place behind the array that was opened here.
    pub(super) fn after_array(self) -> Members {
        Members {
            depth: self.depth,
            inner: self.inner.filter(|around| *around == RUNS),
            ..Members::default()
        }
    }

    /// Returns whether further lists may follow the one that is here.
    pub(super) fn may_have_more(self) -> bool {
        self.inner == Some(RUNS)
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
                let word = self.word.get(..self.len).unwrap_or_default();
                let is_inside = |(around, list, depth): &(&[u8], &[u8], u32)| {
                    self.inner == Some(around) && *list == word && *depth == self.depth
                };
                self.is_named = match self.depth {
                    1 => NAMES.contains(&word),
                    _ => AROUND.iter().any(is_inside),
                };
                if self.depth == 1 {
                    let found = AROUND.iter().find(|(around, ..)| *around == word);
                    self.inner = found.map(|(around, ..)| *around);
                }
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
                self.len = MAX_NAME + 1;
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

/// Returns whether a text, which begins with an object, has a list of records in it: one that is marked as such, or most
/// of the only object.
pub(crate) fn is_collection(text: &[u8]) -> bool {
    let mut members = Members::default();
    let found = text.iter().map(|byte| members.step(*byte));
    let Some(place) = found
        .take_while(|found| *found != Found::End)
        .position(|found| found == Found::Array)
    else {
        return false;
    };
    let (around, list) = text.split_at_checked(place).unwrap_or((text, &[]));
    if memchr::memmem::find(text, b"\"FeatureCollection\"").is_some() {
        return true;
    }
    let first = list.get(1..).unwrap_or_default().trim_ascii_start();
    if first.first() != Some(&b'{') {
        return false;
    }
    let is_of_runs = members.may_have_more();
    if is_of_runs && memchr::memmem::find(first, b"\"ruleId\"").is_some() {
        return true;
    }
    let is_of_hits = around.trim_ascii_end().ends_with(b":")
        && memchr::memmem::find(first.get(..200).unwrap_or(first), b"\"_index\"").is_some();
    let mut objects = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let is_valid = match objects.next() {
        Some(Ok(_)) => true,
        // It goes on beyond the sample.
        Some(Err(error)) if error.is_eof() => return is_of_hits || around.len() < MAX_AROUND,
        _ => false,
    };
    let (object, after) = text
        .split_at_checked(objects.byte_offset())
        .unwrap_or((text, &[]));
    let mut elements = serde_json::Deserializer::from_slice(list).into_iter::<Vec<IgnoredAny>>();
    let num_elements = match elements.next() {
        Some(Ok(elements)) => elements.len(),
        _ => 0,
    };
    let list_len = elements.byte_offset();
    is_valid
        && (is_of_hits
            || (after.trim_ascii().is_empty()
                && num_elements > 1
                && list_len * 5 >= object.len() * 4))
}
