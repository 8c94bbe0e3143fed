//! A model as one word of a command line: `s3,seed=7,errors=5%`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::model::LatencyModel;
use canter_runtime::SearchError;

const MAX_DURATION: Duration = Duration::from_secs(3600);

/// Parses a profile's name, or settings as `key=value`, or both, separated by commas. Without a
/// name it is `s3`. Settings:
///
/// | key | means | as in |
/// |---|---|---|
/// | `seed` | what all draws depend on | `7` |
/// | `latency` | the same time to the first byte for all requests | `30ms` |
/// | `base`, `median`, `sigma`, `cap` | that time's distribution, see [`LatencyModel`] | `15ms`, `1.8` |
/// | `bandwidth` | bytes per second, for all transfers together | `80MB` |
/// | `connections` | requests that are answered at once | `6` |
/// | `errors`, `slowdowns`, `resets`, `truncations` | shares that fail, and how | `5%` |
/// | `tail`, `tail-factor` | share of slow requests, and how many times slower | `2%`, `10` |
impl FromStr for LatencyModel {
    type Err = SearchError;

    fn from_str(spec: &str) -> Result<Self, SearchError> {
        let mut model = LatencyModel::default();
        for (ord, item) in spec.split(',').map(str::trim).enumerate() {
            match item.split_once('=') {
                Some((key, value)) => set(&mut model, key.trim(), value.trim())?,
                None if ord == 0 => {
                    model = LatencyModel::profile(item).ok_or_else(|| unknown_profile(item))?;
                }
                None => {
                    return Err(SearchError::invalid(format!(
                        "{item:?} is no setting of a simulated store; write key=value, and the \
                         profile first"
                    )));
                }
            }
        }
        check(&model)?;
        Ok(model)
    }
}

fn unknown_profile(name: &str) -> SearchError {
    SearchError::invalid(format!(
        "no simulated store is named {name:?}; there are {}",
        LatencyModel::PROFILES.join(", ")
    ))
}

fn set(model: &mut LatencyModel, key: &str, value: &str) -> Result<(), SearchError> {
    let failures = &mut model.failures;
    let is_set = match key {
        "seed" => value.parse().map(|seed| model.seed = seed).ok(),
        "latency" => duration(value).map(|latency| {
            (model.base, model.cap) = (latency, latency);
            (model.median, model.sigma) = (Duration::ZERO, 0.0);
        }),
        "base" => duration(value).map(|base| model.base = base),
        "median" => duration(value).map(|median| model.median = median),
        "sigma" => number(value, 10.0).map(|sigma| model.sigma = sigma),
        "cap" => duration(value).map(|cap| model.cap = cap),
        "bandwidth" => num_bytes(value).map(|bandwidth| model.bytes_per_second = bandwidth),
        "connections" => value.parse().ok().filter(|max| *max > 0).map(|max| {
            model.max_connections = max;
        }),
        "errors" => share(value).map(|rate| failures.error = rate),
        "slowdowns" => share(value).map(|rate| failures.slow_down = rate),
        "resets" => share(value).map(|rate| failures.reset = rate),
        "truncations" => share(value).map(|rate| failures.truncation = rate),
        "tail" => share(value).map(|rate| model.slow_tail.probability = rate),
        "tail-factor" => number(value, 1000.0).map(|factor| model.slow_tail.factor = factor),
        _ => {
            return Err(SearchError::invalid(format!(
                "a simulated store has no setting {key:?}; there are seed, latency, base, median, \
                 sigma, cap, bandwidth, connections, errors, slowdowns, resets, truncations, tail, \
                 tail-factor"
            )));
        }
    };
    is_set.ok_or_else(|| {
        SearchError::invalid(format!(
            "{key}={value} is no setting of a simulated store; {key} is {}",
            expected(key)
        ))
    })
}

fn expected(key: &str) -> &'static str {
    match key {
        "seed" => "a whole number",
        "connections" => "a whole number above 0",
        "sigma" => "a number from 0 to 10",
        "tail-factor" => "a number from 0 to 1000",
        "bandwidth" => "bytes per second above 0, such as 80MB",
        "errors" | "slowdowns" | "resets" | "truncations" | "tail" => "a share, such as 5% or 0.05",
        _ => "a duration up to an hour, such as 15ms",
    }
}

fn check(model: &LatencyModel) -> Result<(), SearchError> {
    let rates = model.failures;
    let sum = rates.error + rates.slow_down + rates.reset + rates.truncation;
    if sum > 1.0 {
        return Err(SearchError::invalid(format!(
            "{} % of the requests to the simulated store would fail; keep the sum of errors, \
             slowdowns, resets and truncations within 100 %",
            sum * 100.0
        )));
    }
    if model.base > model.cap {
        return Err(SearchError::invalid(format!(
            "the simulated store's base of {:?} is above its cap of {:?}; raise the cap",
            model.base, model.cap
        )));
    }
    Ok(())
}

/// Formats the shortest spec of this model: the nearest profile, the seed, and the settings that differ
/// from the profile.
impl fmt::Display for LatencyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = settings_of(self);
        let differences = |name: &&str| {
            let profile = LatencyModel::profile(name).map(|profile| settings_of(&profile));
            let profile = profile.into_iter().flatten();
            let pairs = settings.iter().zip(profile);
            pairs
                .filter(|(ours, theirs)| *ours != theirs)
                .map(|(ours, _)| ours.clone())
                .collect::<Vec<_>>()
        };
        let nearest = LatencyModel::PROFILES
            .iter()
            .min_by_key(|name| differences(name).len());
        let name = nearest.copied().unwrap_or("s3");
        write!(f, "{name},seed={}", self.seed)?;
        for (key, value) in differences(&name) {
            write!(f, ",{key}={value}")?;
        }
        Ok(())
    }
}

/// Returns all settings except the seed, each in a form that parses to the same value.
fn settings_of(model: &LatencyModel) -> Vec<(&'static str, String)> {
    let micros = |duration: Duration| format!("{}us", duration.as_nanos() as f64 / 1e3);
    let millis = |duration: Duration| match duration.as_nanos().is_multiple_of(1_000_000) {
        true => format!("{}ms", duration.as_millis()),
        false => micros(duration),
    };
    let bandwidth = match model.bytes_per_second {
        bytes if bytes.is_multiple_of(1_000_000) => format!("{}MB", bytes / 1_000_000),
        bytes => format!("{bytes}B"),
    };
    let (failures, tail) = (model.failures, model.slow_tail);
    vec![
        ("base", millis(model.base)),
        ("median", millis(model.median)),
        ("sigma", model.sigma.to_string()),
        ("cap", millis(model.cap)),
        ("bandwidth", bandwidth),
        ("connections", model.max_connections.to_string()),
        ("errors", failures.error.to_string()),
        ("slowdowns", failures.slow_down.to_string()),
        ("resets", failures.reset.to_string()),
        ("truncations", failures.truncation.to_string()),
        ("tail", tail.probability.to_string()),
        ("tail-factor", tail.factor.to_string()),
    ]
}

/// Splits a number and its unit, which begins with the first letter.
fn with_unit(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = with_unit(text)?;
    let seconds = number
        * match unit {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            _ => return None,
        };
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (duration <= MAX_DURATION).then_some(duration)
}

fn num_bytes(text: &str) -> Option<u64> {
    let text = text.strip_suffix("/s").unwrap_or(text);
    let num_bytes = canter_runtime::parse_bytes(text).ok()?;
    (1..=1_000_000_000_000_000)
        .contains(&num_bytes)
        .then_some(num_bytes)
}

fn share(text: &str) -> Option<f64> {
    let share = match with_unit(text)? {
        (number, "%") => number / 100.0,
        (number, "") => number,
        _ => return None,
    };
    (0.0..=1.0).contains(&share).then_some(share)
}

fn number(text: &str, max: f64) -> Option<f64> {
    let (number, unit) = with_unit(text)?;
    (unit.is_empty() && number <= max).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::super::model::{FailureRates, SlowTail};
    use super::*;

    #[test]
    fn a_spec_is_a_profile_with_changes() {
        let check = |spec: &str, expect: LatencyModel| {
            assert_eq!(spec.parse::<LatencyModel>().unwrap(), expect, "{spec}");
        };
        check("s3", LatencyModel::s3());
        check("r2", LatencyModel::r2());
        check("s3,seed=7", LatencyModel::s3().with_seed(7));
        check("seed=7", LatencyModel::s3().with_seed(7));
        check(
            "local, latency=1.5ms, bandwidth=20MB/s, connections=6",
            LatencyModel {
                base: Duration::from_micros(1500),
                median: Duration::ZERO,
                sigma: 0.0,
                cap: Duration::from_micros(1500),
                bytes_per_second: 20_000_000,
                max_connections: 6,
                ..LatencyModel::local()
            },
        );
        check(
            "s3,base=1ms,median=2ms,sigma=0.5,cap=1s,errors=5%,slowdowns=0.01,resets=1%,\
             truncations=2%,tail=3%,tail-factor=20",
            LatencyModel {
                base: Duration::from_millis(1),
                median: Duration::from_millis(2),
                sigma: 0.5,
                cap: Duration::from_secs(1),
                failures: FailureRates {
                    error: 0.05,
                    slow_down: 0.01,
                    reset: 0.01,
                    truncation: 0.02,
                },
                slow_tail: SlowTail {
                    probability: 0.03,
                    factor: 20.0,
                },
                ..LatencyModel::s3()
            },
        );
    }

    #[test]
    fn a_model_says_how_to_make_it_again() {
        let check = |spec: &str, expect: &str| {
            let model: LatencyModel = spec.parse().unwrap();
            let shown = model.to_string();
            assert_eq!(shown, expect, "{spec}");
            assert_eq!(shown.parse::<LatencyModel>().unwrap(), model, "{spec}");
        };
        check("s3", "s3,seed=1");
        check("r2,seed=7", "r2,seed=7");
        check("slow-tail", "slow-tail,seed=1");
        check("s3,tail=2%", "slow-tail,seed=1");
        check(
            "errors=5%,connections=6",
            "s3,seed=1,connections=6,errors=0.05",
        );
        check(
            "latency=1.25ms,bandwidth=1KB",
            "s3,seed=1,base=1250us,median=0ms,sigma=0,cap=1250us,bandwidth=1000B",
        );
        check(
            "s3,bandwidth=0.5GB,tail=0.1%",
            "s3,seed=1,bandwidth=500MB,tail=0.001",
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let check = |spec: &str, says: &str| {
            let error = spec.parse::<LatencyModel>().unwrap_err();
            assert!(error.message.contains(says), "{spec}: {error}");
        };
        check("", "s3-express");
        check("gcs", "s3-express");
        check("s3,fast", "key=value");
        check("seed=7,s3", "the profile first");
        check("s3,speed=1", "bandwidth");
        check("s3,seed=-1", "a whole number");
        check("s3,latency=30", "such as 15ms");
        check("s3,latency=2000000s", "up to an hour");
        check("s3,bandwidth=0", "above 0");
        check("s3,bandwidth=80Mbit", "above 0");
        check("s3,connections=0", "above 0");
        check("s3,errors=101%", "a share");
        check("s3,errors=60%,resets=60%", "within 100 %");
        check("s3,sigma=x", "0 to 10");
        check("s3,base=1s", "raise the cap");
    }
}
