//! Body whose length must equal the length that the head of its answer states.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use object_store::client::{HttpError, HttpErrorKind, HttpResponseBody};

use crate::{Misbehaviour, StoreFault};

/// Body that passes data through, and fails if it is longer or shorter than expected.
pub(crate) struct CountedBody {
    inner: HttpResponseBody,
    expected: u64,
    received: u64,
    has_failed: bool,
}

impl CountedBody {
    pub(crate) fn new(inner: HttpResponseBody, expected: u64) -> Self {
        Self {
            inner,
            expected,
            received: 0,
            has_failed: false,
        }
    }

    fn short(&self) -> HttpError {
        let (received, expected) = (self.received, self.expected);
        let seen = format!("only {received} of {expected} bytes came");
        let fault = Misbehaviour::new(StoreFault::ShortBody, seen);
        HttpError::new(HttpErrorKind::Interrupted, fault)
    }

    fn long(&self) -> HttpError {
        let expected = self.expected;
        let seen = format!("more bytes came than the {expected} that were announced");
        let fault = Misbehaviour::new(StoreFault::LongBody, seen);
        HttpError::new(HttpErrorKind::Decode, fault)
    }
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if self.has_failed {
            return Poll::Ready(None);
        }
        let error = match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
            Some(Ok(frame)) => {
                self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
                if self.received <= self.expected {
                    return Poll::Ready(Some(Ok(frame)));
                }
                self.long()
            }
            None if self.received == self.expected => return Poll::Ready(None),
            // A timeout is no sign of a truncated body.
            Some(Err(error)) if error.kind() == HttpErrorKind::Timeout => error,
            Some(Err(_)) | None => self.short(),
        };
        self.has_failed = true;
        Poll::Ready(Some(Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        // The inner body must have ended too, since it may end early.
        self.has_failed || (self.received == self.expected && self.inner.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.expected.saturating_sub(self.received))
    }
}
