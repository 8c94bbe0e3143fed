//! I/O of a search as a `Server-Timing` header, which browsers show next to the request.
//!
//! ```text
//!   total;dur=41.2, network;dur=33.1;desc="5 requests, 12345 bytes", guest;dur=8.02,
//!   wave1;dur=15.0;desc="1 request", wave2;dur=18.1;desc="4 requests", cache;desc="7 of 12 reads"
//! ```

use std::fmt::{self, Write};
use std::time::Duration;

use crate::Profile;
use crate::observe::profile::Wave;

/// Maximum number of waves that are listed separately, since servers limit the length of headers.
const MAX_WAVES: usize = 12;

/// Value of a `Server-Timing` header, built entry by entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTiming {
    value: String,
}

impl ServerTiming {
    /// Creates a value without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry. Characters that are invalid in a token (RFC 9110, 5.6.2) become `-` in the
    /// name, and characters that are invalid in a quoted string become `?` in the description.
    pub fn push(&mut self, name: &str, took: Option<Duration>, description: Option<&str>) {
        if !self.value.is_empty() {
            self.value.push_str(", ");
        }
        let token = |c: char| if is_token_char(c) { c } else { '-' };
        match name.is_empty() {
            true => self.value.push('-'),
            false => self.value.extend(name.chars().map(token)),
        }
        if let Some(took) = took {
            let millis = took.as_micros() as f64 / 1000.0;
            // Writing to a string cannot fail.
            let _ = write!(self.value, ";dur={millis}");
        }
        if let Some(description) = description {
            self.value.push_str(";desc=\"");
            for c in description.chars() {
                match c {
                    '"' | '\\' => self.value.extend(['\\', c]),
                    ' '..='~' => self.value.push(c),
                    _ => self.value.push('?'),
                }
            }
            self.value.push('"');
        }
    }

    /// Returns the header's value, which only contains visible ASCII and spaces.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for ServerTiming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

impl Profile {
    /// Returns the costs of the search as entries of a `Server-Timing` header: `total`, `network`
    /// (the time with at least one request in progress), `guest` (computing time, summed over
    /// parallel instances), the waves from `wave1` on, and `cache`. `elapsed` is the time from the
    /// call to the answer.
    pub fn server_timing(&self, elapsed: Duration) -> ServerTiming {
        let mut timing = ServerTiming::new();
        timing.push("total", Some(elapsed), None);
        let requests = count(self.num_requests, "request");
        let network = format!("{requests}, {}", count(self.num_bytes, "byte"));
        timing.push("network", Some(network_time(&self.waves)), Some(&network));
        let guest = Duration::from_micros(self.guest_us);
        timing.push("guest", Some(guest), None);
        for (wave, name) in self.waves.iter().take(MAX_WAVES).zip(1..) {
            let took = network_time(std::slice::from_ref(wave));
            let requests = count(wave.requests.len() as u64, "request");
            timing.push(&format!("wave{name}"), Some(took), Some(&requests));
        }
        let num_hits = self.num_cache_hits.total();
        let num_reads = num_hits + self.num_cache_misses.total();
        if num_reads > 0 {
            let hits = format!("{num_hits} of {}", count(num_reads, "read"));
            timing.push("cache", None, Some(&hits));
        }
        timing
    }
}

/// Returns the time in which at least one request of `waves` was in progress.
fn network_time(waves: &[Wave]) -> Duration {
    let mut spans: Vec<(u64, u64)> = waves
        .iter()
        .flat_map(|wave| &wave.requests)
        .map(|request| (request.start_us, request.end_us))
        .collect();
    spans.sort_unstable();
    let (mut total_us, mut covered_until) = (0, 0);
    for (start, end) in spans {
        total_us += end.saturating_sub(start.max(covered_until));
        covered_until = covered_until.max(end);
    }
    Duration::from_micros(total_us)
}

fn count(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestRecord;
    use crate::session::ByteClass;

    fn wave(spans_us: &[(u64, u64)]) -> Wave {
        let requests = spans_us.iter().map(|&(start_us, end_us)| RequestRecord {
            object: "a".to_owned(),
            offset: 0,
            length: 100,
            class: ByteClass::Postings,
            num_reads: 1,
            num_retries: 0,
            hedged_us: None,
            start_us,
            end_us,
            error: None,
        });
        Wave {
            requests: requests.collect(),
        }
    }

    #[test]
    fn a_profile_becomes_a_header() {
        let mut profile = Profile::default();
        profile.push_wave(wave(&[(0, 15_000)]));
        profile.push_wave(wave(&[
            (20_000, 30_000),
            (20_000, 38_100),
            (22_000, 25_000),
        ]));
        profile.guest_us = 8_020;
        profile.num_cache_hits.add(ByteClass::Postings, 7);
        profile.num_cache_misses.add(ByteClass::Head, 5);
        let timing = profile.server_timing(Duration::from_micros(41_200));
        assert_eq!(
            timing.as_str(),
            "total;dur=41.2, network;dur=33.1;desc=\"4 requests, 400 bytes\", guest;dur=8.02, \
             wave1;dur=15;desc=\"1 request\", wave2;dur=18.1;desc=\"3 requests\", \
             cache;desc=\"7 of 12 reads\""
        );
    }

    #[test]
    fn a_search_without_requests_has_no_waves_and_no_cache() {
        let timing = Profile::default().server_timing(Duration::from_millis(1));
        let expect = "total;dur=1, network;dur=0;desc=\"0 requests, 0 bytes\", guest;dur=0";
        assert_eq!(timing.to_string(), expect);
    }

    #[test]
    fn a_header_stays_short_with_many_waves() {
        let mut profile = Profile::default();
        (0..500).for_each(|_| profile.push_wave(wave(&[(0, u64::MAX)])));
        assert!(profile.server_timing(Duration::MAX).as_str().len() < 1024);
    }

    #[test]
    fn names_are_tokens_and_descriptions_quoted_strings() {
        let check = |name: &str, description: &str, expect: &str| {
            let mut timing = ServerTiming::new();
            timing.push(name, None, Some(description));
            assert_eq!(timing.as_str(), expect);
        };
        check("db", "plain", "db;desc=\"plain\"");
        check("a b;c=d,e", "", "a-b-c-d-e;desc=\"\"");
        check("", "x", "-;desc=\"x\"");
        check("ü", "a\"b\\c", "-;desc=\"a\\\"b\\\\c\"");
        check("n", "line\r\nX-Evil: é", "n;desc=\"line??X-Evil: ?\"");
    }

    #[test]
    fn time_that_requests_share_counts_once() {
        let check = |spans: &[(u64, u64)], expect: u64| {
            assert_eq!(network_time(&[wave(spans)]), Duration::from_micros(expect));
        };
        check(&[], 0);
        check(&[(0, 10), (5, 15)], 15);
        check(&[(20, 30), (0, 10)], 20);
        check(&[(0, 100), (10, 20)], 100);
        check(&[(10, 10), (50, 40)], 0);
    }
}
