//! Examination of a store through its fetcher, for buckets and folders.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;

use super::report::{Check, DoctorOptions, Report, Timing};
use super::timing::{SMALL_BYTES, checks_of, large_len, offsets, timing_of};
use crate::clock::{Clock, SystemClock, timeout_at};
use crate::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher, StoreFault};

/// Length of a range whose content does not matter.
const NUM_BYTES: u64 = 1024;

/// Examines a store by reading `object` with `fetcher`, which should not retry failures. The report
/// refers to it as `shown`. Checks that apply to browsers are skipped.
pub async fn examine_bucket(
    fetcher: &dyn RangeFetcher,
    object: &str,
    shown: &str,
    options: &DoctorOptions,
) -> Report {
    let mut reader = Reader {
        fetcher,
        object,
        options,
        clock: SystemClock::new(),
        etags: BTreeSet::new(),
        num_requests: 0,
        num_bytes: 0,
    };
    let mut report = Report {
        url: shown.to_owned(),
        object_len: None,
        checks: Vec::new(),
        timing: None,
        num_requests: 0,
        num_bytes: 0,
    };
    match reader.read(ByteRange::new(0, 1)).await {
        Err(error) => report.checks.push(unreachable(&error)),
        Ok(first) => {
            report.object_len = first.object_len;
            reader.examine(&first, &mut report).await;
        }
    }
    report.num_requests = reader.num_requests;
    report.num_bytes = reader.num_bytes;
    report
}

struct Reader<'a> {
    fetcher: &'a dyn RangeFetcher,
    object: &'a str,
    options: &'a DoctorOptions,
    clock: SystemClock,
    etags: BTreeSet<String>,
    num_requests: usize,
    num_bytes: u64,
}

impl Reader<'_> {
    async fn examine(&mut self, first: &FetchedRange, report: &mut Report) {
        let reached = format!("the first byte of `{}` came", self.object);
        report.checks.push(Check::ok("reachable", reached));
        match report.object_len.filter(|len| *len > 0) {
            Some(len) => {
                report.checks.extend(self.ranges(len).await);
                report.timing = self.timing(len).await;
            }
            None => {
                let change = "send `Content-Range: bytes FIRST-LAST/LENGTH`";
                let unknown = Check::warning("content_range", "the length is not told", change);
                report.checks.push(unknown);
            }
        }
        report.checks.extend(self.versions(first).await);
        let why = "a browser reads by web address: examine that (https://…)";
        let names = ["cors_allow_origin", "cors_preflight", "cors_expose_headers"];
        report
            .checks
            .extend(names.map(|name| Check::skipped(name, why)));
        report.checks.extend(checks_of(report.timing));
    }

    async fn ranges(&mut self, object_len: u64) -> Vec<Check> {
        let middle = object_len / 2;
        let len = NUM_BYTES.min(object_len - middle);
        let inner = self.read(ByteRange::new(middle, len)).await;
        let before = middle.min(300);
        let outer = self
            .read(ByteRange::new(middle - before, before + len))
            .await;
        let last = object_len.saturating_sub(NUM_BYTES);
        let open = self.read(ByteRange::from(last)).await;
        let beyond = self.read(ByteRange::new(object_len + 1000, 10)).await;
        let same = match (&inner, &outer) {
            (Ok(inner), Ok(outer)) => same_bytes(&inner.bytes, &outer.bytes),
            _ => Check::skipped("range_bytes", "the ranges did not come"),
        };
        vec![
            verdict("range_middle", &inner),
            same,
            verdict("range_open_ended", &open),
            past_end(&beyond),
        ]
    }

    async fn versions(&mut self, first: &FetchedRange) -> Vec<Check> {
        let Some(etag) = &first.etag else {
            let change = "send an ETag: without one an object that is replaced goes unnoticed";
            return vec![Check::warning("etag", "none", change)];
        };
        let condition = match self.is_unchanged(etag).await {
            Ok(true) => Check::ok("if_none_match", "the same version is not sent again"),
            Ok(false) => Check::failed(
                "if_none_match",
                "another version came although nothing was written",
                StoreFault::EtagChanged.remedy(),
            ),
            Err(error) => failed("if_none_match", &error),
        };
        let num_requests = self.num_requests;
        let stable = match self.etags.len() {
            0 | 1 => Check::ok(
                "etag_stable",
                format!("the same in all of {num_requests} requests"),
            ),
            num => Check::failed(
                "etag_stable",
                format!("{num} different ones in {num_requests} requests"),
                StoreFault::EtagChanged.remedy(),
            ),
        };
        vec![Check::ok("etag", etag), condition, stable]
    }

    async fn is_unchanged(&mut self, etag: &str) -> Result<bool, FetchError> {
        self.num_requests += 1;
        let range = ByteRange::from(0);
        let answer = self
            .fetcher
            .fetch_if_changed(self.object, range, etag)
            .await?;
        self.num_bytes += answer.bytes.len() as u64;
        Ok(answer.is_unchanged)
    }

    async fn timing(&mut self, object_len: u64) -> Option<Timing> {
        let mut times = Vec::new();
        for (offset, len) in offsets(object_len, self.options.num_timed_ranges) {
            let took = self.time(ByteRange::new(offset, len)).await;
            times.push(took?);
        }
        let timing = timing_of(times, object_len.clamp(1, SMALL_BYTES))?;
        // The time includes the latency of the headers, so the median latency is subtracted.
        let bytes_per_second = match large_len(object_len) {
            Some(len) => self.time(ByteRange::new(0, len)).await.and_then(|took| {
                let seconds = took.as_secs_f64() - timing.p50_ms / 1e3;
                (seconds > 0.0).then(|| len as f64 / seconds)
            }),
            None => None,
        };
        Some(Timing {
            bytes_per_second,
            ..timing
        })
    }

    async fn time(&mut self, range: ByteRange) -> Option<Duration> {
        let started = self.clock.now();
        self.read(range).await.ok()?;
        Some(self.clock.now().saturating_sub(started))
    }

    async fn read(&mut self, range: ByteRange) -> Result<FetchedRange, FetchError> {
        let refuse = |kind, what: String| Err(FetchError::new(kind, self.object, range, what));
        let bytes_left = self.options.max_bytes.saturating_sub(self.num_bytes);
        let max_requests = self.options.max_requests;
        if self.num_requests >= max_requests || range.len.is_some_and(|len| len > bytes_left) {
            let what = "the bound on requests or bytes was reached".to_owned();
            return refuse(FetchErrorKind::Budget, what);
        }
        self.num_requests += 1;
        let deadline = Some(self.clock.now() + self.options.timeout);
        let fetch = self.fetcher.fetch(self.object, range);
        let Ok(answer) = timeout_at(&self.clock, deadline, fetch).await else {
            let what = format!("no answer within {:?}", self.options.timeout);
            return refuse(FetchErrorKind::Unavailable, what);
        };
        let fetched = answer?;
        self.num_bytes += fetched.bytes.len() as u64;
        self.etags.extend(fetched.etag.clone());
        Ok(fetched)
    }
}

fn unreachable(error: &FetchError) -> Check {
    let change = match error.kind {
        FetchErrorKind::NotFound => "give the URI of an index, or of an object",
        FetchErrorKind::Denied => "check the credentials in the environment and what they may read",
        _ => "check the bucket's name, its region and endpoint (AWS_REGION, AWS_ENDPOINT_URL)",
    };
    let change = error.fault.map_or(change, StoreFault::remedy);
    Check::failed("reachable", &error.message, change)
}

fn failed(name: &'static str, error: &FetchError) -> Check {
    match error.kind {
        FetchErrorKind::Budget => Check::skipped(name, &error.message),
        _ => {
            let change = "try again; if it stays, look into the store's log";
            Check::failed(
                name,
                &error.message,
                error.fault.map_or(change, StoreFault::remedy),
            )
        }
    }
}

fn verdict(name: &'static str, answer: &Result<FetchedRange, FetchError>) -> Check {
    match answer {
        Ok(fetched) => Check::ok(name, format!("{} bytes", fetched.bytes.len())),
        Err(error) => failed(name, error),
    }
}

fn past_end(answer: &Result<FetchedRange, FetchError>) -> Check {
    const NAME: &str = "range_past_end";
    match answer {
        Err(error) if error.fault == Some(StoreFault::PastTheEnd) => {
            Check::ok(NAME, "refused, as it must be")
        }
        Err(error) => failed(NAME, error),
        Ok(_) => Check::failed(
            NAME,
            "bytes came that the object does not have",
            "look into the store's log",
        ),
    }
}

/// Checks that `outer` ends with `inner`.
fn same_bytes(inner: &Bytes, outer: &Bytes) -> Check {
    match outer.ends_with(inner) {
        true => Check::ok("range_bytes", "two ranges that overlap have the same bytes"),
        false => Check::failed(
            "range_bytes",
            "two ranges that overlap have different bytes",
            StoreFault::WrongContentRange.remedy(),
        ),
    }
}
