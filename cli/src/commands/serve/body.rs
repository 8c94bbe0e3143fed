//! Bodies of requests: read in time, up to a length, and within what all of them may take together.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use axum::response::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::{Api, Refuse};

/// What bodies may take.
pub(super) struct Bodies {
    max_bytes: usize,
    max_time: Duration,
    max_held_bytes: usize,
    /// A permit for each byte that may still be held.
    free: Arc<Semaphore>,
}

/// A body that was read, and its share of what may be held until it is dropped.
pub(super) struct HeldBody {
    pub(super) bytes: Vec<u8>,
    _share: Option<OwnedSemaphorePermit>,
}

/// Why a body was not read.
pub(super) enum Unread {
    /// It has more bytes than these.
    TooLong(usize),
    NoRoom,
    TooSlow,
    BrokenOff(axum::Error),
}

impl Bodies {
    pub(super) fn new(max_bytes: u64, max_time: Duration, max_held_bytes: u64) -> Self {
        let len = |num_bytes: u64| usize::try_from(num_bytes).unwrap_or(usize::MAX);
        let max_held_bytes = len(max_held_bytes).min(Semaphore::MAX_PERMITS);
        Self {
            max_bytes: len(max_bytes),
            max_time,
            max_held_bytes,
            free: Arc::new(Semaphore::new(max_held_bytes)),
        }
    }

    /// The longest body that is read.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Reads a body to its end.
    pub(super) async fn read(&self, body: Body) -> Result<HeldBody, Unread> {
        self.read_up_to(body, self.max_bytes).await
    }

    /// Reads a body to its end, which may have no more than `max_bytes`, however long others may be.
    pub(super) async fn read_up_to(
        &self,
        body: Body,
        max_bytes: usize,
    ) -> Result<HeldBody, Unread> {
        let max_bytes = max_bytes.min(self.max_bytes);
        let read = tokio::time::timeout(self.max_time, self.collect(body, max_bytes)).await;
        read.unwrap_or(Err(Unread::TooSlow))
    }

    async fn collect(&self, mut body: Body, max_bytes: usize) -> Result<HeldBody, Unread> {
        if body.size_hint().lower() > max_bytes as u64 {
            return Err(Unread::TooLong(max_bytes));
        }
        let mut bytes = Vec::new();
        let mut share: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame = frame.map_err(Unread::BrokenOff)?;
            // Trailers mean nothing here.
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if data.len() > max_bytes - bytes.len() {
                return Err(Unread::TooLong(max_bytes));
            }
            // Byte by byte as they come: who only announces a long body holds nothing.
            let more = u32::try_from(data.len()).map_err(|_| Unread::TooLong(max_bytes))?;
            let more = Arc::clone(&self.free).try_acquire_many_owned(more);
            let more = more.map_err(|_| Unread::NoRoom)?;
            match &mut share {
                Some(share) => share.merge(more),
                None => share = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
        Ok(HeldBody {
            bytes,
            _share: share,
        })
    }

    /// What to answer where a body was not read.
    pub(super) fn answer_to(&self, unread: &Unread, api: Api) -> Response {
        match unread {
            // What would be longer is no document, and no option allows it.
            Unread::TooLong(max_bytes) if *max_bytes < self.max_bytes => api.last_refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the body has more than the {max_bytes} bytes that such a request may have"),
            ),
            Unread::TooLong(max_bytes) => api.last_refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!(
                    "the body has more than {max_bytes} bytes: send or ask for less at once, or raise --max-body-bytes \
                     (--max-write-bytes for documents)"
                ),
            ),
            Unread::NoRoom => api.last_refusal(
                StatusCode::TOO_MANY_REQUESTS,
                &format!(
                    "the bodies of other requests take all of {} bytes: try again, or raise \
                     --max-held-bytes",
                    self.max_held_bytes
                ),
            ),
            Unread::TooSlow => api.last_refusal(
                StatusCode::REQUEST_TIMEOUT,
                &format!(
                    "the body had not come after {:?}: send it faster, or raise --body-timeout",
                    self.max_time
                ),
            ),
            Unread::BrokenOff(error) => api.refusal(
                StatusCode::BAD_REQUEST,
                &format!("the body could not be read: {error}"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bodies: &Bodies, body: &'static str) -> Result<HeldBody, u16> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let read = runtime.unwrap().block_on(bodies.read(Body::from(body)));
        read.map_err(|unread| bodies.answer_to(&unread, Api::Quickwit).status().as_u16())
    }

    #[test]
    fn bodies_share_what_may_be_held_and_give_it_back() {
        let bodies = Bodies::new(6, Duration::from_secs(60), 10);
        let held = read(&bodies, "123456").unwrap();
        assert_eq!(held.bytes, b"123456");
        assert_eq!(read(&bodies, "12345").err(), Some(429));
        let small = read(&bodies, "1234").unwrap();
        drop(held);
        assert!(read(&bodies, "12345").is_ok());
        drop(small);
        assert_eq!(read(&bodies, "1234567").err(), Some(413));
        assert_eq!(read(&bodies, "").unwrap().bytes, b"");
        assert_eq!(bodies.free.available_permits(), 10);
    }
}
