//! Activity of a connection with many streams, so that an idle one can be closed.
//!
//! HTTP/1 carries one answer at a time: a client that does not read it blocks the socket, and one that sends no further
//! request delays the header, and both are detected there. HTTP/2 keeps the socket active whatever the streams do, with
//! pings and windows. Therefore answers themselves report when a piece of them was accepted.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Response;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

use super::accept::ConnectionLimits;

/// Maximum size of the pieces of an answer; the next one is sent when the client has made room for it.
const PIECE_BYTES: usize = 64 << 10;

/// Activity of one connection.
#[derive(Clone)]
pub(super) struct Activity(Arc<Mutex<State>>);

struct State {
    /// Number of requests without an answer yet. They have their own deadlines.
    num_running: usize,
    /// Number of answers that the client has not completely received.
    num_answers: usize,
    last: Instant,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            num_running: 0,
            num_answers: 0,
            last: Instant::now(),
        })))
    }

    /// Records an event, and its effect on the state.
    fn note(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        state.last = Instant::now();
    }

    /// Returns the time until which something must happen, or the deadline must be determined again.
    fn deadline(&self, limits: ConnectionLimits) -> Instant {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (state.num_running, state.num_answers) {
            (0, 0) => state.last + limits.header_timeout,
            (0, _) => state.last + limits.answer_timeout,
            _ => Instant::now() + limits.header_timeout,
        }
    }

    /// Completes when nothing has happened for the permitted time.
    pub(super) async fn idle(&self, limits: ConnectionLimits) {
        loop {
            let deadline = self.deadline(limits);
            if deadline <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }

    /// Tracks a request until its answer is received, or the client cancels it.
    pub(super) async fn watch<E>(
        self,
        answer: impl Future<Output = Result<Response<Body>, E>>,
    ) -> Result<Response<Body>, E> {
        let running = Running::begin(self);
        let answer = answer.await?;
        Ok(answer.map(|body| Body::new(running.answered(body))))
    }
}

/// A running request.
struct Running(Activity);

impl Running {
    fn begin(activity: Activity) -> Self {
        activity.note(|state| state.num_running += 1);
        Self(activity)
    }

    fn answered(self, body: Body) -> Pieces {
        self.0.note(|state| state.num_answers += 1);
        Pieces {
            activity: self.0.clone(),
            body,
            rest: Bytes::new(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.note(|state| state.num_running -= 1);
    }
}

/// A body in pieces, each of which is recorded.
struct Pieces {
    activity: Activity,
    body: Body,
    /// Rest of a frame that was longer than a piece.
    rest: Bytes,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
            self.activity.note(|_| ());
            match frame.map(|frame| frame.map(Frame::into_data)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Ok(Ok(data))) => self.rest = data,
            }
        } else {
            self.activity.note(|_| ());
        }
        let len = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(len)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let more = self.rest.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + more);
        }
        hint.set_lower(hint.lower() + more);
        hint
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.activity.note(|state| state.num_answers -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        max_connections: 1,
        header_timeout: Duration::from_secs(10),
        answer_timeout: Duration::from_secs(100),
    };

    /// Returns the time allowed since the last event.
    fn allowed(activity: &Activity) -> Duration {
        let last = activity.0.lock().unwrap().last;
        activity.deadline(LIMITS) - last
    }

    #[tokio::test]
    async fn an_answer_has_its_time_for_each_piece_and_a_connection_for_each_request() {
        let activity = Activity::new();
        assert_eq!(allowed(&activity), LIMITS.header_timeout);
        let running = Running::begin(activity.clone());
        std::thread::sleep(Duration::from_millis(1));
        assert!(allowed(&activity) > LIMITS.header_timeout, "it moves on");
        drop(running);
        assert_eq!(allowed(&activity), LIMITS.header_timeout);

        let body = vec![7; 3 * PIECE_BYTES + 1];
        let answer = async { Ok::<_, ()>(Response::new(Body::from(body.clone()))) };
        let answer = activity.clone().watch(answer).await.unwrap();
        let mut answer = answer.into_body();
        assert_eq!(answer.size_hint().exact(), Some(body.len() as u64));
        let mut taken = Vec::new();
        let mut last = activity.deadline(LIMITS);
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut answer).poll_frame(cx)).await {
            let data = frame.unwrap().into_data().unwrap();
            assert!(data.len() <= PIECE_BYTES);
            taken.extend_from_slice(&data);
            assert_eq!(allowed(&activity), LIMITS.answer_timeout);
            let now = activity.deadline(LIMITS);
            assert!(now > last, "a piece was taken");
            last = now;
            let left = (body.len() - taken.len()) as u64;
            assert_eq!(answer.size_hint().exact(), Some(left));
        }
        assert!(taken == body);
        drop(answer);
        assert_eq!(allowed(&activity), LIMITS.header_timeout);
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_does_not_count() {
        let activity = Activity::new();
        let never = std::future::pending::<Result<Response<Body>, ()>>();
        let watched = Box::pin(activity.clone().watch(never));
        let mut watched = Some(watched);
        let polled = poll_fn(|cx| {
            let is_ready = watched.as_mut().unwrap().as_mut().poll(cx).is_ready();
            Poll::Ready(is_ready)
        });
        assert!(!polled.await);
        assert_eq!(activity.0.lock().unwrap().num_running, 1);
        watched = None;
        assert!(watched.is_none());
        assert_eq!(activity.0.lock().unwrap().num_running, 0);
    }
}
