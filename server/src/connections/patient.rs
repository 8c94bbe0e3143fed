//! A connection whose client must accept the data it is sent.
//!
//! A client that never reads its answer fills the system's buffers and then blocks forever, and its
//! answer and its connection would be held as long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Reads and writes through `inner`; fails a write that has not moved for `max_wait`.
pub(super) struct Patient<T> {
    inner: T,
    max_wait: Duration,
    /// Timer since a write first found no room.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    pub(super) fn new(inner: T, max_wait: Duration) -> Self {
        Self {
            inner,
            max_wait,
            waiting: None,
        }
    }

    /// Returns the result of a write, or an error if it has waited for too long.
    fn bounded<V>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<V>>,
    ) -> Poll<io::Result<V>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let max_wait = self.max_wait;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(sleep(max_wait)));
        match waiting.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let message = "the client takes nothing of its answer";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.bounded(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.bounded(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.bounded(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_write_that_nobody_takes_fails_and_one_that_is_taken_does_not() {
        let (ours, mut theirs) = duplex(16);
        let mut ours = Patient::new(ours, Duration::from_millis(50));
        let error = ours.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let (near, far) = duplex(16);
        let mut near = Patient::new(near, Duration::from_secs(600));
        drop(ours);
        let reading = tokio::spawn(async move {
            let mut bytes = Vec::new();
            let mut far = far;
            far.read_to_end(&mut bytes).await.map(|_| bytes.len())
        });
        near.write_all(&[0; 100]).await.unwrap();
        near.shutdown().await.unwrap();
        assert_eq!(reading.await.unwrap().unwrap(), 100);
        let mut left = Vec::new();
        assert_eq!(theirs.read_to_end(&mut left).await.unwrap(), 16);
    }
}
