//! Writing down what a session sent.

use super::flights::Landed;
use super::search_io::range_of;
use super::session_io::{Awaited, SessionIo, TIME_IS_UP};
use crate::fetch::FetchErrorKind;
use crate::profile::{RequestRecord, Wave};

impl SessionIo {
    /// Writes down a request that this session sent.
    pub(super) fn record(&mut self, awaited: &Awaited, landed: &Landed, wave: &mut Wave) {
        if !awaited.is_ours || !landed.was_sent {
            self.profile.num_shared_requests += 1;
            self.io.shared.metrics.count_shared_request();
            return;
        }
        if was_refused(awaited, landed) {
            return;
        }
        let (num_retries, hedge) = match &landed.result {
            Ok(fetched) => (fetched.num_retries, fetched.hedge),
            Err(error) => (error.num_retries, error.hedge),
        };
        wave.requests.push(RequestRecord {
            object: awaited.request.object.clone(),
            offset: awaited.request.bytes.start(),
            length: match &landed.result {
                Ok(_) => landed.num_bytes,
                Err(_) => range_of(&awaited.request.bytes).len.unwrap_or(0),
            },
            class: awaited.request.class,
            num_reads: awaited.request.num_reads,
            num_retries,
            hedged_us: hedge.map(|hedge| self.io.micros(hedge.at)),
            start_us: self.io.micros(landed.start),
            end_us: self.io.micros(landed.end),
            error: landed
                .result
                .as_ref()
                .err()
                .map(|error| error.message.clone()),
        });
    }

    /// Writes down a request that was given up.
    pub(super) fn record_late(&mut self, awaited: &Awaited, wave: &mut Wave) {
        if !awaited.is_ours {
            return;
        }
        wave.requests.push(RequestRecord {
            object: awaited.request.object.clone(),
            offset: awaited.request.bytes.start(),
            length: 0,
            class: awaited.request.class,
            num_reads: awaited.request.num_reads,
            num_retries: 0,
            hedged_us: None,
            start_us: self.io.micros(self.wave_started),
            end_us: self.io.micros(self.io.shared.clock.now()),
            error: Some(TIME_IS_UP.to_owned()),
        });
    }
}

/// Whether the budget had nothing left for it, so that no request was sent. (A read to the end of an
/// object fails in the same way if the object is too long, but after it was sent.)
fn was_refused(awaited: &Awaited, landed: &Landed) -> bool {
    let is_open_ended = range_of(&awaited.request.bytes).len.is_none();
    match &landed.result {
        Err(error) => {
            error.kind == FetchErrorKind::Budget
                && !is_open_ended
                && error.num_retries == 0
                && error.hedge.is_none()
        }
        Ok(_) => false,
    }
}
