//! Durations of recent requests, by size.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Number of remembered requests of one size.
const NUM_SAMPLES: usize = 512;

/// Number of the latest of these requests that show whether a store slows down.
const NUM_LATEST: usize = 16;

/// Minimum number of observed requests that replace the assumed quantiles.
const NUM_TRUSTED: usize = 32;

/// Upper bounds of the size classes. For larger requests, the transfer takes most of the time, and
/// a second request would not be faster.
const SIZES: [u64; 3] = [256 << 10, 2 << 20, 16 << 20];

/// Assumed quantiles of a small request to S3, used until enough requests were observed: (share,
/// milliseconds).
const ASSUMED: [(f64, f64); 7] = [
    (0.0, 15.0),
    (0.25, 20.0),
    (0.5, 30.0),
    (0.75, 65.0),
    (0.9, 165.0),
    (0.95, 300.0),
    (1.0, 320.0),
];

/// Durations of the latest requests.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    by_size: Mutex<[Ring; SIZES.len()]>,
}

#[derive(Debug, Default)]
struct Ring {
    samples: Vec<Duration>,
    next: usize,
    num_given_up: usize,
}

impl Ring {
    /// Returns one of the samples longer than `waited`, in turn, or `waited` if there is none.
    fn next_longer(&mut self, waited: Duration) -> Duration {
        let is_longer = |sample: &&Duration| **sample > waited;
        let num_longer = self.samples.iter().filter(is_longer).count();
        let ord = self.num_given_up % num_longer.max(1);
        self.num_given_up += 1;
        let longer = self.samples.iter().filter(is_longer).nth(ord);
        longer.copied().unwrap_or(waited)
    }

    fn push(&mut self, sample: Duration) {
        match self.samples.get_mut(self.next) {
            Some(oldest) => *oldest = sample,
            None => self.samples.push(sample),
        }
        self.next = (self.next + 1) % NUM_SAMPLES;
    }

    /// Returns the latest samples, newest first.
    fn latest(&self) -> Vec<Duration> {
        let len = self.samples.len();
        (1..=NUM_LATEST.min(len))
            .filter_map(|back| self.samples.get((self.next + len - back) % len))
            .copied()
            .collect()
    }
}

/// Latency distribution of requests of one size.
#[derive(Clone, Debug)]
pub(super) struct Quantiles {
    sorted: Vec<Duration>,
    latest_median: Option<Duration>,
}

impl Quantiles {
    /// Returns the duration that a share (0 to 1) of requests did not exceed.
    pub(super) fn at(&self, share: f64) -> Duration {
        if self.sorted.len() < NUM_TRUSTED {
            return assumed(share);
        }
        let last = self.sorted.len() - 1;
        self.sorted[(share * last as f64).round().clamp(0.0, last as f64) as usize]
    }

    /// Returns the slowdown of the latest requests relative to all remembered ones.
    pub(super) fn slowdown(&self) -> f64 {
        let usual = self.at(0.5).as_secs_f64().max(0.001);
        match self.latest_median {
            Some(latest) if self.sorted.len() >= NUM_TRUSTED => latest.as_secs_f64() / usual,
            _ => 1.0,
        }
    }
}

fn assumed(share: f64) -> Duration {
    let after = ASSUMED
        .iter()
        .position(|(at, _)| share <= *at)
        .unwrap_or(ASSUMED.len() - 1);
    let (upper, slow) = ASSUMED[after];
    let (lower, fast) = ASSUMED[after.saturating_sub(1)];
    let part = match upper > lower {
        true => (share - lower) / (upper - lower),
        false => 1.0,
    };
    Duration::from_secs_f64((fast + (slow - fast) * part.clamp(0.0, 1.0)) / 1000.0)
}

fn size_ord(num_bytes: u64) -> Option<usize> {
    SIZES.iter().position(|max| num_bytes <= *max)
}

impl Latencies {
    /// Records a successful request.
    pub(super) fn record(&self, num_bytes: u64, took: Duration) {
        if let Some(size) = size_ord(num_bytes) {
            let mut by_size = self.by_size.lock().unwrap_or_else(PoisonError::into_inner);
            by_size[size].push(took);
        }
    }

    /// Records a request that was cancelled because a second one was faster: it would have taken
    /// longer than `waited`. Ignoring such requests would make a store look faster the more is
    /// hedged, which would in turn increase hedging. It therefore counts as one of the requests
    /// that did take longer, each in turn (Efron's redistribution to the right of a censored
    /// observation).
    pub(super) fn record_longer(&self, num_bytes: u64, waited: Duration) {
        if let Some(size) = size_ord(num_bytes) {
            let mut by_size = self.by_size.lock().unwrap_or_else(PoisonError::into_inner);
            let ring = &mut by_size[size];
            let sample = ring.next_longer(waited);
            ring.push(sample);
        }
    }

    /// Returns the distribution for requests of `num_bytes`, or `None` if they are too large.
    pub(super) fn of(&self, num_bytes: u64) -> Option<Quantiles> {
        let size = size_ord(num_bytes)?;
        let by_size = self.by_size.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sorted = by_size[size].samples.clone();
        sorted.sort_unstable();
        let mut latest = by_size[size].latest();
        latest.sort_unstable();
        Some(Quantiles {
            sorted,
            latest_median: latest.get(latest.len() / 2).copied(),
        })
    }

    /// Returns the distributions of all sizes.
    pub(super) fn of_each(&self) -> Vec<Quantiles> {
        SIZES.into_iter().filter_map(|size| self.of(size)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn quantiles_are_assumed_until_enough_was_seen() {
        let latencies = Latencies::default();
        (0..31).for_each(|_| latencies.record(100, MS));
        assert_eq!(latencies.of(100).unwrap().at(0.5), MS * 30);
        assert_eq!(latencies.of(100).unwrap().at(0.95), MS * 300);
        (0..200).for_each(|n| latencies.record(100, MS * (n % 101)));
        assert!(latencies.of(100).unwrap().at(0.95) < MS * 100);
        assert_eq!(latencies.of(1 << 20).unwrap().at(0.5), MS * 30);
        assert!(latencies.of(1 << 30).is_none());
    }

    #[test]
    fn giving_slow_requests_up_does_not_make_a_store_look_fast() {
        let latencies = Latencies::default();
        (0..100).for_each(|n| latencies.record(100, MS * (1 + n)));
        // Of each further hundred requests, the slowest ten are cancelled after 20 ms.
        for n in 0..1000 {
            match n % 100 {
                fast if fast < 90 => latencies.record(100, MS * (1 + fast)),
                _ => latencies.record_longer(100, MS * 20),
            }
        }
        let p95 = latencies.of(100).unwrap().at(0.95);
        assert!(p95 > MS * 80, "{p95:?}");
        latencies.record_longer(1 << 20, MS * 20);
        assert_eq!(latencies.by_size.lock().unwrap()[1].samples, [MS * 20]);
    }

    #[test]
    fn a_store_that_slows_down_is_noticed() {
        let latencies = Latencies::default();
        (0..200).for_each(|_| latencies.record(100, MS * 10));
        assert!(latencies.of(100).unwrap().slowdown() < 1.1);
        (0..20).for_each(|_| latencies.record(100, MS * 80));
        assert!(latencies.of(100).unwrap().slowdown() > 4.0);
    }
}
