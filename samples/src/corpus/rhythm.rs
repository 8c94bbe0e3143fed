//! Distribution of documents over time: a daily rhythm, quiet weekends, and a few bursts of errors.
//!
//! Time is divided into buckets of at most an hour, each with an integer weight. Document `i` of
//! `n` is at `i / n` of the summed weight, so timestamps increase with the document's number and
//! need neither sorting nor floating point.

use super::super::rng::mix;

const HOUR_SECS: u64 = 3_600;
const DAY_SECS: u64 = 24 * HOUR_SECS;
/// Minimum number of buckets of a span (as long as each lasts at least a second).
const MIN_BUCKETS: u64 = 720;
/// Length of a burst in buckets; there is one in each `BURST_PERIOD_BUCKETS`.
const BURST_BUCKETS: u64 = 3;
const BURST_PERIOD_BUCKETS: u64 = 144;

/// Activity by hour of the day (UTC), in thousandths of an average hour or so.
const HOURLY_WEIGHTS: [u64; 24] = [
    420, 360, 330, 320, 340, 420, 580, 820, 1_120, 1_420, 1_560, 1_600, 1_480, 1_520, 1_620, 1_580,
    1_460, 1_300, 1_120, 980, 880, 760, 620, 500,
];

/// A monotone map from a document's number to its time.
#[derive(Clone, Debug)]
pub(crate) struct Rhythm {
    start: u64,
    bucket_secs: u64,
    /// `cumulative[b]` is the weight of all buckets before `b`; one more entry for the end.
    cumulative: Vec<u64>,
    num_docs: u64,
    seed: u64,
    bucket: usize,
}

impl Rhythm {
    pub(crate) fn new(start: u64, span_secs: u64, num_docs: u64, seed: u64) -> Rhythm {
        let bucket_secs = (span_secs / MIN_BUCKETS).clamp(1, HOUR_SECS);
        let num_buckets = (span_secs / bucket_secs).max(1);
        let mut cumulative = Vec::with_capacity(num_buckets as usize + 1);
        let mut total = 0;
        cumulative.push(total);
        for bucket in 0..num_buckets {
            let time = start + bucket * bucket_secs;
            let hourly = HOURLY_WEIGHTS[(time % DAY_SECS / HOUR_SECS) as usize];
            // 1970-01-01 was a Thursday.
            let weekday = (time / DAY_SECS + 3) % 7;
            let daily = if weekday >= 5 { 620 } else { 1_000 };
            let noise = 900 + mix(seed ^ bucket) % 201;
            total += hourly * daily * noise / 1_000;
            cumulative.push(total);
        }
        Rhythm {
            start,
            bucket_secs,
            cumulative,
            num_docs: num_docs.max(1),
            seed,
            bucket: 0,
        }
    }

    /// Returns the time of document `doc_ord` in seconds, and whether it is in a burst of errors.
    /// Must be called with increasing numbers.
    pub(crate) fn time_of(&mut self, doc_ord: u64) -> (u64, bool) {
        let num_buckets = self.cumulative.len() - 1;
        let total = self.cumulative[num_buckets];
        let position = (u128::from(doc_ord) * u128::from(total) / u128::from(self.num_docs)) as u64;
        while self.bucket + 1 < num_buckets && self.cumulative[self.bucket + 1] <= position {
            self.bucket += 1;
        }
        let low = self.cumulative[self.bucket];
        let weight = self.cumulative[self.bucket + 1] - low;
        let bucket = self.bucket as u64;
        let offset = (position - low) * self.bucket_secs / weight;
        (
            self.start + bucket * self.bucket_secs + offset,
            self.is_burst(bucket),
        )
    }

    fn is_burst(&self, bucket: u64) -> bool {
        let period = bucket / BURST_PERIOD_BUCKETS;
        let slots = BURST_PERIOD_BUCKETS / BURST_BUCKETS;
        let burst = mix(self.seed ^ mix(period)) % slots;
        bucket % BURST_PERIOD_BUCKETS / BURST_BUCKETS == burst
    }
}
