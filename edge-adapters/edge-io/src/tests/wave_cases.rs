//! The cases that all hosts share, through this one's executor.

use std::collections::BTreeMap;
use std::time::Duration;

use canter_protocol::{Budget, ByteClass, FetchErrorKind};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::coalesce::CoalesceOptions;
use canter_stores::{AskedRange, CachedPiece, Misbehaviour, StoreFault};
use url::Url;

use super::cases::{Case, FaultKind, Kept, Observed, Sent, bytes_of, cases_for, etag_of};
use super::memory_store::MemoryBlobs;
use crate::host::{Index, ONLY_INDEX};
use crate::search::{Behind, Search};
use crate::{BlobCache, Cache, Call, FetchError, Landed, Options, Outcome, Platform};

const NOW_MS: u64 = 1_700_000_000_000;

type Blobs = Option<BlobCache<MemoryBlobs>>;

/// A store that answers as a case says.
struct CaseStore<'c> {
    case: &'c Case,
    now_us: u64,
    cpu_ms: u64,
    sent: Vec<Sent>,
    num_faults: BTreeMap<String, usize>,
    num_underway: usize,
    at_once: usize,
    unchanged: usize,
    /// Manifests that another host has put into the cache.
    put: Vec<(String, KeptManifest)>,
}

struct Flight {
    call: Call,
    at_us: u64,
}

impl CaseStore<'_> {
    fn answer(&mut self, call: &Call) -> Outcome {
        let failed = |kind| Outcome::Failed(FetchError::new(kind, &call.object, call.range, "no"));
        let misbehaved = |fault| {
            let what = Misbehaviour::new(fault, "a case");
            Outcome::Failed(FetchError::misbehaved(&call.object, call.range, &what))
        };
        if let Some(kept) = self.case.meanwhile.get(&call.object) {
            self.put
                .push((call.object.clone(), kept_at(kept, self.unix_ms())));
        }
        let fault = self
            .case
            .faults
            .iter()
            .find(|fault| fault.object == call.object);
        let num_before = self.num_faults.entry(call.object.clone()).or_default();
        let fault = fault.filter(|fault| *num_before < fault.times);
        *num_before += 1;
        let Some(len) = self.case.objects.get(&call.object) else {
            return failed(FetchErrorKind::NotFound);
        };
        let mut etag = etag_of(*len);
        match fault.map(|fault| fault.kind) {
            Some(FaultKind::Unavailable) => return failed(FetchErrorKind::Unavailable),
            Some(FaultKind::Denied) => return failed(FetchErrorKind::Denied),
            Some(FaultKind::ShortBody) => return misbehaved(StoreFault::ShortBody),
            Some(FaultKind::NewVersions) => {
                etag.push_str(&self.num_faults[&call.object].to_string())
            }
            None => {}
        }
        if call.known_etag.as_ref() == Some(&etag) {
            self.unchanged += 1;
            return Outcome::Unchanged;
        }
        let AskedRange { first, len: asked } = call.range.unwrap_or(AskedRange {
            first: 0,
            len: None,
        });
        let end = asked.map_or(*len, |asked| (first + asked) as usize);
        match end > *len {
            true => misbehaved(StoreFault::PastTheEnd),
            false => Outcome::Bytes {
                bytes: bytes_of(*len).slice(first as usize..end),
                etag: Some(etag),
                object_len: Some(*len as u64),
            },
        }
    }
}

fn kept_at(kept: &Kept, now_ms: u64) -> KeptManifest {
    KeptManifest {
        checked_at: Duration::from_millis(now_ms.saturating_add_signed(-kept.age_ms)),
        etag: kept.etag(),
        bytes: bytes_of(kept.len),
    }
}

impl Platform for CaseStore<'_> {
    type Flight = Flight;

    fn now_us(&self) -> u64 {
        self.now_us
    }

    fn unix_ms(&self) -> u64 {
        NOW_MS + self.now_us / 1000
    }

    fn cpu_ms(&self) -> Option<u64> {
        Some(self.cpu_ms)
    }

    fn can_pause(&self) -> bool {
        true
    }

    fn send(&mut self, call: Call) -> Result<Flight, Landed> {
        let (first, len) = call
            .range
            .map_or((0, None), |range| (range.first, range.len));
        self.sent
            .push((call.object.clone(), first, len.map(|len| first + len)));
        self.num_underway += 1;
        self.at_once = self.at_once.max(self.num_underway);
        let took_ms = match self.case.settings.order.as_str() {
            "reversed" => 100 - call.id,
            _ => 5,
        };
        Ok(Flight {
            call,
            at_us: self.now_us + took_ms * 1000,
        })
    }

    fn wait(&mut self, flights: &mut Vec<Flight>, until_us: Option<u64>) -> Option<Landed> {
        let next = (0..flights.len()).min_by_key(|ord| flights[*ord].at_us);
        let is_due = |ord: &usize| until_us.is_none_or(|until| flights[*ord].at_us <= until);
        let Some(ord) = next.filter(is_due) else {
            self.now_us = self.now_us.max(until_us.expect("waits for ever"));
            return None;
        };
        let flight = flights.swap_remove(ord);
        self.now_us = self.now_us.max(flight.at_us);
        self.num_underway -= 1;
        let outcome = self.answer(&flight.call);
        // Time passes while it is taken in.
        self.now_us += 5000;
        Some(Landed {
            id: flight.call.id,
            outcome,
        })
    }
}

fn options_of(case: &Case) -> Options {
    let settings = &case.settings;
    Options {
        max_cpu_ms: settings.max_cpu_ms,
        counts_cached_bytes: settings.counts_cached_bytes,
        manifest_ttl_ms: settings.manifest_ttl_ms,
        max_retries: settings.max_retries,
        coalesce: CoalesceOptions {
            max_gap_bytes: settings.max_gap_bytes,
            max_request_bytes: settings.max_request_bytes,
        },
        max_part_bytes: settings.max_part_bytes,
        ..Options::default()
    }
}

/// Returns a cache with the contents that the case describes.
fn cache_of(case: &Case, namespace: &str) -> Blobs {
    let mut cache = case
        .settings
        .cache
        .then(|| BlobCache::new(MemoryBlobs::default()))?;
    for (object, start, end, class) in &case.cached {
        let piece = CachedPiece {
            offset: *start,
            bytes: bytes_of(case.objects[object]).slice(*start as usize..*end as usize),
        };
        cache.put(&format!("{namespace}/{object}"), &piece, *class);
    }
    for (object, kept) in &case.manifests {
        let entry = kept_at(kept, NOW_MS).to_bytes();
        cache.put_entry(&format!("{namespace}/{object}"), entry, ByteClass::Manifest);
    }
    Some(cache)
}

fn check(case: &Case) {
    let index = Index::new(Url::parse("http://store.example/x").unwrap());
    let namespace = index.namespace.clone();
    let indexes = BTreeMap::from([(ONLY_INDEX.to_owned(), index)]);
    let options = options_of(case);
    let mut behind = Behind::new(cache_of(case, &namespace));
    let mut store = CaseStore {
        case,
        now_us: 0,
        cpu_ms: 0,
        sent: Vec::new(),
        num_faults: BTreeMap::new(),
        num_underway: 0,
        at_once: 0,
        unchanged: 0,
        put: Vec::new(),
    };
    let mut seen = Observed::default();
    let mut steps = case.steps.iter().peekable();
    let search_of = |step: &super::cases::Step| step.demands[0].search;
    while let Some(first) = steps.peek().map(|step| search_of(step)) {
        let budget = match first {
            0 => case.budget,
            _ => Budget::default(),
        };
        let started_us = store.now_us;
        let mut search = Search::new(
            &mut store,
            &mut behind,
            &options,
            &indexes,
            budget,
            started_us,
        );
        search.platform.cpu_ms = case.settings.cpu_ms;
        while let Some(step) = steps.next_if(|step| search_of(step) == first) {
            assert_eq!(step.demands.len(), 1, "{}", case.name);
            let supplies = search.answer(step.demands[0].demand(""));
            step.demands[0].check(case, supplies);
            step.check(case, std::mem::take(&mut search.platform.sent));
        }
        let counts = search.counts;
        let exhausted = search.gate.exhausted().map(str::to_owned);
        for (object, kept) in std::mem::take(&mut search.platform.put) {
            let key = format!("{namespace}/{object}");
            behind
                .cache
                .put_entry(&key, kept.to_bytes(), ByteClass::Manifest);
        }
        behind.settle();
        seen.waves += counts.num_waves;
        seen.bytes += counts.num_bytes;
        seen.hits += counts.num_cache_hits;
        seen.misses += counts.num_cache_misses;
        if first == 0 {
            seen.exhausted = exhausted;
        }
    }
    (seen.at_once, seen.unchanged) = (store.at_once, store.unchanged);
    case.check(&seen, |object| {
        let key = format!("{namespace}/{object}");
        let entry = behind.cache.get_entry(&key, ByteClass::Manifest)?;
        Some(KeptManifest::from_bytes(&entry)?.bytes.len())
    });
}

#[test]
fn waves_come_to_what_the_shared_cases_say() {
    for case in cases_for("edge-io") {
        check(&case);
    }
}
