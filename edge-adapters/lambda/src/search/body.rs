//! Decoding of request bodies: gzip, up to a maximum length.

use std::io::Read;

use flate2::read::MultiGzDecoder;

/// Maximum length of a decoded body, which is Lambda's limit for one without compression. Some
/// kilobytes of gzip can expand to gigabytes.
pub(crate) const MAX_BODY_BYTES: usize = 6 << 20;

/// Maximum number of characters of an encoding that are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// Reason why a body was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) status: u16,
    pub(crate) message: String,
}

/// Decodes a body according to its `content-encoding`.
pub(crate) fn decoded(body: Vec<u8>, encoding: Option<&str>) -> Result<Vec<u8>, Unread> {
    let encoding = encoding.unwrap_or_default().trim().to_ascii_lowercase();
    let body = match encoding.as_str() {
        _ if body.is_empty() => body,
        "" | "identity" => body,
        "gzip" => gunzipped(&body)?,
        other => {
            let shown: String = other.chars().take(MAX_SHOWN_CHARS).collect();
            return Err(Unread {
                status: 415,
                message: format!("bodies in {shown:?} are not read here: send gzip or none"),
            });
        }
    };
    match body.len() > MAX_BODY_BYTES {
        true => Err(Unread {
            status: 413,
            message: format!(
                "the body is longer than the {MAX_BODY_BYTES} bytes that a request may have: ask for less at once"
            ),
        }),
        false => Ok(body),
    }
}

/// Decompresses at most one byte more than the maximum, which reveals that a body is too long.
fn gunzipped(body: &[u8]) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    let mut limited = MultiGzDecoder::new(body).take(MAX_BODY_BYTES as u64 + 1);
    match limited.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(Unread {
            status: 400,
            message: "the body is no gzip, as its content-encoding says, or it broke off"
                .to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn check(body: &[u8], encoding: Option<&str>, expect: Result<&[u8], (u16, &str)>) {
        let read = decoded(body.to_vec(), encoding);
        match (read, expect) {
            (Ok(read), Ok(expect)) => assert!(read == expect, "{encoding:?}"),
            (Err(unread), Err((status, part))) => {
                assert_eq!(unread.status, status, "{unread:?}");
                assert!(unread.message.contains(part), "{unread:?}");
            }
            (read, _) => panic!("{encoding:?}: {:?}", read.map(|bytes| bytes.len())),
        }
    }

    #[test]
    fn a_body_is_read_as_it_is_encoded() {
        let text = br#"{"query": "*"}"#;
        for encoding in [None, Some(""), Some("identity")] {
            check(text, encoding, Ok(text));
        }
        check(&gzipped(text), Some("gzip"), Ok(text));
        check(&gzipped(text), Some(" GZIP "), Ok(text));
        check(b"", Some("gzip"), Ok(b""));
        check(text, Some("gzip"), Err((400, "no gzip")));
        let cut = &gzipped(text)[..20];
        check(cut, Some("gzip"), Err((400, "broke off")));
        for encoding in ["zstd", "br", "gzip, gzip"] {
            check(text, Some(encoding), Err((415, "send gzip or none")));
        }
    }

    #[test]
    fn the_limit_is_on_what_a_body_says() {
        let longest = vec![b' '; MAX_BODY_BYTES];
        check(&gzipped(&longest), Some("gzip"), Ok(&longest));
        check(&longest, None, Ok(&longest));
        let too_long = vec![b' '; MAX_BODY_BYTES + 1];
        for (body, encoding) in [(gzipped(&too_long), Some("gzip")), (too_long, None)] {
            check(&body, encoding, Err((413, "longer than")));
        }
        let bomb = gzipped(&vec![0; 20 * MAX_BODY_BYTES]);
        check(&bomb, Some("gzip"), Err((413, "longer than")));
    }
}
