//! One HTTP request as a host is sent it.

use std::fmt::Write as _;

/// A request to the search API: nothing of it is left to a client library to decide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// In upper case.
    pub method: String,
    /// Percent-encoded, with its first slash.
    pub path: String,
    /// What follows the `?`, percent-encoded; empty without one.
    pub query: String,
    /// Empty without one.
    pub body: Vec<u8>,
}

impl Call {
    /// `GET path`.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            path: path.into(),
            ..Self::default()
        }
    }

    /// The path and, if there is one, the query.
    pub fn target(&self) -> String {
        match self.query.is_empty() {
            true => self.path.clone(),
            false => format!("{}?{}", self.path, self.query),
        }
    }

    /// Parameters of the query in their order, decoded. A part without `=` has an empty value.
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

/// Percent-encodes all but letters, digits and `-._~`.
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

/// The reverse; what is no escape stays as it is.
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
