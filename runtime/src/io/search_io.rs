//! State of the traffic that the sessions of one search, and the searches of one searcher, share.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use canter_stores::Extent;
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::Request;
use canter_waves::{Etags, SPLIT_CLASSES, Sent};
use lru::LruCache;
use tokio::sync::Semaphore;

use super::flights::{Flights, Landed};
use super::gate::Gate;
use super::manifest::ManifestKeeper;
use super::namespaces::Namespaces;
use crate::cache::{CachedPiece, RangeCache};
use crate::clock::Clock;
use crate::fetch::{ByteRange, CoalesceOptions, FetchError, FetchedRange, Pace, RangeFetcher};
use crate::observe::Metrics;
use crate::session::ByteClass;

/// Maximum number of objects whose length is remembered.
const MAX_KNOWN_OBJECTS: usize = 10_000;

/// State shared by all searches of one searcher.
pub(crate) struct SharedIo {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) cache: Option<Arc<dyn RangeCache>>,
    /// Prefixes of the cache's keys, so that several indexes can share one cache.
    pub(crate) namespaces: Namespaces,
    /// True if reads are widened to the blocks of the cache, so that neighbouring reads find them there.
    pub(crate) reads_blocks: bool,
    pub(crate) coalesce: CoalesceOptions,
    /// Maximum length of a request: a longer range is fetched in parallel parts.
    pub(crate) max_part_bytes: u64,
    pub(crate) fetch_permits: Semaphore,
    pub(crate) flights: Arc<Flights>,
    pub(crate) manifest: ManifestKeeper,
    pub(crate) metrics: Arc<Metrics>,
    /// Lengths of objects, as reported by the store; only a hint.
    pub(crate) object_lens: Mutex<LruCache<String, u64>>,
}

impl SharedIo {
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        cache: Option<Arc<dyn RangeCache>>,
        namespaces: Namespaces,
        max_concurrent_requests: usize,
    ) -> Self {
        let max_objects = NonZeroUsize::new(MAX_KNOWN_OBJECTS).unwrap_or(NonZeroUsize::MIN);
        Self {
            clock,
            reads_blocks: true,
            cache,
            namespaces,
            coalesce: CoalesceOptions::default(),
            max_part_bytes: u64::MAX,
            fetch_permits: Semaphore::new(max_concurrent_requests),
            flights: Arc::default(),
            manifest: ManifestKeeper::default(),
            metrics: Arc::default(),
            object_lens: Mutex::new(LruCache::new(max_objects)),
        }
    }

    /// Returns the date: milliseconds since 1970.
    pub(crate) fn unix_ms(&self) -> u64 {
        u64::try_from(self.clock.unix_time().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn cache_key(&self, name: &str) -> String {
        self.namespaces.key(name)
    }

    /// Returns the cache, if ranges of this class may be cached: the manifest is the only mutable object.
    pub(super) fn cache_for(&self, class: ByteClass) -> Option<&Arc<dyn RangeCache>> {
        self.cache.as_ref().filter(|_| class != ByteClass::Manifest)
    }

    /// Returns the length of the cache's blocks of this class, to which reads are widened; 1 where they are not.
    pub(super) fn block_len(&self, class: ByteClass) -> u64 {
        match self.cache_for(class) {
            Some(cache) if self.reads_blocks => cache.block_len(class),
            _ => 1,
        }
    }

    /// Returns the length of an object, if a store has reported it.
    pub(super) fn object_len(&self, object: &str) -> Option<u64> {
        self.object_lens
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(object)
            .copied()
    }

    fn note_object_len(&self, object: &str, len: Option<u64>) {
        if let Some(len) = len {
            self.object_lens
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .put(object.to_owned(), len);
        }
    }
}

/// State shared by all sessions of one search.
pub(crate) struct SearchIo {
    pub(crate) shared: Arc<SharedIo>,
    /// The store behind retries, hedges and this search's gate.
    pub(crate) fetcher: Arc<dyn RangeFetcher>,
    /// The same store without the gate, for requests in the background.
    pub(crate) ungated: Arc<dyn RangeFetcher>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) pace: Arc<Pace>,
    pub(crate) started: Duration,
    /// Moment at which reads are given up, so that there is still time to answer.
    pub(crate) reads_until: Option<Duration>,
    /// The same for the documents of the hits, which are read last.
    pub(crate) documents_until: Option<Duration>,
    /// True if only the plan's inputs may be read: manifest, heads and dictionaries.
    pub(crate) is_dry: bool,
    pub(crate) etags: Mutex<Etags>,
}

impl SearchIo {
    /// Returns the state for background requests of this search, which no budget limits.
    pub(super) fn behind(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            fetcher: Arc::clone(&self.ungated),
            ungated: Arc::clone(&self.ungated),
            gate: Arc::default(),
            pace: Arc::default(),
            started: self.shared.clock.now(),
            reads_until: None,
            documents_until: None,
            is_dry: false,
            etags: Mutex::default(),
        }
    }

    /// Returns the moment until which reads of these classes are waited for.
    pub(super) fn until(&self, has_documents: bool) -> Option<Duration> {
        match has_documents {
            true => self.documents_until,
            false => self.reads_until,
        }
    }

    /// Returns the microseconds since the search began.
    pub(crate) fn micros(&self, moment: Duration) -> u64 {
        u64::try_from(moment.saturating_sub(self.started).as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns an error if an immutable object has changed since this search first read it.
    fn check_etag(&self, request: &Request, fetched: &FetchedRange) -> Result<(), FetchError> {
        if request.class == ByteClass::Manifest {
            return Ok(());
        }
        let mut etags = self.etags.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = etags.check(&request.object, fetched.etag.as_deref());
        let range = range_of(&request.bytes);
        checked.map_err(|fault| FetchError::misbehaved(&request.object, range, &fault))
    }

    /// Converts the result of a flight for a wave.
    pub(super) fn landed(&self, landed: &Landed) -> canter_waves::Landed {
        let (num_retries, hedge) = match &landed.result {
            Ok(fetched) => (fetched.num_retries, fetched.hedge),
            Err(error) => (error.num_retries, error.hedge),
        };
        let was_sent = landed.was_sent && !was_refused(landed);
        canter_waves::Landed {
            result: match &landed.result {
                Ok(fetched) => Ok(CachedPiece {
                    offset: landed.offset,
                    bytes: fetched.bytes.clone(),
                }),
                Err(error) => Err(error.into()),
            },
            sent: was_sent.then(|| Sent {
                start_us: self.micros(landed.start),
                end_us: self.micros(landed.end),
                num_bytes: landed.num_bytes,
                num_retries,
                hedged_us: hedge.map(|hedge| self.micros(hedge.at)),
            }),
        }
    }

    async fn fetch_checked(&self, request: &Request) -> Result<FetchedRange, FetchError> {
        let range = range_of(&request.bytes);
        let fetched = self.fetcher.fetch(&request.object, range).await?;
        let num_bytes = fetched.bytes.len() as u64;
        if range.len.is_some_and(|len| num_bytes != len) {
            return Err(FetchError::short(&request.object, range, num_bytes));
        }
        self.check_etag(request, &fetched)?;
        Ok(fetched)
    }

    /// Runs the flight of one request. `must_ask` is false if the cache may have been filled since
    /// the last lookup, which is then repeated.
    pub(super) async fn fly(self: Arc<Self>, request: Request, must_ask: bool) -> Landed {
        let shared = &self.shared;
        // The cache has no reads to the end of an object.
        let range = request.bytes.range();
        let cache = shared.cache_for(request.class).filter(|_| range.is_some());
        let key = shared.cache_key(&request.object);
        if let (Some(bytes), Some(_), false) = (range, cache, must_ask) {
            let pieces = self
                .cached(&request.object, bytes, bytes, request.class)
                .await;
            if pieces::gaps(bytes, &pieces).is_empty() {
                let now = shared.clock.now();
                return Landed {
                    result: Ok(FetchedRange::new(pieces::join(pieces))),
                    offset: bytes.start,
                    start: now,
                    end: now,
                    was_sent: false,
                    num_bytes: 0,
                };
            }
        }
        let _permit = shared.fetch_permits.acquire().await;
        let start = shared.clock.now();
        let result = self.fetch_checked(&request).await;
        let end = shared.clock.now();
        if let Ok(fetched) = &result {
            shared.note_object_len(&request.object, fetched.object_len);
            if let Some(cache) = cache {
                let bytes = fetched.bytes.clone();
                let _busy = shared.clock.enter_busy();
                cache
                    .put(&key, request.bytes.start(), bytes, request.class)
                    .await;
            }
        }
        Landed {
            num_bytes: result
                .as_ref()
                .map_or(0, |fetched| fetched.bytes.len() as u64),
            result,
            offset: request.bytes.start(),
            start,
            end,
            was_sent: true,
        }
    }

    /// Returns the cached parts of `blocks`, which include the `wanted` bytes of a read.
    ///
    /// Parts that the read's own class lacks may be cached under another: requests are merged,
    /// blocks cross the border between two classes, and searches share flights.
    pub(super) async fn cached(
        &self,
        object: &str,
        blocks: &Range<u64>,
        wanted: &Range<u64>,
        class: ByteClass,
    ) -> Vec<CachedPiece> {
        let Some(cache) = self.shared.cache_for(class) else {
            return Vec::new();
        };
        let _busy = self.shared.clock.enter_busy();
        let key = self.shared.cache_key(object);
        let mut held = cache.get(&key, blocks.clone(), class).await;
        for other in SPLIT_CLASSES {
            if pieces::gaps(wanted, &held).is_empty() {
                break;
            }
            if other == class {
                continue;
            }
            for gap in pieces::gaps(blocks, &held) {
                for piece in cache.get(&key, gap, other).await {
                    pieces::add(&mut held, &piece, blocks);
                }
            }
        }
        held
    }
}

/// Converts `bytes` to the range for a fetcher.
pub(super) fn range_of(bytes: &Extent) -> ByteRange {
    ByteRange {
        offset: bytes.start(),
        len: bytes.len(),
    }
}

/// Returns whether the budget refused the first attempt, so that no request was sent.
fn was_refused(landed: &Landed) -> bool {
    let error = landed.result.as_ref().err();
    error.is_some_and(|error| error.is_refused && error.num_retries == 0 && error.hedge.is_none())
}
