//! The contents of a timeline, independent of its output.

use canter_runtime::session::ByteClass;
use canter_runtime::{Profile, RequestRecord, SearchResponse, Wave};

use super::attempts::{Attempts, ShownAttempt};

/// Minimum share of the whole time for a pause between requests to be shown: a shorter one would be
/// invisible.
const MIN_PAUSE_SHARE: u64 = 200;

/// One search over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    /// Description of the search.
    pub(super) title: String,
    /// Its cost, in a line or two.
    pub(super) facts: Vec<String>,
    /// The duration in microseconds; at least until the end of the last bar.
    pub(super) total_us: u64,
    /// The length of the axis in microseconds; at least the duration.
    pub(super) scale_us: u64,
    pub(super) waves: Vec<ShownWave>,
    pub(super) rows: Vec<Row>,
}

/// A wave, from its first request to the end of its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownWave {
    pub(super) phase: Phase,
    pub(super) start_us: u64,
    pub(super) end_us: u64,
}

/// The purpose of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Plan,
    Leaf,
    Documents,
}

impl Phase {
    fn of(wave: &Wave) -> Self {
        let is_plan = |request: &RequestRecord| {
            matches!(request.class, ByteClass::Manifest | ByteClass::Head)
        };
        let is_document = |request: &RequestRecord| request.class == ByteClass::DocStore;
        if wave.requests.iter().any(is_plan) {
            Phase::Plan
        } else if wave.requests.iter().all(is_document) {
            Phase::Documents
        } else {
            Phase::Leaf
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Phase::Plan => "plan",
            Phase::Leaf => "leaf",
            Phase::Documents => "documents",
        }
    }

    /// Returns a name of four letters, for narrow columns.
    pub(super) fn short_name(self) -> &'static str {
        match self {
            Phase::Documents => "docs",
            other => other.name(),
        }
    }
}

/// A bar and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The wave it belongs to, counted from 0.
    pub(super) wave_ord: Option<usize>,
    /// True if it is the first of its wave.
    pub(super) begins_wave: bool,
    pub(super) what: What,
    pub(super) bar: Bar,
}

/// The meaning of a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// No request was under way: the guest computed, or the host read a cache.
    Cpu,
    Request(RequestRecord),
    /// One of several attempts of the request above.
    Attempt(ByteClass, ShownAttempt),
}

/// Times of an event, in microseconds since the search began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) start_us: u64,
    /// Time at which a connection was free, if known.
    pub(super) sent_us: Option<u64>,
    /// Time at which the answer began, if it did and this is known.
    pub(super) first_byte_us: Option<u64>,
    pub(super) end_us: u64,
}

/// Activity in a part of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Waiting for a connection.
    Queued,
    /// Waiting for the first byte.
    Waiting,
    /// Receiving; or the whole bar, if no more is known.
    Busy,
}

impl Bar {
    fn whole(start_us: u64, end_us: u64) -> Self {
        Self {
            start_us,
            sent_us: None,
            first_byte_us: None,
            end_us,
        }
    }

    pub(super) fn took_us(&self) -> u64 {
        self.end_us.saturating_sub(self.start_us)
    }

    /// Returns its parts in order, with their beginnings and ends; none is empty, unless the bar is.
    pub(super) fn parts(&self) -> Vec<(Part, u64, u64)> {
        let Some(sent_us) = self.sent_us else {
            return vec![(Part::Busy, self.start_us, self.end_us)];
        };
        let first_byte_us = self.first_byte_us.unwrap_or(self.end_us);
        let parts = [
            (Part::Queued, self.start_us, sent_us),
            (Part::Waiting, sent_us, first_byte_us),
            (Part::Busy, first_byte_us, self.end_us),
        ];
        let shown: Vec<_> = parts.into_iter().filter(|(_, a, b)| a < b).collect();
        match shown.is_empty() {
            true => vec![(Part::Waiting, self.start_us, self.end_us)],
            false => shown,
        }
    }
}

impl Chart {
    /// Returns the chart of a finished search.
    pub(crate) fn of_response(response: &SearchResponse, attempts: &Attempts) -> Self {
        let elapsed_us = response.json["elapsed_time_micros"].as_u64().unwrap_or(0);
        Self::of_profile(&response.profile, elapsed_us, attempts)
    }

    /// Returns the chart with a title, and lines that describe the cost of the search.
    pub(crate) fn titled(self, title: impl Into<String>, facts: Vec<String>) -> Self {
        Self {
            title: title.into(),
            facts,
            ..self
        }
    }

    /// Returns the chart of an operation with these requests and this duration, at least until the
    /// end of the last request.
    pub(crate) fn of_profile(profile: &Profile, elapsed_us: u64, attempts: &Attempts) -> Self {
        let requests = || profile.waves.iter().flat_map(|wave| &wave.requests);
        let last_end_us = requests().map(|request| request.end_us).max().unwrap_or(0);
        let total_us = elapsed_us.max(last_end_us);
        let waves: Vec<ShownWave> = profile.waves.iter().map(shown_wave).collect();
        let mut pauses = pauses_of(requests(), total_us).into_iter().peekable();
        let mut attempts = attempts.by_request(profile);
        let mut rows = Vec::new();
        for (wave_ord, (wave, shown)) in profile.waves.iter().zip(&waves).enumerate() {
            while let Some(pause) = pauses.next_if(|pause| pause.start_us < shown.start_us) {
                rows.push(cpu_row(pause));
            }
            for (ord, request) in wave.requests.iter().enumerate() {
                let tried = attempts.remove(&(wave_ord, ord)).unwrap_or_default();
                push_request(&mut rows, wave_ord, ord == 0, request, tried);
            }
        }
        rows.extend(pauses.map(cpu_row));
        Self {
            total_us,
            scale_us: total_us,
            waves,
            rows,
            ..Self::default()
        }
    }

    /// Puts charts on the same scale, so that separate drawings can be compared.
    pub(crate) fn on_one_scale<const N: usize>(charts: [Self; N]) -> [Self; N] {
        let scale_us = charts.iter().map(|chart| chart.total_us).max().unwrap_or(0);
        charts.map(|chart| Self { scale_us, ..chart })
    }

    /// Returns the number of requests in the rows after the first `num_shown`.
    pub(super) fn num_requests_after(&self, num_shown: usize) -> u64 {
        let left_out = self.rows.iter().skip(num_shown);
        left_out
            .filter(|row| matches!(row.what, What::Request(_)))
            .count() as u64
    }

    /// Returns the classes of the requests, each once, in the order of their declaration.
    pub(super) fn classes(&self) -> Vec<ByteClass> {
        let is_read = |class: &ByteClass| {
            let mut rows = self.rows.iter();
            rows.any(|row| matches!(&row.what, What::Request(request) if request.class == *class))
        };
        ByteClass::ALL.into_iter().filter(is_read).collect()
    }

    pub(super) fn has_part(&self, part: Part) -> bool {
        self.rows.iter().any(|row| {
            !matches!(row.what, What::Cpu) && row.bar.parts().iter().any(|(has, ..)| *has == part)
        })
    }

    pub(super) fn has_hedge(&self) -> bool {
        let is_hedged = |row: &Row| match &row.what {
            What::Request(request) => request.hedged_us.is_some(),
            _ => false,
        };
        self.rows.iter().any(is_hedged)
    }

    pub(super) fn has_cpu(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.what, What::Cpu))
    }
}

fn shown_wave(wave: &Wave) -> ShownWave {
    let starts = wave.requests.iter().map(|request| request.start_us);
    let ends = wave.requests.iter().map(|request| request.end_us);
    ShownWave {
        phase: Phase::of(wave),
        start_us: starts.min().unwrap_or(0),
        end_us: ends.max().unwrap_or(0),
    }
}

/// Returns the times at which no request was under way, from the beginning to `total_us`.
fn pauses_of<'a>(requests: impl Iterator<Item = &'a RequestRecord>, total_us: u64) -> Vec<Bar> {
    let mut spans: Vec<(u64, u64)> = requests
        .map(|request| (request.start_us, request.end_us))
        .collect();
    spans.push((total_us, total_us));
    spans.sort_unstable();
    let mut pauses = Vec::new();
    let mut busy_until = 0;
    for (start_us, end_us) in spans {
        if start_us > busy_until && (start_us - busy_until) * MIN_PAUSE_SHARE >= total_us {
            pauses.push(Bar::whole(busy_until, start_us));
        }
        busy_until = busy_until.max(end_us);
    }
    pauses
}

fn cpu_row(bar: Bar) -> Row {
    Row {
        wave_ord: None,
        begins_wave: false,
        what: What::Cpu,
        bar,
    }
}

/// Adds a row for the request, and, if it needed several attempts, one for each of them.
fn push_request(
    rows: &mut Vec<Row>,
    wave_ord: usize,
    begins_wave: bool,
    request: &RequestRecord,
    tried: Vec<ShownAttempt>,
) {
    // The last attempt with an answer is the one that counted.
    let answered = tried
        .iter()
        .rev()
        .find(|attempt| attempt.bar.first_byte_us.is_some());
    let bar = match (&tried[..], answered) {
        ([], _) => Bar::whole(request.start_us, request.end_us),
        ([first, ..], answered) => Bar {
            // From the record, so that a request is as long as in the profile.
            start_us: request.start_us,
            end_us: request.end_us,
            sent_us: first.bar.sent_us,
            first_byte_us: answered.and_then(|attempt| attempt.bar.first_byte_us),
        },
    };
    rows.push(Row {
        wave_ord: Some(wave_ord),
        begins_wave,
        what: What::Request(request.clone()),
        bar,
    });
    if tried.len() > 1 {
        rows.extend(tried.into_iter().map(|attempt| Row {
            wave_ord: Some(wave_ord),
            begins_wave: false,
            bar: attempt.bar.clone(),
            what: What::Attempt(request.class, attempt),
        }));
    }
}
