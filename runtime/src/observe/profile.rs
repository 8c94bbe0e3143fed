//! Cost of a search in requests, bytes, waves and cache hits, as shown in a response's `profile`.

pub use canter_waves::{ClassCount, RequestRecord, WaveRecord as Wave};

use canter_waves::Costs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::session::ByteClass;

/// Returns the nonzero counts by class name.
fn by_class(count: &ClassCount) -> Value {
    ByteClass::ALL
        .into_iter()
        .filter(|class| count.get(*class) > 0)
        .map(|class| (class.as_str().to_owned(), Value::from(count.get(class))))
        .collect::<Map<_, _>>()
        .into()
}

/// The I/O of one search. Traffic to the store is counted after coalescing and caching, and a
/// retried request counts each time it was sent.
///
/// Its serialized form is for hosts of the same version; a response shows [`Profile::to_json`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Dependent rounds to the store: waves without a fetch are not counted.
    pub num_waves: u64,
    /// Requests that went to the store, retries and hedges included.
    pub num_requests: u64,
    /// Bytes that came from the store.
    pub num_bytes: u64,
    /// Number of requests that repeated a failed one, included in `num_requests`.
    pub num_retries: u64,
    /// Number of requests that were sent beside a slow first one, included in `num_requests`.
    pub num_hedges: u64,
    /// Requests of other searches that this one waited for instead of sending its own.
    pub num_shared_requests: u64,
    /// Reads and lookups that the cache answered in full.
    pub num_cache_hits: ClassCount,
    /// Reads and lookups that the cache could have answered but did not, or only in part.
    pub num_cache_misses: ClassCount,
    /// Bytes that came from the cache.
    pub num_cache_bytes: u64,
    /// Microseconds that the search waited for the guest to compute, summed over instances.
    pub guest_us: u64,
    /// Number of calls into the guest.
    pub num_steps: u64,
    /// Number of guest instances that took part.
    pub num_instances: u64,
    /// The waves that are counted in `num_waves`.
    pub waves: Vec<Wave>,
}

impl Profile {
    /// Adds the cost of a wave after the others.
    pub(crate) fn add_wave(&mut self, costs: Costs) {
        self.num_shared_requests += costs.num_shared_requests;
        self.num_cache_hits.merge(&costs.num_cache_hits);
        self.num_cache_misses.merge(&costs.num_cache_misses);
        self.num_cache_bytes += costs.num_cache_bytes;
        self.push_wave(costs.wave);
    }

    pub(crate) fn push_wave(&mut self, wave: Wave) {
        for request in &wave.requests {
            let num_hedges = u64::from(request.hedged_us.is_some());
            self.num_requests += 1 + u64::from(request.num_retries) + num_hedges;
            self.num_retries += u64::from(request.num_retries);
            self.num_hedges += num_hedges;
        }
        self.num_bytes += wave.num_bytes();
        if !wave.requests.is_empty() {
            self.num_waves += 1;
            self.waves.push(wave);
        }
    }

    /// Appends a session that ran after this one.
    pub(crate) fn append(&mut self, later: Profile) {
        self.add_counts(&later);
        self.num_waves += later.num_waves;
        self.waves.extend(later.waves);
    }

    /// Joins a session that ran beside this one: wave k of both becomes one wave.
    pub(crate) fn join(&mut self, beside: Profile) {
        self.add_counts(&beside);
        self.num_waves = self.num_waves.max(beside.num_waves);
        let common = self.waves.len().min(beside.waves.len());
        let mut theirs = beside.waves.into_iter();
        for (ours, theirs) in self.waves.iter_mut().zip(theirs.by_ref().take(common)) {
            ours.requests.extend(theirs.requests);
        }
        self.waves.extend(theirs);
    }

    /// Returns the profile with all times later by `micros`.
    pub(crate) fn shifted(mut self, micros: u64) -> Self {
        let requests = self.waves.iter_mut().flat_map(|wave| &mut wave.requests);
        for request in requests {
            for time in [&mut request.start_us, &mut request.end_us] {
                *time = time.saturating_add(micros);
            }
            request.hedged_us = request.hedged_us.map(|time| time.saturating_add(micros));
        }
        self
    }

    fn add_counts(&mut self, other: &Profile) {
        self.num_requests += other.num_requests;
        self.num_bytes += other.num_bytes;
        self.num_retries += other.num_retries;
        self.num_hedges += other.num_hedges;
        self.num_shared_requests += other.num_shared_requests;
        self.num_cache_hits.merge(&other.num_cache_hits);
        self.num_cache_misses.merge(&other.num_cache_misses);
        self.num_cache_bytes += other.num_cache_bytes;
        self.guest_us += other.guest_us;
        self.num_steps += other.num_steps;
        self.num_instances += other.num_instances;
    }

    /// Returns the profile as JSON, with the host's keys of a response's `profile`.
    pub fn to_json(&self) -> Value {
        let mut profile = Map::new();
        self.merge_into(&mut profile);
        profile.into()
    }

    /// Adds this profile's keys to the guest's own profile object.
    pub(crate) fn merge_into(&self, profile: &mut Map<String, Value>) {
        let counts = [
            ("num_waves", self.num_waves),
            ("num_requests", self.num_requests),
            ("num_bytes", self.num_bytes),
            ("num_retries", self.num_retries),
            ("num_hedges", self.num_hedges),
            ("num_shared_requests", self.num_shared_requests),
            ("num_cache_hits", self.num_cache_hits.total()),
            ("num_cache_misses", self.num_cache_misses.total()),
            ("num_cache_bytes", self.num_cache_bytes),
            ("guest_us", self.guest_us),
            ("num_steps", self.num_steps),
            ("num_instances", self.num_instances),
        ];
        for (key, count) in counts {
            profile.insert(key.to_owned(), count.into());
        }
        profile.insert("cache_hits".to_owned(), by_class(&self.num_cache_hits));
        profile.insert("cache_misses".to_owned(), by_class(&self.num_cache_misses));
        let waves = serde_json::to_value(&self.waves).unwrap_or_default();
        profile.insert("waves".to_owned(), waves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile_of(waves: &[&[&str]]) -> Profile {
        let mut profile = Profile::default();
        for objects in waves {
            profile.push_wave(Wave {
                requests: objects
                    .iter()
                    .map(|object| RequestRecord {
                        object: (*object).to_owned(),
                        offset: 0,
                        length: 10,
                        class: ByteClass::Postings,
                        num_reads: 1,
                        num_retries: 0,
                        hedged_us: None,
                        start_us: 0,
                        end_us: 1,
                        error: None,
                    })
                    .collect(),
            });
        }
        profile
    }

    #[test]
    fn a_wave_without_requests_is_not_counted() {
        assert_eq!(profile_of(&[&["a"], &[], &["b"]]).num_waves, 2);
    }

    #[test]
    fn waves_of_parallel_sessions_merge_pairwise() {
        let mut left = profile_of(&[&["a"], &["b"]]);
        left.join(profile_of(&[&["c"], &["d"], &["e"]]));
        assert_eq!(left.num_waves, 3);
        assert_eq!(left.num_requests, 5);
        assert_eq!(left.num_bytes, 50);
        let lens: Vec<usize> = left.waves.iter().map(|wave| wave.requests.len()).collect();
        assert_eq!(lens, [2, 2, 1]);
    }

    #[test]
    fn waves_of_successive_sessions_add_up() {
        let mut first = profile_of(&[&["manifest"]]);
        first.append(profile_of(&[&["a"], &["b"]]));
        assert_eq!(first.num_waves, 3);
        assert_eq!(first.waves.len(), 3);
    }
}
