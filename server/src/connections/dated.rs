//! Connections while the machine has a date. The HTTP library writes it into every answer, and panics where there is none.

use std::pin::Pin;
use std::task::Poll;

use canter_index_builder::checked_unix_time;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

/// Polls what writes the date, and breaks off as soon as there is none.
pub(super) async fn while_dated<F: Future>(mut work: Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| match checked_unix_time() {
        Some(_) => work.as_mut().poll(context).map(Some),
        None => Poll::Ready(None),
    })
    .await
}

/// The date for TLS, whose own one panics where there is none.
#[derive(Debug)]
pub(super) struct Dated;

impl TimeProvider for Dated {
    fn current_time(&self) -> Option<UnixTime> {
        checked_unix_time().map(UnixTime::since_unix_epoch)
    }
}
