//! Connection: version, reuse, and the speed of ranges.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use canter_stores::AskedRange;
use reqwest::Version;

use super::probe::{Probe, Seen};
use super::ranges::judge;
use super::report::{Check, Timing};
use super::timing::{SMALL_BYTES, large_len, offsets, timing_of};

/// Minimum number of ranges that shows whether connections are reused.
const MIN_READS: usize = 4;

/// Results of reading many ranges.
#[derive(Default)]
pub(super) struct Reads {
    times: Vec<Duration>,
    locals: BTreeSet<SocketAddr>,
    num_read: usize,
    bytes_per_second: Option<f64>,
}

/// Reads ranges one by one, within the limits.
pub(super) async fn read(probe: &mut Probe, object_len: u64) -> Reads {
    let mut reads = Reads::default();
    for (offset, len) in offsets(object_len, probe.options.num_timed_ranges) {
        let Some(seen) = range(probe, offset, len).await else {
            return reads;
        };
        reads.times.push(seen.first_byte);
        reads.locals.extend(seen.local);
        reads.num_read += 1;
    }
    if let Some(len) = large_len(object_len) {
        let seen = range(probe, 0, len).await;
        let took = seen.map(|seen| seen.rest).filter(|took| !took.is_zero());
        reads.bytes_per_second = took.map(|took| len as f64 / took.as_secs_f64());
    }
    reads
}

/// Reads a range. Returns `None` if the answer does not match the request.
async fn range(probe: &mut Probe, first: u64, len: u64) -> Option<Seen> {
    let header = format!("bytes={first}-{}", first + len - 1);
    let seen = probe.range(&header, len).await.ok()?;
    let len = Some(len);
    judge(AskedRange { first, len }, &seen).ok()?;
    Some(seen)
}

impl Reads {
    pub(super) fn timing(&self, object_len: u64) -> Option<Timing> {
        let timing = timing_of(self.times.clone(), object_len.clamp(1, SMALL_BYTES))?;
        Some(Timing {
            bytes_per_second: self.bytes_per_second,
            ..timing
        })
    }

    pub(super) fn keep_alive(&self) -> Check {
        const NAME: &str = "keep_alive";
        let (num_read, num_connections) = (self.num_read, self.locals.len());
        let seen = match num_connections {
            1 => format!("one connection for {num_read} ranges"),
            _ => {
                format!("{num_connections} connections for {num_read} ranges, one after the other")
            }
        };
        match num_connections {
            _ if num_read < MIN_READS => Check::skipped(NAME, "too few ranges came"),
            0 => Check::skipped(NAME, "the connection cannot be seen from here"),
            // A client may occasionally open another connection because the first one is not free
            // in time.
            _ if num_connections * 2 <= num_read => Check::ok(NAME, seen),
            _ => Check::warning(
                NAME,
                seen,
                "keep connections open (nginx: `keepalive_timeout 60s; keepalive_requests 1000;`): each \
                 new one costs one to three round trips",
            ),
        }
    }
}

pub(super) fn http_version(first: &Seen) -> Check {
    const NAME: &str = "http_version";
    let is_secure = first.url.scheme() == "https";
    match first.version {
        Version::HTTP_09 | Version::HTTP_10 => Check::warning(
            NAME,
            format!("{:?}", first.version),
            "speak HTTP/1.1 or HTTP/2: before that, each range needs a connection of its own",
        ),
        Version::HTTP_11 if is_secure => Check::ok(NAME, "HTTP/1.1; HTTP/2 is not offered"),
        version => Check::ok(NAME, format!("{version:?}")),
    }
}
