//! The test cases that all hosts share, run through this host's executor.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use canter_protocol::{Budget, ByteClass, FetchErrorKind};
use canter_stores::cache::KeptManifest;
use canter_stores::{Misbehaviour, StoreFault};
use futures_util::future::{BoxFuture, FutureExt, join_all};

use super::gate::{Gate, Gated};
use super::manifest::ManifestKeeper;
use super::search_io::{SearchIo, SharedIo};
use super::session_io::{Answer, SessionIo};
use super::{ManifestOptions, Namespaces};
use crate::RangeCache;
use crate::cache::MemoryCache;
use crate::clock::{Clock, SystemClock};
use crate::fetch::{
    ByteRange, CoalesceOptions, FetchError, FetchedRange, RangeFetcher, Retry, RetryOptions,
    RetryState,
};
use cases::{Case, FaultKind, Kept, Observed, Sent, bytes_of, cases_for, etag_of};

#[path = "../../../waves/cases/case.rs"]
mod cases;

/// More turns than a wave needs to send everything.
const TURNS: usize = 100;

/// A store that answers as the case specifies.
struct CaseStore {
    case: Arc<Case>,
    cache: Option<Arc<MemoryCache>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    sent: Vec<Sent>,
    num_sent: usize,
    num_faults: BTreeMap<String, usize>,
    num_underway: usize,
    at_once: usize,
    unchanged: usize,
}

impl CaseStore {
    async fn answer(
        &self,
        object: &str,
        range: ByteRange,
        etag: Option<&str>,
    ) -> Result<FetchedRange, FetchError> {
        let num_before = self.begin(object, range);
        // Everything that is sent at once is under way before the first answer.
        let num_turns = match self.case.settings.order.as_str() {
            "reversed" => 2 * TURNS - num_before,
            _ => TURNS,
        };
        for _ in 0..num_turns {
            tokio::task::yield_now().await;
        }
        self.put_meanwhile(object).await;
        self.end(object, range, etag)
    }

    fn begin(&self, object: &str, range: ByteRange) -> usize {
        let mut seen = self.seen.lock().unwrap();
        let end = range.len.map(|len| range.offset + len);
        seen.sent.push((object.to_owned(), range.offset, end));
        seen.num_sent += 1;
        seen.num_underway += 1;
        seen.at_once = seen.at_once.max(seen.num_underway);
        seen.num_sent
    }

    /// Lets another host put a manifest into the cache; time passes before and after.
    async fn put_meanwhile(&self, object: &str) {
        let (Some(kept), Some(cache)) = (self.case.meanwhile.get(object), &self.cache) else {
            return;
        };
        let pause = Duration::from_millis(3);
        tokio::time::sleep(pause).await;
        put_manifest(cache, object, kept).await;
        tokio::time::sleep(pause).await;
    }

    fn end(
        &self,
        object: &str,
        range: ByteRange,
        known: Option<&str>,
    ) -> Result<FetchedRange, FetchError> {
        let mut seen = self.seen.lock().unwrap();
        seen.num_underway -= 1;
        let failed = |kind| Err(FetchError::new(kind, object, range, "no"));
        let num_before = *seen.num_faults.get(object).unwrap_or(&0);
        seen.num_faults.insert(object.to_owned(), num_before + 1);
        let fault = self.case.faults.iter().find(|fault| fault.object == object);
        let fault = fault.filter(|fault| num_before < fault.times);
        let Some(len) = self.case.objects.get(object) else {
            return failed(FetchErrorKind::NotFound);
        };
        let mut etag = etag_of(*len);
        match fault.map(|fault| fault.kind) {
            Some(FaultKind::Unavailable) => return failed(FetchErrorKind::Unavailable),
            Some(FaultKind::Denied) => return failed(FetchErrorKind::Denied),
            Some(FaultKind::ShortBody) => {
                let what = Misbehaviour::new(StoreFault::ShortBody, "a case");
                return Err(FetchError::misbehaved(object, range, &what));
            }
            Some(FaultKind::NewVersions) => etag.push_str(&num_before.to_string()),
            None => {}
        }
        if known == Some(&etag) {
            seen.unchanged += 1;
            return Ok(FetchedRange::unchanged());
        }
        let start = range.offset as usize;
        let end = range.len.map_or(*len, |asked| start + asked as usize);
        if end > *len {
            return Err(FetchError::short(object, range, (*len - start) as u64));
        }
        Ok(FetchedRange {
            etag: Some(etag),
            object_len: Some(*len as u64),
            ..FetchedRange::new(bytes_of(*len).slice(start..end))
        })
    }
}

impl RangeFetcher for CaseStore {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.answer(object, range, None).boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.answer(object, range, Some(etag)).boxed()
    }
}

async fn put_manifest(cache: &MemoryCache, object: &str, kept: &Kept) {
    let now_ms = canter_stores::unix_time().as_millis() as u64;
    let kept = KeptManifest {
        checked_at: Duration::from_millis(now_ms.saturating_add_signed(-kept.age_ms)),
        etag: kept.etag(),
        bytes: bytes_of(kept.len),
    };
    let key = format!("x/{object}");
    cache
        .put_entry(&key, kept.to_bytes(), ByteClass::Manifest)
        .await;
}

/// Creates a cache with the case's contents.
async fn cache_of(case: &Case) -> Option<Arc<MemoryCache>> {
    if !case.settings.cache {
        return None;
    }
    let cache = MemoryCache::new(64 << 20);
    for (object, start, end, class) in &case.cached {
        let bytes = bytes_of(case.objects[object]).slice(*start as usize..*end as usize);
        cache
            .put(&format!("x/{object}"), *start, bytes, *class)
            .await;
    }
    for (object, kept) in &case.manifests {
        put_manifest(&cache, object, kept).await;
    }
    Some(Arc::new(cache))
}

/// The searches of a case, and their shared state.
struct Bed {
    store: Arc<CaseStore>,
    shared: Arc<SharedIo>,
    retries: Arc<RetryState>,
    sessions: BTreeMap<usize, (Arc<Gate>, SessionIo)>,
}

impl Bed {
    fn new(case: &Arc<Case>, cache: Option<Arc<MemoryCache>>) -> Self {
        let settings = &case.settings;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let shared = SharedIo {
            coalesce: CoalesceOptions {
                max_gap_bytes: settings.max_gap_bytes,
                max_request_bytes: settings.max_request_bytes,
            },
            max_part_bytes: settings.max_part_bytes,
            manifest: ManifestKeeper::new(ManifestOptions {
                ttl_ms: settings.manifest_ttl_ms,
                stale_while_revalidate_ms: 0,
            }),
            ..SharedIo::new(
                clock,
                cache.clone().map(|cache| -> Arc<dyn RangeCache> { cache }),
                Namespaces::One("x".into()),
                64,
            )
        };
        let retries = RetryState::new(RetryOptions {
            max_retries: settings.max_retries,
            initial_backoff: Duration::ZERO,
            ..RetryOptions::default()
        });
        Self {
            store: Arc::new(CaseStore {
                case: Arc::clone(case),
                cache,
                seen: Mutex::default(),
            }),
            shared: Arc::new(shared),
            retries: Arc::new(retries),
            sessions: BTreeMap::new(),
        }
    }

    /// Takes the session of a search, or begins the search.
    fn session(&mut self, search: usize, budget: Budget) -> (Arc<Gate>, SessionIo) {
        if let Some(session) = self.sessions.remove(&search) {
            return session;
        }
        let gate = Arc::new(Gate::new(match search {
            0 => budget,
            _ => Budget::default(),
        }));
        let gated = Gated {
            inner: Arc::clone(&self.store) as Arc<dyn RangeFetcher>,
            gate: Arc::clone(&gate),
        };
        let clock = Arc::clone(&self.shared.clock);
        let retried = Retry::sharing(Arc::new(gated), clock, Arc::clone(&self.retries));
        let io = SearchIo {
            shared: Arc::clone(&self.shared),
            fetcher: Arc::new(retried),
            ungated: Arc::clone(&self.store) as Arc<dyn RangeFetcher>,
            gate: Arc::clone(&gate),
            pace: Arc::default(),
            started: self.shared.clock.now(),
            reads_until: None,
            documents_until: None,
            is_dry: false,
            etags: Mutex::default(),
        };
        (gate, SessionIo::new(Arc::new(io), 0))
    }
}

async fn check(case: Case) {
    let case = Arc::new(case);
    let cache = cache_of(&case).await;
    let mut bed = Bed::new(&case, cache.clone());
    for step in &case.steps {
        let answers = step.demands.iter().map(|asked| {
            let (gate, mut session) = bed.session(asked.search, case.budget);
            async move {
                let answer = session.answer(asked.demand("")).await;
                (asked, gate, session, answer)
            }
        });
        let answers: Vec<_> = answers.collect();
        for (asked, gate, session, answer) in join_all(answers).await {
            let Answer::Supplies(supplies) = answer else {
                panic!("{}: stopped", case.name);
            };
            asked.check(&case, supplies);
            bed.sessions.insert(asked.search, (gate, session));
        }
        let sent = std::mem::take(&mut bed.store.seen.lock().unwrap().sent);
        step.check(&case, sent);
    }
    let mut seen = Observed::default();
    {
        let of_store = bed.store.seen.lock().unwrap();
        (seen.at_once, seen.unchanged) = (of_store.at_once, of_store.unchanged);
    }
    for (search, (gate, session)) in &bed.sessions {
        let profile = &session.profile;
        seen.waves += profile.num_waves;
        seen.bytes += profile.num_bytes;
        seen.hits += profile.num_cache_hits.total();
        seen.misses += profile.num_cache_misses.total();
        seen.shared += profile.num_shared_requests;
        if *search == 0 {
            seen.exhausted = gate.exhausted();
        }
    }
    let mut kept = BTreeMap::new();
    for object in case.objects.keys() {
        if let Some(cache) = &cache {
            let key = format!("x/{object}");
            let entry = cache.get_entry(&key, ByteClass::Manifest).await;
            let entry = entry.as_ref().and_then(KeptManifest::from_bytes);
            kept.extend(entry.map(|entry| (object.clone(), entry.bytes.len())));
        }
    }
    case.check(&seen, |object| kept.get(object).copied());
}

#[tokio::test]
async fn waves_come_to_what_the_shared_cases_say() {
    for case in cases_for("runtime") {
        check(case).await;
    }
}
