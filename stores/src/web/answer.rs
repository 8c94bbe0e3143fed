//! Validation of a store's answer to a request for a range or a whole object.

use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap};

use crate::{Misbehaviour, StoreFault};

/// Range that a request asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedRange {
    /// First byte, from the start of the object.
    pub first: u64,
    /// Number of bytes, at least 1; `None` is everything from there.
    pub len: Option<u64>,
}

impl AskedRange {
    /// Parses `bytes=FIRST-LAST` or `bytes=FIRST-`. Returns `None` for other forms, which Canter
    /// never sends.
    pub fn from_header(value: &str) -> Option<Self> {
        let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
        let first: u64 = first.parse().ok()?;
        let len = match last {
            "" => None,
            last => {
                let last: u64 = last.parse().ok()?;
                Some(last.checked_sub(first)?.checked_add(1)?)
            }
        };
        Some(Self { first, len })
    }
}

/// Lengths that the head of a valid answer states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Length of the body in bytes, if the head states it.
    pub body_len: Option<u64>,
    /// Length of the whole object in bytes, if the head states it.
    pub object_len: Option<u64>,
}

/// Validates the head of an answer with status 200 or 206. `asked` is `None` for a whole object.
///
/// `Content-Length` is optional: `Content-Range` states the length of a range, and the length of a
/// whole object may be unknown.
pub fn check_answer(
    asked: Option<AskedRange>,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Answer, Misbehaviour> {
    check_encoding(headers)?;
    match (asked, status) {
        (None, StatusCode::OK) => {
            let len = content_length(headers);
            Ok(Answer {
                body_len: len,
                object_len: len,
            })
        }
        (Some(_), StatusCode::OK) => Err(Misbehaviour::new(
            StoreFault::RangeIgnored,
            "the server ignored the Range header and sent the whole object (status 200)",
        )),
        (Some(asked), _) => check_content_range(asked, headers),
        (None, _) => Err(wrong_range(format!(
            "status {} although no range was asked for",
            status.as_u16()
        ))),
    }
}

/// Describes an answer with status 416: the range begins past the end of the object.
pub fn past_the_end(headers: &HeaderMap) -> Misbehaviour {
    let len = text_of(headers, CONTENT_RANGE)
        .and_then(|value| value.trim().strip_prefix("bytes */"))
        .and_then(|len| len.parse::<u64>().ok());
    let seen = match len {
        Some(len) => format!("the object has only {len} bytes (status 416)"),
        None => "the object ends before the range begins (status 416)".to_owned(),
    };
    Misbehaviour::new(StoreFault::PastTheEnd, seen)
}

fn check_encoding(headers: &HeaderMap) -> Result<(), Misbehaviour> {
    let mut encodings = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|encoding| encoding.trim_ascii().to_ascii_lowercase());
    // Some S3 servers keep `aws-chunked`, the encoding of the upload, in the object's headers. The
    // bytes themselves are plain.
    let plain: [&[u8]; 3] = [b"identity", b"aws-chunked", b""];
    match encodings.find(|encoding| !plain.contains(&encoding.as_slice())) {
        None => Ok(()),
        Some(encoding) => Err(Misbehaviour::new(
            StoreFault::ContentEncoded,
            format!(
                "the server compressed the answer ({}) although it was asked not to",
                String::from_utf8_lossy(&encoding)
            ),
        )),
    }
}

fn check_content_range(asked: AskedRange, headers: &HeaderMap) -> Result<Answer, Misbehaviour> {
    let header = text_of(headers, CONTENT_RANGE)
        .ok_or_else(|| wrong_range("status 206 without a Content-Range"))?;
    let (first, last, size) = parse_content_range(header)
        .ok_or_else(|| wrong_range(format!("cannot read Content-Range {header:?}")))?;
    let other = || {
        wrong_range(format!(
            "the server answered with another range, {header:?}"
        ))
    };
    let len = last - first + 1;
    if first != asked.first || asked.len.is_some_and(|wanted| len > wanted) {
        return Err(other());
    }
    let ends_object = size.is_none_or(|size| last + 1 == size);
    match asked.len {
        Some(wanted) if len < wanted && ends_object => {
            return Err(Misbehaviour::new(
                StoreFault::PastTheEnd,
                format!("only {len} of {wanted} bytes came: the object ends there"),
            ));
        }
        Some(wanted) if len == wanted => {}
        None if ends_object => {}
        // A part of the range, although the object continues.
        _ => return Err(other()),
    }
    Ok(Answer {
        body_len: Some(len),
        object_len: size,
    })
}

/// Parses `bytes FIRST-LAST/SIZE` into first byte, last byte and size; `None` for a SIZE of `*`.
fn parse_content_range(header: &str) -> Option<(u64, u64, Option<u64>)> {
    let (unit, rest) = header.trim().split_once(' ')?;
    let (bounds, size) = rest.split_once('/')?;
    let (first, last) = bounds.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let size = match size.trim() {
        "*" => None,
        size => Some(size.parse::<u64>().ok()?),
    };
    let is_right = unit.eq_ignore_ascii_case("bytes")
        && first <= last
        && last < u64::MAX
        && size.is_none_or(|size| last < size);
    is_right.then_some((first, last, size))
}

pub(crate) fn content_length(headers: &HeaderMap) -> Option<u64> {
    text_of(headers, CONTENT_LENGTH)?.trim().parse().ok()
}

fn text_of(headers: &HeaderMap, name: http::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn wrong_range(seen: impl Into<String>) -> Misbehaviour {
    Misbehaviour::new(StoreFault::WrongContentRange, seen)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const RANGE: Option<AskedRange> = Some(AskedRange {
        first: 2,
        len: Some(3),
    });
    const OPEN: Option<AskedRange> = Some(AskedRange {
        first: 2,
        len: None,
    });

    fn check(
        asked: Option<AskedRange>,
        status: u16,
        headers: &[(&'static str, &'static str)],
        expect: Result<(Option<u64>, Option<u64>), StoreFault>,
    ) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect();
        let answer = check_answer(asked, StatusCode::from_u16(status).unwrap(), &headers);
        let answer = answer
            .map(|answer| (answer.body_len, answer.object_len))
            .map_err(|error| error.fault);
        assert_eq!(answer, expect, "{asked:?} {status} {headers:?}");
    }

    #[test]
    fn a_range_is_what_content_range_says() {
        let fits = Ok((Some(3), Some(10)));
        check(RANGE, 206, &[("content-range", "bytes 2-4/10")], fits);
        check(RANGE, 206, &[("content-range", "Bytes 2-4/10")], fits);
        check(
            RANGE,
            206,
            &[("content-range", "bytes 2-4/*")],
            Ok((Some(3), None)),
        );
        check(
            OPEN,
            206,
            &[("content-range", "bytes 2-9/10")],
            Ok((Some(8), Some(10))),
        );
    }

    #[test]
    fn another_range_is_refused() {
        for wrong in [
            "bytes 3-5/10",
            "bytes 2-5/10",
            "bytes 2-3/10",
            "bytes 2-4/4",
            "bytes 4-2/10",
            "bytes 2-x/10",
            "bytes 2-4",
            "bytes */10",
            "lines 2-4/10",
            "",
            "bytes 2-18446744073709551615/*",
        ] {
            check(
                RANGE,
                206,
                &[("content-range", wrong)],
                Err(StoreFault::WrongContentRange),
            );
        }
        check(RANGE, 206, &[], Err(StoreFault::WrongContentRange));
        check(
            OPEN,
            206,
            &[("content-range", "bytes 2-8/10")],
            Err(StoreFault::WrongContentRange),
        );
        check(
            None,
            206,
            &[("content-range", "bytes 0-9/10")],
            Err(StoreFault::WrongContentRange),
        );
    }

    #[test]
    fn an_object_that_ends_before_its_range_is_no_other_range() {
        let end = Err(StoreFault::PastTheEnd);
        check(RANGE, 206, &[("content-range", "bytes 2-3/4")], end);
        check(RANGE, 206, &[("content-range", "bytes 2-3/*")], end);
    }

    #[test]
    fn a_whole_object_answers_a_request_for_it_and_no_other() {
        check(
            None,
            200,
            &[("content-length", "10")],
            Ok((Some(10), Some(10))),
        );
        check(None, 200, &[], Ok((None, None)));
        check(
            RANGE,
            200,
            &[("content-length", "10")],
            Err(StoreFault::RangeIgnored),
        );
        check(OPEN, 200, &[], Err(StoreFault::RangeIgnored));
    }

    #[test]
    fn what_is_compressed_is_refused_before_all_else() {
        let zipped = Err(StoreFault::ContentEncoded);
        check(None, 200, &[("content-encoding", "gzip")], zipped);
        check(RANGE, 206, &[("content-encoding", "identity, BR")], zipped);
        check(
            None,
            200,
            &[("content-encoding", "aws-chunked")],
            Ok((None, None)),
        );
        check(
            None,
            200,
            &[("content-encoding", "Identity")],
            Ok((None, None)),
        );
    }

    #[test]
    fn the_forms_of_range_that_canter_sends_are_read() {
        assert_eq!(AskedRange::from_header("bytes=2-4"), RANGE);
        assert_eq!(AskedRange::from_header("bytes=2-"), OPEN);
        for other in [
            "bytes=-5",
            "bytes=4-2",
            "bytes=1-2,4-5",
            "lines=1-2",
            "bytes=0-18446744073709551615",
        ] {
            assert_eq!(AskedRange::from_header(other), None, "{other}");
        }
    }
}
