//! Whether a client speaks HTTP/1 or HTTP/2 where no TLS says so.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// What every connection of HTTP/2 begins with (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection whose first bytes were read already: they come again.
pub(super) struct Begun<T> {
    inner: T,
    first: [u8; PREFACE.len()],
    next: usize,
    len: usize,
}

impl<T: AsyncRead + Unpin> Begun<T> {
    /// Reads until it is clear what is spoken, and says whether that is HTTP/2.
    pub(super) async fn read(mut inner: T) -> io::Result<(Self, bool)> {
        let mut first = [0; PREFACE.len()];
        let mut len = 0;
        while len < PREFACE.len() && PREFACE.starts_with(&first[..len]) {
            match inner.read(&mut first[len..]).await? {
                0 => break,
                more => len += more,
            }
        }
        let is_http2 = first == PREFACE;
        let begun = Self {
            inner,
            first,
            next: 0,
            len,
        };
        Ok((begun, is_http2))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Begun<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.next == self.len {
            return Pin::new(&mut self.inner).poll_read(cx, buf);
        }
        let end = self.len.min(self.next + buf.remaining());
        buf.put_slice(&self.first[self.next..end]);
        self.next = end;
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Begun<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
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
                let (begun, mut theirs) = tokio::join!(Begun::read(ours), sending);
                let (mut begun, is_http2) = begun.unwrap();
                assert_eq!(is_http2, expect, "{sent:?}");
                theirs.shutdown().await.unwrap();
                let mut all = Vec::new();
                begun.read_to_end(&mut all).await.unwrap();
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
