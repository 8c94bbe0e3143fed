//! The attempts of each request: only the simulated store knows them all.

use std::collections::HashMap;
use std::time::Duration;

use canter_lab::{Attempt, AttemptEnd};
use canter_runtime::{Profile, RequestRecord};

use super::chart::Bar;

/// The attempts of one search, as recorded by its store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    attempts: Vec<Attempt>,
    /// Start of the search, on the store's clock.
    started: Duration,
}

/// One attempt of a request that needed several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownAttempt {
    pub(super) kind: AttemptKind,
    pub(super) end: AttemptEnd,
    pub(super) num_bytes: u64,
    pub(super) bar: Bar,
}

/// Reason for an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptKind {
    First,
    /// After a failure; counted from 1.
    Retry(usize),
    /// Sent beside a slow attempt.
    Hedge,
}

impl AttemptKind {
    pub(super) fn name(self) -> String {
        match self {
            AttemptKind::First => "first attempt".to_owned(),
            AttemptKind::Retry(num) => format!("retry {num}"),
            AttemptKind::Hedge => "hedge".to_owned(),
        }
    }
}

/// A request by its wave and its position in it.
pub(super) type Place = (usize, usize);

impl Attempts {
    /// Creates the attempts of a search that began at `started`.
    pub(crate) fn new(attempts: Vec<Attempt>, started: Duration) -> Self {
        Self { attempts, started }
    }

    /// Returns the attempts of each request, in chronological order.
    pub(super) fn by_request(&self, profile: &Profile) -> HashMap<Place, Vec<ShownAttempt>> {
        let mut requests: HashMap<(&str, u64), Vec<(Place, &RequestRecord)>> = HashMap::new();
        for (wave_ord, wave) in profile.waves.iter().enumerate() {
            for (ord, request) in wave.requests.iter().enumerate() {
                let key = (request.object.as_str(), request.offset);
                let place = (wave_ord, ord);
                requests.entry(key).or_default().push((place, request));
            }
        }
        let mut sorted: Vec<&Attempt> = self.attempts.iter().collect();
        sorted.sort_by_key(|attempt| attempt.asked_at);
        let mut by_request: HashMap<Place, Vec<ShownAttempt>> = HashMap::new();
        for attempt in sorted {
            let bar = self.bar_of(attempt);
            let key = (attempt.object.as_str(), attempt.range.offset);
            // A range that is read again belongs to the latest request.
            let owner = requests.get(&key).and_then(|requests| {
                let spans = |(_, request): &&(Place, &RequestRecord)| {
                    (request.start_us..=request.end_us).contains(&bar.start_us)
                };
                let candidates = requests.iter().filter(spans);
                candidates.max_by_key(|(_, request)| request.start_us)
            });
            if let Some((place, _)) = owner {
                let others = by_request.entry(*place).or_default();
                let shown = ShownAttempt {
                    kind: kind_of(others, &bar),
                    end: attempt.end,
                    num_bytes: attempt.num_bytes,
                    bar,
                };
                others.push(shown);
            }
        }
        by_request
    }

    fn bar_of(&self, attempt: &Attempt) -> Bar {
        let micros = |moment: Duration| {
            let since = moment.saturating_sub(self.started).as_micros();
            u64::try_from(since).unwrap_or(u64::MAX)
        };
        Bar {
            start_us: micros(attempt.asked_at),
            // An attempt that was never sent spent all of its time waiting.
            sent_us: Some(micros(attempt.sent_at.unwrap_or(attempt.ended_at))),
            first_byte_us: attempt.first_byte_at.map(micros),
            end_us: micros(attempt.ended_at),
        }
    }
}

/// Returns the kind of an attempt: one that begins while another is under way is a hedge.
fn kind_of(before: &[ShownAttempt], bar: &Bar) -> AttemptKind {
    let is_beside = |other: &ShownAttempt| other.bar.end_us > bar.start_us;
    let is_retry = |other: &&ShownAttempt| matches!(other.kind, AttemptKind::Retry(_));
    match before {
        [] => AttemptKind::First,
        _ if before.iter().any(is_beside) => AttemptKind::Hedge,
        _ => AttemptKind::Retry(before.iter().filter(is_retry).count() + 1),
    }
}
