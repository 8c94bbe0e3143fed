//! Random outcome of one request, which depends on the request and not on its time.
//!
//! A draw depends on the seed, the object, the range, and the number of earlier requests for that
//! range. Two runs that differ in one feature therefore have the same luck wherever their requests
//! agree: the first attempts of a run with hedging have the outcomes of the run without it.

use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::model::LatencyModel;
use canter_runtime::fetch::ByteRange;

/// Outcome of one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draw {
    /// From the request to the first byte of its answer.
    pub(super) latency: Duration,
    /// The end of the answer.
    pub(super) fate: Fate,
}

/// End of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    /// With all of its bytes.
    Whole,
    /// With status 500 instead of a body.
    Error,
    /// With status 503 instead of a body.
    SlowDown,
    /// With a reset connection after this share of the body.
    Reset(f64),
    /// With the end of the body after this share of it.
    Truncated(f64),
}

impl Draw {
    /// Returns the draw for the request after `num_before` others for the same range.
    pub(super) fn new(
        model: &LatencyModel,
        object: &str,
        range: ByteRange,
        num_before: u64,
    ) -> Self {
        let uniforms = Uniforms::new(model.seed, object, range, num_before);
        let mut latency = model.quantile(uniforms.get(Purpose::Latency));
        if uniforms.get(Purpose::Tail) < model.slow_tail.probability {
            let seconds = latency.as_secs_f64() * model.slow_tail.factor;
            latency = Duration::try_from_secs_f64(seconds).unwrap_or(latency);
        }
        let share = uniforms.get(Purpose::Share);
        let rates = model.failures;
        let mut rest = uniforms.get(Purpose::Fate);
        let mut falls_into = |rate: f64| {
            let is_in = rest < rate;
            rest -= rate;
            is_in
        };
        let fate = if falls_into(rates.error) {
            Fate::Error
        } else if falls_into(rates.slow_down) {
            Fate::SlowDown
        } else if falls_into(rates.reset) {
            Fate::Reset(share)
        } else if falls_into(rates.truncation) {
            Fate::Truncated(share)
        } else {
            Fate::Whole
        };
        Self { latency, fate }
    }
}

/// Purposes of random numbers. Each has its own number, so that enabling one feature of a model
/// does not change the draws of others.
#[derive(Clone, Copy)]
enum Purpose {
    Latency,
    Tail,
    Fate,
    Share,
}

/// Uniform numbers of one request.
struct Uniforms(u64);

impl Uniforms {
    fn new(seed: u64, object: &str, range: ByteRange, num_before: u64) -> Self {
        let mut key = Vec::with_capacity(object.len() + 26);
        key.extend_from_slice(&range.offset.to_le_bytes());
        // An open range is distinguished from an empty one.
        key.push(u8::from(range.len.is_some()));
        key.extend_from_slice(&range.len.unwrap_or(0).to_le_bytes());
        key.extend_from_slice(&num_before.to_le_bytes());
        key.extend_from_slice(object.as_bytes());
        Self(xxh3_64_with_seed(&key, seed))
    }

    /// Returns a number of at least 0 and less than 1, with all 53 bits that it can have.
    fn get(&self, purpose: Purpose) -> f64 {
        let bits = split_mix(self.0, purpose as u64 + 1) >> 11;
        bits as f64 / (1u64 << 53) as f64
    }
}

/// Returns the `n`-th number of the generator SplitMix64 that begins at `state`.
fn split_mix(state: u64, n: u64) -> u64 {
    let mut bits = state.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::model::{FailureRates, SlowTail};
    use super::*;

    const NUM_DRAWS: u64 = 20_000;

    fn draws(model: &LatencyModel) -> Vec<Draw> {
        let range = ByteRange::new(100, 200);
        (0..NUM_DRAWS)
            .map(|seed| Draw::new(&model.clone().with_seed(seed), "a.split", range, 0))
            .collect()
    }

    /// Checks that a share is within four standard errors of the expected one, which is deterministic for these seeds.
    fn check_share(what: &str, num: usize, expect: f64) {
        let share = num as f64 / NUM_DRAWS as f64;
        let error = (expect * (1.0 - expect) / NUM_DRAWS as f64).sqrt();
        assert!((share - expect).abs() <= 4.0 * error, "{what}: {share}");
    }

    #[test]
    fn draws_follow_the_distribution() {
        let draws = draws(&LatencyModel::s3());
        for (ms, p) in [(30, 0.5), (165, 0.9), (299, 0.949)] {
            let limit = Duration::from_millis(ms);
            let num = draws.iter().filter(|draw| draw.latency <= limit).count();
            check_share(&format!("{ms} ms"), num, p);
        }
        assert!(draws.iter().all(|draw| draw.fate == Fate::Whole));
    }

    #[test]
    fn failures_have_their_rates() {
        let model = LatencyModel {
            failures: FailureRates {
                error: 0.05,
                slow_down: 0.04,
                reset: 0.03,
                truncation: 0.02,
            },
            slow_tail: SlowTail {
                probability: 0.1,
                factor: 10.0,
            },
            ..LatencyModel::s3()
        };
        let draws = draws(&model);
        let count = |is: fn(&Draw) -> bool| draws.iter().filter(|draw| is(draw)).count();
        check_share("error", count(|draw| draw.fate == Fate::Error), 0.05);
        check_share("slow down", count(|draw| draw.fate == Fate::SlowDown), 0.04);
        check_share(
            "reset",
            count(|draw| matches!(draw.fate, Fate::Reset(_))),
            0.03,
        );
        let num_truncated = count(|draw| matches!(draw.fate, Fate::Truncated(_)));
        check_share("truncation", num_truncated, 0.02);
        // Ten times p50 is the cap of the others.
        let num_slow = count(|draw| draw.latency > Duration::from_millis(300));
        check_share("slow", num_slow, 0.1 * 0.5);
    }

    #[test]
    fn a_draw_depends_on_each_of_its_causes() {
        let model = LatencyModel::s3();
        let range = ByteRange::new(0, 10);
        let draw = |seed: u64, object: &str, range: ByteRange, num_before: u64| {
            Draw::new(&model.clone().with_seed(seed), object, range, num_before).latency
        };
        let first = draw(1, "a", range, 0);
        assert_eq!(first, draw(1, "a", range, 0));
        let others = [
            draw(2, "a", range, 0),
            draw(1, "b", range, 0),
            draw(1, "a", ByteRange::new(1, 10), 0),
            draw(1, "a", ByteRange::new(0, 11), 0),
            draw(1, "a", ByteRange::from(0), 0),
            draw(1, "a", range, 1),
        ];
        assert!(others.iter().all(|other| *other != first), "{others:?}");
    }

    #[test]
    fn failures_leave_latencies_as_they_are() {
        let plain = draws(&LatencyModel::s3());
        let failures = FailureRates {
            error: 0.5,
            ..FailureRates::default()
        };
        let failing = draws(&LatencyModel {
            failures,
            ..LatencyModel::s3()
        });
        let latencies = |draws: &[Draw]| draws.iter().map(|draw| draw.latency).collect::<Vec<_>>();
        assert_eq!(latencies(&plain), latencies(&failing));
    }
}
