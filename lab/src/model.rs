//! Latencies and failure rates of a store, as plain data.

use std::time::Duration;

use super::normal::quantile_of_normal;

/// Behaviour of a simulated store.
///
/// The time to the first byte of an answer is `base` plus a lognormal draw, and at most `cap` in
/// total; then the body is transferred over a link that all transfers share.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyModel {
    /// Seed of all draws: the same seed gives the same latencies and failures.
    pub seed: u64,
    /// Minimum time to the first byte.
    pub base: Duration,
    /// Median of the additional time.
    pub median: Duration,
    /// Spread of the additional time: standard deviation of its logarithm. 0 makes it constant.
    pub sigma: f64,
    /// Maximum time to the first byte, except for [`LatencyModel::slow_tail`].
    pub cap: Duration,
    /// Bandwidth of the link, for all transfers together; 0 is taken as 1.
    pub bytes_per_second: u64,
    /// Maximum number of concurrent requests; the others wait in line. 0 is taken as 1.
    pub max_connections: usize,
    /// Failure rates of requests.
    pub failures: FailureRates,
    /// Requests that take much longer than others.
    pub slow_tail: SlowTail,
}

/// Shares of failing requests, by kind. A request has at most one failure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FailureRates {
    /// Answered with status 500.
    pub error: f64,
    /// Answered with status 503 (`SlowDown`).
    pub slow_down: f64,
    /// The connection is reset during the body.
    pub reset: f64,
    /// The body ends early.
    pub truncation: f64,
}

/// Requests whose time to the first byte is multiplied, beyond the cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowTail {
    /// Share of such requests.
    pub probability: f64,
    /// Factor of their time.
    pub factor: f64,
}

impl Default for SlowTail {
    /// Defaults to none; ten times slower if a probability is given.
    fn default() -> Self {
        Self {
            probability: 0.0,
            factor: 10.0,
        }
    }
}

impl Default for LatencyModel {
    fn default() -> Self {
        Self::s3()
    }
}

impl LatencyModel {
    /// Names of the profiles that [`LatencyModel::profile`] accepts.
    pub const PROFILES: [&str; 5] = ["s3", "s3-express", "r2", "local", "slow-tail"];

    /// Returns S3 as seen by a function in its region: 15 ms plus lognormal (median 15 ms, sigma 1.797), at most 300
    /// ms; so p50 is 30 ms, p90 165 ms, and one request in twenty takes 300 ms. 80 MB/s.
    ///
    /// The p90 and the bandwidth are those that Quickwit published for reads of up to 64 KiB from
    /// Lambda. The shape between and the 256 connections are assumptions.
    pub fn s3() -> Self {
        Self {
            seed: 1,
            base: Duration::from_millis(15),
            median: Duration::from_millis(15),
            sigma: 1.797,
            cap: Duration::from_millis(300),
            bytes_per_second: 80_000_000,
            max_connections: 256,
            failures: FailureRates::default(),
            slow_tail: SlowTail::default(),
        }
    }

    /// Returns S3 Express One Zone: a few milliseconds. AWS promises single-digit milliseconds; the
    /// figures within that are assumptions. p50 4 ms, p90 8 ms.
    pub fn s3_express() -> Self {
        Self {
            base: Duration::from_millis(2),
            median: Duration::from_millis(2),
            sigma: 0.857,
            cap: Duration::from_millis(50),
            ..Self::s3()
        }
    }

    /// Returns R2 as seen by a Worker: slower to the first byte, 6 connections, which is the
    /// platform's limit. The times are assumptions: p50 50 ms, p90 150 ms. 50 MB/s.
    pub fn r2() -> Self {
        Self {
            base: Duration::from_millis(25),
            median: Duration::from_millis(25),
            sigma: 1.256,
            cap: Duration::from_millis(500),
            bytes_per_second: 50_000_000,
            max_connections: 6,
            ..Self::s3()
        }
    }

    /// Returns a disk in the same machine: p50 0.1 ms, 2 GB/s. Assumptions.
    pub fn local() -> Self {
        Self {
            base: Duration::from_micros(50),
            median: Duration::from_micros(50),
            sigma: 0.5,
            cap: Duration::from_millis(2),
            bytes_per_second: 2_000_000_000,
            ..Self::s3()
        }
    }

    /// Returns [`LatencyModel::s3`] on a bad day: one request in fifty takes ten times as long. An assumption.
    pub fn slow_tail() -> Self {
        Self {
            slow_tail: SlowTail {
                probability: 0.02,
                ..SlowTail::default()
            },
            ..Self::s3()
        }
    }

    /// Returns the profile with a name in [`LatencyModel::PROFILES`].
    pub fn profile(name: &str) -> Option<Self> {
        Some(match name {
            "s3" => Self::s3(),
            "s3-express" => Self::s3_express(),
            "r2" => Self::r2(),
            "local" => Self::local(),
            "slow-tail" => Self::slow_tail(),
            _ => return None,
        })
    }

    /// Returns the same model with other draws.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Returns the time to the first byte that a share `p` of the requests (0 to 1) does not exceed,
    /// without [`LatencyModel::slow_tail`]. A draw is the quantile of a uniform number.
    pub fn quantile(&self, p: f64) -> Duration {
        let on_top = self.median.as_secs_f64() * (self.sigma * quantile_of_normal(p)).exp();
        // Invalid durations, and those longer than the cap, become the cap.
        let on_top = Duration::try_from_secs_f64(on_top).unwrap_or(Duration::MAX);
        self.base.saturating_add(on_top).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_the_quantiles_they_promise() {
        let check = |name: &str, p: f64, expect_ms: f64, within_ms: f64| {
            let ms = LatencyModel::profile(name)
                .unwrap()
                .quantile(p)
                .as_secs_f64()
                * 1e3;
            assert!((ms - expect_ms).abs() < within_ms, "{name}, p {p}: {ms} ms");
        };
        check("s3", 0.0, 15.0, 0.01);
        check("s3", 0.5, 30.0, 1e-6);
        check("s3", 0.9, 165.0, 0.1);
        // ln(285 / 15) / 1.797 is the normal's quantile at 0.9493: from there on it is the cap.
        check("s3", 0.949, 298.3, 0.1);
        check("s3", 0.95, 300.0, 1e-6);
        check("s3", 1.0, 300.0, 1e-6);
        check("s3-express", 0.5, 4.0, 1e-6);
        check("s3-express", 0.9, 8.0, 0.01);
        check("r2", 0.5, 50.0, 1e-6);
        check("r2", 0.9, 150.0, 0.1);
        check("local", 0.5, 0.1, 1e-6);
        check("slow-tail", 0.9, 165.0, 0.1);
    }

    #[test]
    fn no_spread_makes_a_constant() {
        let model = LatencyModel {
            sigma: 0.0,
            ..LatencyModel::s3()
        };
        for p in [0.0, 0.1, 0.5, 0.999, 1.0] {
            assert_eq!(model.quantile(p), Duration::from_millis(30));
        }
    }

    #[test]
    fn every_listed_profile_is_there() {
        for name in LatencyModel::PROFILES {
            assert!(LatencyModel::profile(name).is_some(), "{name}");
        }
        assert_eq!(LatencyModel::profile("gcs"), None);
    }
}
