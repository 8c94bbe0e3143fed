//! How long requests took lately, by their size.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Requests of one size that are remembered.
const NUM_SAMPLES: usize = 512;

/// The latest requests among them, for noticing that a store slows down.
const NUM_LATEST: usize = 16;

/// So many requests must have been seen before they outweigh what is assumed.
const NUM_TRUSTED: usize = 32;

/// Upper bounds of the sizes that are told apart: the transfer of larger ones is what takes long, and
/// a second request would not be faster.
const SIZES: [u64; 3] = [256 << 10, 2 << 20, 16 << 20];

/// Quantiles of a small request to S3, assumed until enough requests were seen: (share, milliseconds).
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
    /// One of the samples longer than `waited`, another each time; `waited` if there is none.
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

    /// The latest samples, newest first.
    fn latest(&self) -> Vec<Duration> {
        let len = self.samples.len();
        (1..=NUM_LATEST.min(len))
            .filter_map(|back| self.samples.get((self.next + len - back) % len))
            .copied()
            .collect()
    }
}

/// What is known of requests of one size.
#[derive(Clone, Debug)]
pub(super) struct Quantiles {
    sorted: Vec<Duration>,
    latest_median: Option<Duration>,
}

impl Quantiles {
    /// The duration that a share (0 to 1) of requests stayed under.
    pub(super) fn at(&self, share: f64) -> Duration {
        if self.sorted.len() < NUM_TRUSTED {
            return assumed(share);
        }
        let last = self.sorted.len() - 1;
        self.sorted[(share * last as f64).round().clamp(0.0, last as f64) as usize]
    }

    /// How many times slower the latest requests were than all that are remembered.
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
    /// Remembers a request that succeeded.
    pub(super) fn record(&self, num_bytes: u64, took: Duration) {
        if let Some(size) = size_ord(num_bytes) {
            let mut by_size = self.by_size.lock().unwrap_or_else(PoisonError::into_inner);
            by_size[size].push(took);
        }
    }

    /// Remembers a request that was given up because a second was faster: it would have taken longer
    /// than `waited`. Forgetting it would make a store look the faster the more is hedged, and hedging
    /// the more eager for it. So it counts as one of those that did take longer, each in its turn
    /// (Efron's redistribution to the right of a censored observation).
    pub(super) fn record_longer(&self, num_bytes: u64, waited: Duration) {
        if let Some(size) = size_ord(num_bytes) {
            let mut by_size = self.by_size.lock().unwrap_or_else(PoisonError::into_inner);
            let ring = &mut by_size[size];
            let sample = ring.next_longer(waited);
            ring.push(sample);
        }
    }

    /// What is known of requests for so many bytes; `None` if they are too large to tell.
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

    /// What is known of requests of each size.
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
        // Of each hundred requests more, the slowest ten are given up after 20 ms.
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
