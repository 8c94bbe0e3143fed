//! Answer of a host, and its bytes that must be the same on every host.

use std::collections::BTreeMap;
use std::ops::Range;

/// Headers that the guest determines; a host may add others.
pub const HEADERS: [&str; 3] = ["content-type", "cache-control", "allow"];

/// Status of a failed command, which has no HTTP status.
pub const COMMAND_FAILED: u16 = 0;

/// Answer of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, or [`COMMAND_FAILED`].
    pub status: u16,
    /// Headers among [`HEADERS`] that were sent; `None` for a host without headers, such as a
    /// command line.
    pub headers: Option<BTreeMap<String, String>>,
    /// Body as received.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns status, type and body, with the elapsed time and the profile blanked out.
    pub fn comparable(&self) -> Self {
        Self {
            body: comparable_bytes(&self.body),
            ..self.clone()
        }
    }

    /// Returns the body as text, truncated to `len` characters.
    pub fn shortened(&self, len: usize) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let mut short: String = text.chars().take(len).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        format!("{} {short}", self.status)
    }
}

/// Returns a JSON object with the values of `elapsed_time_micros` and `profile` replaced by `_` at
/// the top level, and those of `took` anywhere, since answers in Elasticsearch's form may be
/// nested. All other bytes stay unchanged, including white space and digits, whose differences
/// parsing would hide.
pub fn comparable_bytes(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut from = 0;
    for value in top_values(body, &["elapsed_time_micros", "profile"]) {
        out.extend_from_slice(&body[from..value.start]);
        out.push(b'_');
        from = value.end;
    }
    out.extend_from_slice(&body[from..]);
    out
}

/// Returns the ranges of the values of some keys in the outermost object.
fn top_values(body: &[u8], keys: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while at < body.len() {
        match body[at] {
            b'"' => {
                let end = end_of_string(body, at);
                let text = &body[at + 1..end.saturating_sub(1).max(at + 1)];
                at = end;
                let is_wanted = keys.iter().any(|key| key.as_bytes() == text);
                // A value that looks like a key is not followed by a colon.
                if (depth == 1 && is_wanted || text == b"took") && body.get(at) == Some(&b':') {
                    let start = at + 1 + spaces(&body[at + 1..]);
                    let end = end_of_value(body, start);
                    found.push(start..end);
                    at = end;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

fn spaces(body: &[u8]) -> usize {
    let is_space = |byte: &&u8| byte.is_ascii_whitespace();
    body.iter().take_while(is_space).count()
}

/// Returns the offset after the string that begins at `start`.
fn end_of_string(body: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < body.len() {
        match body[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    body.len()
}

/// Returns the offset after the value that begins at `start`, that of the next comma or bracket.
fn end_of_value(body: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < body.len() {
        match body[at] {
            b'"' => {
                at = end_of_string(body, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b',' | b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    let before = &body[start..at.min(body.len())];
    start + before.trim_ascii_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let out = comparable_bytes(body.as_bytes());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn only_the_time_and_the_profile_are_blanked_out() {
        check(
            r#"{"hits":[],"elapsed_time_micros":1234,"errors":[]}"#,
            r#"{"hits":[],"elapsed_time_micros":_,"errors":[]}"#,
        );
        check(
            r#"{"num_hits":1,"profile":{"a":[1,{"b":"}"}]}}"#,
            r#"{"num_hits":1,"profile":_}"#,
        );
        check(
            "{\n  \"elapsed_time_micros\": 12,\n  \"profile\": {\n    \"a\": 1\n  }\n}",
            "{\n  \"elapsed_time_micros\": _,\n  \"profile\": _\n}",
        );
    }

    #[test]
    fn what_a_document_says_stays() {
        for body in [
            r#"{"hits":[{"elapsed_time_micros":7,"profile":"x"}],"num_hits":1}"#,
            r#"{"message":"profile: \"elapsed_time_micros\":5"}"#,
            r#"["elapsed_time_micros",5]"#,
            "",
            "{\"profile",
            "\u{0}\\\"",
        ] {
            check(body, body);
        }
    }
}
