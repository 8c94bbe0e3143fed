//! Conversion of durations to the figures of a report.

use std::time::Duration;

use super::report::{Check, Timing};

/// Length of a range that is timed.
pub(super) const SMALL_BYTES: u64 = 4096;
/// Length of the range that determines the bandwidth.
pub(super) const LARGE_BYTES: u64 = 4 << 20;
/// Minimum length of a range from which the bandwidth can be determined.
const MIN_LARGE_BYTES: u64 = 64 << 10;

/// Returns offset and length of the small ranges, spread over the object. Ranges only repeat if the
/// object is too small.
pub(super) fn offsets(object_len: u64, num_ranges: usize) -> impl Iterator<Item = (u64, u64)> {
    let len = object_len.clamp(1, SMALL_BYTES);
    let room = object_len.saturating_sub(len);
    let num_ranges = num_ranges as u64;
    (0..num_ranges).map(move |ord| {
        let offset = u128::from(room) * u128::from(ord) / u128::from(num_ranges.max(2) - 1);
        (u64::try_from(offset).unwrap_or(0).min(room), len)
    })
}

/// Returns the length of the range that determines the bandwidth, if the object is long enough.
pub(super) fn large_len(object_len: u64) -> Option<u64> {
    let len = object_len.min(LARGE_BYTES);
    (len >= MIN_LARGE_BYTES).then_some(len)
}

/// Returns the figures for ranges with these times.
pub(super) fn timing_of(mut times: Vec<Duration>, num_range_bytes: u64) -> Option<Timing> {
    times.sort_unstable();
    let quantile = |percent: usize| {
        // Smallest time that is not exceeded by this percentage of ranges.
        let rank = (times.len() * percent).div_ceil(100).max(1);
        times.get(rank - 1).map(|time| time.as_secs_f64() * 1e3)
    };
    Some(Timing {
        num_ranges: times.len(),
        num_range_bytes,
        p50_ms: quantile(50)?,
        p95_ms: quantile(95)?,
        bytes_per_second: None,
    })
}

/// Returns the corresponding checks of the report.
pub(super) fn checks_of(timing: Option<Timing>) -> Vec<Check> {
    let Some(timing) = timing else {
        let why = "ranges did not come";
        return vec![
            Check::skipped("latency", why),
            Check::skipped("throughput", why),
        ];
    };
    let latency = format!(
        "p50 {:.1} ms, p95 {:.1} ms over {} ranges of {} bytes",
        timing.p50_ms, timing.p95_ms, timing.num_ranges, timing.num_range_bytes
    );
    let throughput = match timing.bytes_per_second {
        Some(speed) => Check::ok("throughput", format!("{:.1} MB/s", speed / 1e6)),
        None => Check::skipped("throughput", "the object is too short to show it"),
    };
    vec![Check::ok("latency", latency), throughput]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_measured() {
        let check = |millis: &[u64], p50: f64, p95: f64| {
            let times = millis.iter().map(|ms| Duration::from_millis(*ms)).collect();
            let timing = timing_of(times, 1).unwrap();
            assert_eq!((timing.p50_ms, timing.p95_ms), (p50, p95), "{millis:?}");
        };
        check(&[7], 7.0, 7.0);
        check(&[3, 1], 1.0, 3.0);
        check(&(1..=100).rev().collect::<Vec<u64>>(), 50.0, 95.0);
        check(&(1..=20).collect::<Vec<u64>>(), 10.0, 19.0);
        assert!(timing_of(Vec::new(), 1).is_none());
    }

    #[test]
    fn timed_ranges_lie_in_the_object() {
        for object_len in [1, 2, 4095, 4096, 4097, 1_000_000, u64::MAX] {
            for num_ranges in [0, 1, 2, 20] {
                let ranges: Vec<(u64, u64)> = offsets(object_len, num_ranges).collect();
                assert_eq!(ranges.len(), num_ranges);
                for (offset, len) in ranges {
                    assert!(
                        len > 0 && offset + len <= object_len,
                        "{object_len} {offset} {len}"
                    );
                }
            }
        }
    }
}
