//! Decompression of request bodies, according to their headers.

use std::io::{self, Read};

use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use flate2::read::MultiGzDecoder;

use super::body::Unread;

/// Number of bytes that are inflated at a time.
const PART_BYTES: usize = 64 << 10;

/// Maximum zstd window, as a power of two: 8 MiB, the maximum over HTTP according to RFC 9659. The decoder allocates it
/// however short the body is.
const MAX_WINDOW_LOG: u32 = 23;

/// Compression of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoding {
    Gzip,
    Zstd,
}

impl Encoding {
    /// Returns the encoding in the headers; `None` if the body is plain.
    ///
    /// # Errors
    /// The encoding, if it is unknown.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, String> {
        let Some(encoding) = headers.get(CONTENT_ENCODING) else {
            return Ok(None);
        };
        let encoding = encoding.to_str().unwrap_or("?").trim();
        match encoding.to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(None),
            "gzip" => Ok(Some(Self::Gzip)),
            "zstd" => Ok(Some(Self::Zstd)),
            _ => Err(encoding.to_owned()),
        }
    }
}

/// Inflates a body, and passes it on in parts.
///
/// # Errors
/// An error of `take`, which ends it, or damage of the body.
pub(crate) fn inflate(
    encoding: Encoding,
    packed: &[u8],
    take: &mut dyn FnMut(&[u8]) -> Result<(), Unread>,
) -> Result<(), Unread> {
    let mut reader: Box<dyn Read + '_> = match encoding {
        Encoding::Gzip => Box::new(MultiGzDecoder::new(packed)),
        Encoding::Zstd => {
            let decoder = zstd::Decoder::with_buffer(packed);
            let mut decoder = decoder.map_err(Unread::Damaged)?;
            let limited = decoder.window_log_max(MAX_WINDOW_LOG);
            limited.map_err(Unread::Damaged)?;
            Box::new(decoder)
        }
    };
    let mut part = vec![0; PART_BYTES];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(len) => take(&part[..len])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Unread::Damaged(error)),
        }
    }
}
