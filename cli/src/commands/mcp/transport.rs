//! Messages in and out, with a bound on their length and on how many wait for an answer.
//!
//! How messages are written is the SDK's. It would hold a line of any length, and any number of answers that the client
//! does not take.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::exit::warn;

/// Longest message of a client. Queries and aggregations have a kilobyte.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Most requests that are read before one of them is answered. Each ends at its deadline.
const MAX_UNANSWERED: usize = 256;

/// Messages as lines.
pub(super) fn bounded<R, W>(
    input: R,
    output: W,
) -> Unanswered<AsyncRwTransport<RoleServer, BoundedLines<R>, W>>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = BoundedLines {
        inner: input,
        max_bytes: MAX_MESSAGE_BYTES,
        line_bytes: 0,
    };
    Unanswered {
        inner: AsyncRwTransport::new_server(lines, output),
        free: Arc::new(Semaphore::new(MAX_UNANSWERED)),
        places: HashMap::new(),
    }
}

/// Reads no further while too many requests are not answered.
pub(super) struct Unanswered<T> {
    inner: T,
    free: Arc<Semaphore>,
    /// One for each request that was read, until its answer is written.
    places: HashMap<RequestId, OwnedSemaphorePermit>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Unanswered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let place = answered.and_then(|id| self.places.remove(id));
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            drop(place);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let place = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => {
                self.places.insert(request.id.clone(), place);
            }
            // What is cancelled is not answered.
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.places.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// A reader that breaks off at a line that is too long.
pub(super) struct BoundedLines<R> {
    inner: R,
    max_bytes: usize,
    /// Of the line that is being read.
    line_bytes: usize,
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
        let read = buf.filled().get(before..).unwrap_or_default();
        for (place, part) in read.split(|byte| *byte == b'\n').enumerate() {
            // What stands before the first end of a line goes on with the line of before.
            if place > 0 {
                this.line_bytes = 0;
            }
            this.line_bytes += part.len();
            if this.line_bytes > this.max_bytes {
                let message = format!(
                    "a message of the client has more than {} bytes, and nothing is read behind it",
                    this.max_bytes
                );
                warn(&message);
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// Reads four bytes at a time.
    fn read(text: &str, max_bytes: usize) -> Result<Vec<u8>, io::ErrorKind> {
        let mut lines = BoundedLines {
            inner: text.as_bytes(),
            max_bytes,
            line_bytes: 0,
        };
        let all = async {
            let mut read = Vec::new();
            let mut some = [0; 4];
            loop {
                match lines.read(&mut some).await {
                    Ok(0) => return Ok(read),
                    Ok(len) => read.extend_from_slice(&some[..len]),
                    Err(error) => return Err(error.kind()),
                }
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(all)
    }

    #[test]
    fn a_line_has_a_longest_length_however_it_comes() {
        let text = "12345678\n\n1234\n123456789";
        assert_eq!(read(text, 9), Ok(text.as_bytes().to_vec()));
        assert_eq!(read(text, 8), Err(io::ErrorKind::InvalidData));
        assert_eq!(read("", 1), Ok(Vec::new()));
    }
}
