//! Connections while the machine has a valid date. The HTTP library writes it into every answer, and panics without
//! one.

use std::pin::Pin;
use std::task::Poll;

use canter_index_builder::checked_unix_time;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

/// Polls work that writes the date, and stops as soon as the date is invalid.
pub(super) async fn while_dated<F: Future>(mut work: Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| match checked_unix_time() {
        Some(_) => work.as_mut().poll(context).map(Some),
        None => Poll::Ready(None),
    })
    .await
}

/// The clock for TLS, whose default one panics without a valid date.
#[derive(Debug)]
pub(super) struct Dated;

impl TimeProvider for Dated {
    fn current_time(&self) -> Option<UnixTime> {
        checked_unix_time().map(UnixTime::since_unix_epoch)
    }
}
