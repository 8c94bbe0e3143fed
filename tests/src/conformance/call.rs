//! HTTP request to a host.

use std::fmt::Write as _;

/// Request to the search API, complete, so that client libraries decide nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Method in upper case.
    pub method: String,
    /// Percent-encoded path, including its first slash.
    pub path: String,
    /// Percent-encoded query after the `?`; empty if absent.
    pub query: String,
    /// Body; empty if absent.
    pub body: Vec<u8>,
}

impl Call {
    /// Creates a request for `GET path`.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            path: path.into(),
            ..Self::default()
        }
    }

    /// Returns the path, and the query if there is one.
    pub fn target(&self) -> String {
        match self.query.is_empty() {
            true => self.path.clone(),
            false => format!("{}?{}", self.path, self.query),
        }
    }

    /// Returns the decoded parameters of the query in order. A part without `=` has an empty value.
    pub fn parameters(&self) -> Vec<(String, String)> {
        self.query
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                (decoded(name), decoded(value))
            })
            .collect()
    }
}

/// Percent-encodes all characters but letters, digits and `-._~`.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Decodes percent-encoding; invalid escapes stay unchanged.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_decodes_to_itself() {
        for text in ["", "a b", "body:\"x & y\"=1+2%", "größe", "*"] {
            let call = Call {
                query: format!("q={}", encoded(text)),
                ..Call::get("/x")
            };
            assert_eq!(call.parameters(), [("q".to_owned(), text.to_owned())]);
        }
    }
}
