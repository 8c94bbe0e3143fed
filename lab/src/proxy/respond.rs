//! One answer: the model's draw, and the bytes of the underlying fetcher at the speed of the link.

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::WriteHalf;

use super::super::draw::Fate;
use super::super::network::{AttemptEnd, Exchange};
use super::Server;
use super::head::RequestHead;
use canter_runtime::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange};

/// Number of bytes that are written at once.
const PART_LEN: usize = 64 << 10;

/// State of the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    KeepOpen,
    Close,
    Reset,
}

pub(super) async fn respond(
    server: &Server,
    request: &RequestHead,
    writer: &mut WriteHalf<'_>,
) -> After {
    let (object, range, if_none_match) = match request {
        RequestHead::Get {
            object,
            range,
            if_none_match,
        } => (object, *range, if_none_match.as_deref()),
        RequestHead::Refused(status, why) => return refuse(writer, status, why).await,
    };
    let mut exchange = server
        .network
        .exchange(object, range.unwrap_or(ByteRange::from(0)));
    let fate = exchange.first_byte().await;
    if let Some(status) = fate.status() {
        exchange.end(AttemptEnd::Failed);
        return refuse(writer, status, "as the model wanted it").await;
    }
    match read(server, object, range, if_none_match).await {
        Ok(fetched) if fetched.is_unchanged => {
            exchange.end(AttemptEnd::NotChanged);
            write(writer, b"HTTP/1.1 304 Not Modified\r\n\r\n").await
        }
        Ok(fetched) => send(exchange, fate, range, &fetched, writer).await,
        Err(error) => {
            exchange.end(AttemptEnd::Failed);
            refuse(writer, status_of(error.kind), &error.message).await
        }
    }
}

/// Reads the bytes of the answer. As in HTTP, a range that begins within the object ends with it.
async fn read(
    server: &Server,
    object: &str,
    range: Option<ByteRange>,
    if_none_match: Option<&str>,
) -> Result<FetchedRange, FetchError> {
    let wanted = range.unwrap_or(ByteRange::from(0));
    let answer = match if_none_match {
        Some(etag) => server.inner.fetch_if_changed(object, wanted, etag).await,
        None => server.inner.fetch(object, wanted).await,
    };
    match answer {
        Err(error) if error.kind == FetchErrorKind::Truncated && wanted.len.is_some() => {
            let fetched = server
                .inner
                .fetch(object, ByteRange::from(wanted.offset))
                .await?;
            match fetched.bytes.is_empty() {
                true => Err(error),
                false => Ok(fetched),
            }
        }
        answer => answer,
    }
}

/// Sends the body part by part, as far as its outcome permits.
async fn send(
    mut exchange: Exchange<'_>,
    fate: Fate,
    range: Option<ByteRange>,
    fetched: &FetchedRange,
    writer: &mut WriteHalf<'_>,
) -> After {
    let head = head_of(range, fetched);
    if write(writer, head.as_bytes()).await == After::Close {
        return After::Close;
    }
    let num_bytes = fetched.bytes.len() as u64;
    // At most the length of a slice in memory.
    let body: Bytes = fetched.bytes.slice(..fate.num_bytes_of(num_bytes) as usize);
    for part in body.chunks(PART_LEN) {
        exchange.carry(part.len() as u64).await;
        if write(writer, part).await == After::Close {
            return After::Close;
        }
    }
    let after = match fate {
        _ if num_bytes == 0 => After::KeepOpen,
        Fate::Reset(_) => After::Reset,
        Fate::Truncated(_) => After::Close,
        _ => After::KeepOpen,
    };
    exchange.end(match after {
        After::KeepOpen => AttemptEnd::Whole,
        _ => AttemptEnd::Failed,
    });
    after
}

fn head_of(range: Option<ByteRange>, fetched: &FetchedRange) -> String {
    let num_bytes = fetched.bytes.len() as u64;
    let etag = match &fetched.etag {
        Some(etag) => format!("ETag: {etag}\r\n"),
        None => String::new(),
    };
    let (status, content_range) = match range {
        // Content-Range cannot name an empty range.
        Some(range) if num_bytes > 0 => {
            let last = range.offset + num_bytes - 1;
            let object_len = fetched
                .object_len
                .map_or("*".to_owned(), |len| len.to_string());
            (
                "206 Partial Content",
                format!(
                    "Content-Range: bytes {}-{last}/{object_len}\r\n",
                    range.offset
                ),
            )
        }
        Some(_) => ("416 Range Not Satisfiable", String::new()),
        None => ("200 OK", String::new()),
    };
    format!("HTTP/1.1 {status}\r\nContent-Length: {num_bytes}\r\n{etag}{content_range}\r\n")
}

fn status_of(kind: FetchErrorKind) -> &'static str {
    match kind {
        FetchErrorKind::NotFound => "404 Not Found",
        FetchErrorKind::Truncated => "416 Range Not Satisfiable",
        FetchErrorKind::Denied => "403 Forbidden",
        FetchErrorKind::Unavailable => "503 Service Unavailable",
        _ => "500 Internal Server Error",
    }
}

async fn refuse(writer: &mut WriteHalf<'_>, status: &str, why: &str) -> After {
    let len = why.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\n\r\n{why}"
    );
    write(writer, answer.as_bytes()).await
}

/// Writes bytes; the client may have closed the connection.
async fn write(writer: &mut WriteHalf<'_>, bytes: &[u8]) -> After {
    match writer.write_all(bytes).await {
        Ok(()) => After::KeepOpen,
        Err(_) => After::Close,
    }
}
