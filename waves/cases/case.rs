//! The shared cases of waves (`cases.json`): the requests, supplies and costs of a demand with a given cache and store,
//! on every host. The tests of the runtime, of edge-io and of the TypeScript package each run them through their own
//! executor.
//!
//! A case has objects (lengths by name; the bytes follow from the length), the contents of the cache, and steps. A
//! step is one demand, or concurrent demands of several searches. Requests are `[object, first, end or null]`, in
//! order; supplies are `ok`, `miss`, `=text` of an entry, or the kind of a failure, look-ups first.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use canter_protocol::{
    Budget, ByteClass, CacheLookup, CacheStore, Demand, FetchErrorKind, ReadRequest, Supply,
    SupplyResult,
};
use serde::Deserialize;

/// Returns all cases for `host`.
pub(crate) fn cases_for(host: &str) -> Vec<Case> {
    let all: Vec<Case> = serde_json::from_str(include_str!("cases.json")).unwrap();
    assert!(all.len() >= 60, "only {} cases", all.len());
    let names: BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "two cases have one name");
    all.into_iter()
        .filter(|case| {
            let mut hosts = case.hosts.iter();
            case.hosts.is_empty() || hosts.any(|other| other == host)
        })
        .collect()
}

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// The hosts with the feature of the case; empty for all.
    #[serde(default)]
    hosts: Vec<String>,
    /// A note for the reader.
    #[serde(default, rename = "why")]
    _why: String,
    pub(crate) objects: BTreeMap<String, usize>,
    #[serde(default)]
    pub(crate) settings: Settings,
    /// Budget of the first search; the others have none.
    #[serde(default)]
    pub(crate) budget: Budget,
    /// Object, first byte, end, class.
    #[serde(default)]
    pub(crate) cached: Vec<(String, u64, u64, ByteClass)>,
    /// Manifests in the cache.
    #[serde(default)]
    pub(crate) manifests: BTreeMap<String, Kept>,
    /// Manifests that another host puts into the cache during a request for them.
    #[serde(default)]
    pub(crate) meanwhile: BTreeMap<String, Kept>,
    #[serde(default)]
    pub(crate) faults: Vec<Fault>,
    pub(crate) steps: Vec<Step>,
    pub(crate) profile: Expected,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) cache: bool,
    pub(crate) max_gap_bytes: u64,
    pub(crate) max_request_bytes: u64,
    pub(crate) max_part_bytes: u64,
    pub(crate) max_retries: u32,
    pub(crate) manifest_ttl_ms: u64,
    pub(crate) counts_cached_bytes: bool,
    pub(crate) max_cpu_ms: Option<u64>,
    /// CPU time used when the first demand arrives.
    pub(crate) cpu_ms: u64,
    /// `reversed`: the last request is answered first.
    pub(crate) order: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cache: false,
            max_gap_bytes: 128 << 10,
            max_request_bytes: 8 << 20,
            max_part_bytes: 8 << 20,
            max_retries: 0,
            manifest_ttl_ms: 0,
            counts_cached_bytes: false,
            max_cpu_ms: None,
            cpu_ms: 0,
            order: String::new(),
        }
    }
}

/// A manifest in the cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    /// Milliseconds since the store confirmed it; negative if the clock was set back.
    pub(crate) age_ms: i64,
    pub(crate) len: usize,
    #[serde(default = "yes")]
    pub(crate) has_etag: bool,
}

fn yes() -> bool {
    true
}

impl Kept {
    pub(crate) fn etag(&self) -> String {
        match self.has_etag {
            true => etag_of(self.len),
            false => String::new(),
        }
    }
}

/// Fault of the store for a number of requests for an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) object: String,
    pub(crate) kind: FaultKind,
    pub(crate) times: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    Unavailable,
    ShortBody,
    Denied,
    /// A new version with each answer.
    NewVersions,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) demands: Vec<CaseDemand>,
    requests: Vec<Sent>,
}

/// Object, first byte, end.
pub(crate) type Sent = (String, u64, Option<u64>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseDemand {
    /// Number of the search that sends the demand.
    #[serde(default)]
    pub(crate) search: usize,
    /// Object, offset, length, class.
    #[serde(default)]
    reads: Vec<(String, u64, Option<u64>, ByteClass)>,
    #[serde(default)]
    lookups: Vec<String>,
    #[serde(default)]
    stores: Vec<(String, String)>,
    supplies: Vec<String>,
}

/// The cost of all searches of a case together.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expected {
    waves: u64,
    bytes: u64,
    hits: u64,
    misses: u64,
    shared: Option<u64>,
    /// For the first search.
    exhausted: Option<String>,
    /// Maximum number of concurrent requests.
    at_once: Option<usize>,
    /// Number of answers "not modified".
    unchanged: Option<usize>,
    /// Lengths of the manifests in the cache at the end.
    kept: BTreeMap<String, usize>,
}

/// The cost on a host, as it counts.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) waves: u64,
    pub(crate) bytes: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) shared: u64,
    pub(crate) exhausted: Option<String>,
    pub(crate) at_once: usize,
    pub(crate) unchanged: usize,
}

/// Returns the bytes of an object of length `len`.
pub(crate) fn bytes_of(len: usize) -> Bytes {
    (0..len)
        .map(|at| (at * 31 + at / 251 + len) as u8)
        .collect()
}

/// Returns the version of an object of length `len`.
pub(crate) fn etag_of(len: usize) -> String {
    format!("\"v{len}\"")
}

impl CaseDemand {
    /// Returns the demand, with `prefix` before every name.
    pub(crate) fn demand(&self, prefix: &str) -> Demand {
        let class = ByteClass::PartialResult;
        let lookups = (0..).zip(&self.lookups).map(|(id, key)| CacheLookup {
            id,
            key: format!("{prefix}{key}"),
            class,
        });
        let first = self.lookups.len() as u64;
        let reads = (first..).zip(&self.reads);
        Demand {
            lookups: lookups.collect(),
            reads: reads
                .map(|(id, (object, offset, len, class))| ReadRequest {
                    id,
                    object: format!("{prefix}{object}"),
                    offset: *offset,
                    len: *len,
                    class: *class,
                })
                .collect(),
            stores: self
                .stores
                .iter()
                .map(|(key, text)| CacheStore {
                    key: format!("{prefix}{key}"),
                    bytes: text.clone().into(),
                    class,
                })
                .collect(),
        }
    }

    /// Compares the supplies of the demand with those expected.
    pub(crate) fn check(&self, case: &Case, mut supplies: Vec<Supply>) {
        let name = &case.name;
        supplies.sort_by_key(|supply| supply.id);
        let num_asked = self.lookups.len() + self.reads.len();
        let ids: Vec<u64> = supplies.iter().map(|supply| supply.id).collect();
        assert_eq!(ids, (0..num_asked as u64).collect::<Vec<_>>(), "{name}");
        assert_eq!(self.supplies.len(), num_asked, "{name}");
        for (supply, expect) in supplies.iter().zip(&self.supplies) {
            let ord = supply.id as usize;
            match &supply.outcome {
                SupplyResult::Miss => assert_eq!(expect, "miss", "{name}, {ord}"),
                SupplyResult::Failed { kind, message } => {
                    assert_eq!(expect, name_of(*kind), "{name}, {ord}: {message}");
                }
                SupplyResult::Bytes(bytes) if ord < self.lookups.len() => {
                    let text = format!("={}", String::from_utf8_lossy(bytes));
                    assert_eq!(expect, &text, "{name}, {ord}");
                }
                SupplyResult::Bytes(bytes) => {
                    assert_eq!(expect, "ok", "{name}, {ord}");
                    let (object, offset, len, _) = &self.reads[ord - self.lookups.len()];
                    let whole = bytes_of(case.objects[object]);
                    let from = *offset as usize;
                    let to = len.map_or(whole.len(), |len| from + len as usize);
                    assert_eq!(bytes, &whole[from..to], "{name}, {ord}: other bytes");
                }
            }
        }
    }
}

fn name_of(kind: FetchErrorKind) -> &'static str {
    match kind {
        FetchErrorKind::NotFound => "not_found",
        FetchErrorKind::Truncated => "truncated",
        FetchErrorKind::Denied => "denied",
        FetchErrorKind::Protocol => "protocol",
        FetchErrorKind::Unavailable => "unavailable",
        FetchErrorKind::Budget => "budget",
    }
}

impl Step {
    /// Compares the requests of the step with those expected.
    pub(crate) fn check(&self, case: &Case, mut sent: Vec<Sent>) {
        sent.sort_by_key(|(object, first, end)| (object.clone(), *first, end.unwrap_or(u64::MAX)));
        assert_eq!(sent, self.requests, "{}: requests", case.name);
    }
}

impl Case {
    /// Compares the cost of all searches with the expected one. `kept_len` returns the length of a manifest in the
    /// cache.
    pub(crate) fn check(&self, seen: &Observed, mut kept_len: impl FnMut(&str) -> Option<usize>) {
        let (name, expect) = (&self.name, &self.profile);
        let costs = (seen.waves, seen.bytes, seen.hits, seen.misses);
        let expected = (expect.waves, expect.bytes, expect.hits, expect.misses);
        assert_eq!(costs, expected, "{name}: waves, bytes, hits, misses");
        assert_eq!(seen.exhausted, expect.exhausted, "{name}: exhausted");
        for (what, seen, expect) in [
            ("shared", seen.shared, expect.shared),
            (
                "at once",
                seen.at_once as u64,
                expect.at_once.map(|n| n as u64),
            ),
            (
                "unchanged",
                seen.unchanged as u64,
                expect.unchanged.map(|n| n as u64),
            ),
        ] {
            if let Some(expect) = expect {
                assert_eq!(seen, expect, "{name}: {what}");
            }
        }
        for (object, len) in &expect.kept {
            assert_eq!(
                kept_len(object),
                Some(*len),
                "{name}: {object} in the cache"
            );
        }
    }
}
