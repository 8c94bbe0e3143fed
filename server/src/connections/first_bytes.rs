//! Detection of HTTP/1 or HTTP/2 without TLS.

use std::io::{self, Cursor};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, join, split};

/// First bytes of every HTTP/2 connection (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Reads until the protocol is known. Returns the connection, with the read bytes put back, and whether it is HTTP/2.
pub(super) async fn begun<T: AsyncRead + AsyncWrite + Unpin>(
    mut stream: T,
) -> io::Result<(impl AsyncRead + AsyncWrite + Unpin, bool)> {
    let mut first = Vec::with_capacity(PREFACE.len());
    while first.len() < PREFACE.len() && PREFACE.starts_with(&first) {
        let left = PREFACE.len() - first.len();
        if (&mut stream).take(left as u64).read_buf(&mut first).await? == 0 {
            break;
        }
    }
    let is_http2 = first == PREFACE;
    let (rest, writer) = split(stream);
    Ok((join(Cursor::new(first).chain(rest), writer), is_http2))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn what_is_spoken_is_told_from_as_little_as_it_takes_and_nothing_is_lost() {
        let check = async |sent: &'static [u8], ends: bool, expect: bool| {
            for at in 0..=sent.len() {
                let (ours, mut theirs) = duplex(1024);
                let sending = async {
                    theirs.write_all(&sent[..at]).await.unwrap();
                    tokio::task::yield_now().await;
                    theirs.write_all(&sent[at..]).await.unwrap();
                    if ends {
                        theirs.shutdown().await.unwrap();
                    }
                    theirs
                };
                let (read, mut theirs) = tokio::join!(begun(ours), sending);
                let (mut read, is_http2) = read.unwrap();
                assert_eq!(is_http2, expect, "{sent:?}");
                theirs.shutdown().await.unwrap();
                let mut all = Vec::new();
                read.read_to_end(&mut all).await.unwrap();
                assert_eq!(all, sent);
            }
        };
        check(b"G", false, false).await;
        check(b"GET / HTTP/1.1\r\n\r\n", false, false).await;
        check(b"PROPFIND / HTTP/1.1\r\n\r\n", false, false).await;
        check(b"PRI * HTTP/1.1\r\n", false, false).await;
        check(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore", false, true).await;
        check(b"PRI * HTTP/2.0", true, false).await;
        check(b"", true, false).await;
    }
}
