//! The head of a request: the subset of HTTP that a reader of ranges sends.

use canter_runtime::fetch::ByteRange;

/// A request, or the reason why it cannot be answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestHead {
    /// An object, or a part of it.
    Get {
        object: String,
        /// `None` requests the whole object.
        range: Option<ByteRange>,
        /// The version that need not be sent.
        if_none_match: Option<String>,
    },
    /// Status and explanation.
    Refused(&'static str, &'static str),
}

impl RequestHead {
    pub(super) fn parse(head: &[u8]) -> Self {
        let bad = |what| Self::Refused("400 Bad Request", what);
        let Ok(head) = std::str::from_utf8(head) else {
            return bad("the head of the request is not text");
        };
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return bad("not a request of HTTP/1.1");
        };
        if method != "GET" {
            return Self::Refused("405 Method Not Allowed", "only GET is answered");
        }
        let Some(object) = object_of(target) else {
            return bad("the path names no object");
        };
        let mut range = None;
        let mut if_none_match = None;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            match name.to_ascii_lowercase().as_str() {
                "range" => match parse_range(value.trim()) {
                    Some(parsed) => range = Some(parsed),
                    None => return bad("the range is not of the form bytes=FIRST-[LAST]"),
                },
                "if-none-match" => if_none_match = Some(value.trim().to_owned()),
                // Some clients send it with every request without a body.
                "content-length" if value.trim() == "0" => {}
                "content-length" | "transfer-encoding" => {
                    return bad("a GET with a body is not answered");
                }
                _ => {}
            }
        }
        Self::Get {
            object,
            range,
            if_none_match,
        }
    }
}

/// Returns the path without its first slash and its query, decoded.
fn object_of(target: &str) -> Option<String> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? * 16 + hex(rest.next()?)?,
            byte => byte,
        });
    }
    let object = String::from_utf8(bytes).ok()?;
    let is_below = object
        .split('/')
        .all(|segment| !matches!(segment, "" | "." | ".."));
    is_below.then_some(object)
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

fn parse_range(value: &str) -> Option<ByteRange> {
    let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
    let first: u64 = first.parse().ok()?;
    if last.is_empty() {
        return Some(ByteRange::from(first));
    }
    let last: u64 = last.parse().ok()?;
    let len = last.checked_sub(first)?.checked_add(1)?;
    Some(ByteRange::new(first, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(object: &str, range: Option<ByteRange>) -> RequestHead {
        RequestHead::Get {
            object: object.to_owned(),
            range,
            if_none_match: None,
        }
    }

    #[test]
    fn a_request_names_an_object_and_a_range() {
        let check = |head: &str, expect: RequestHead| {
            let head = format!("{head}\r\nHost: x\r\n\r\n");
            assert_eq!(RequestHead::parse(head.as_bytes()), expect, "{head}");
        };
        check("GET /a HTTP/1.1", get("a", None));
        check("GET /a/b%20c?key=1 HTTP/1.1", get("a/b c", None));
        check("GET /a HTTP/1.1\r\nContent-Length: 0", get("a", None));
        let range = Some(ByteRange::new(5, 3));
        check("GET /a HTTP/1.1\r\nrAnGe: bytes=5-7", get("a", range));
        let open = Some(ByteRange::from(5));
        check("GET /a HTTP/1.1\r\nRange: bytes=5-", get("a", open));
        check(
            "GET /a HTTP/1.1\r\nIf-None-Match: \"v:1\"",
            RequestHead::Get {
                object: "a".to_owned(),
                range: None,
                if_none_match: Some("\"v:1\"".to_owned()),
            },
        );
    }

    #[test]
    fn what_is_no_such_request_is_refused() {
        let check = |head: &str, status: &str| {
            let RequestHead::Refused(answer, _) = RequestHead::parse(head.as_bytes()) else {
                panic!("{head}");
            };
            assert!(answer.starts_with(status), "{head}: {answer}");
        };
        check("HEAD /a HTTP/1.1\r\n\r\n", "405");
        for head in [
            "",
            "GET /a",
            "GET /a HTTP/1.0",
            "GET a HTTP/1.1",
            "GET / HTTP/1.1",
            "GET /../a HTTP/1.1",
            "GET /a%2f..%2fb HTTP/1.1",
            "GET /a%2 HTTP/1.1",
            "GET /%ff HTTP/1.1",
            "GET /a HTTP/1.1\r\nRange: bytes=-5",
            "GET /a HTTP/1.1\r\nRange: bytes=1-2,5-6",
            "GET /a HTTP/1.1\r\nRange: bytes=7-5",
            "GET /a HTTP/1.1\r\nRange: bytes=0-18446744073709551615",
            "GET /a HTTP/1.1\r\nContent-Length: 5",
        ] {
            check(&format!("{head}\r\n\r\n"), "400");
        }
    }
}
