//! One demand, from its look-ups to its supplies.
//!
//! ```text
//!   begin ─→ look-ups ─→ found … ─┐
//!                                 ▼
//!                  ┌──── next_round ──── empty ─→ end
//!                  │         ▲
//!                  ▼         │ all have landed, or the time is up
//!              landed … ─────┘
//! ```
//!
//! Most waves take one round. A second one follows if a merged request ran past the end of an object, or if another
//! search's flight failed for reasons of that search; a third if both happen to a read.

use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;
use canter_protocol::{
    ByteClass, CacheLookup, CacheStore, Demand, FetchErrorKind, Supply, SupplyResult,
};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::planning::{Missing, Request, align, requests_of};
use canter_stores::{CachedPiece, Extent};

use crate::costs::{Costs, RequestRecord};
use crate::planning::{Fetch, Host, block_len_of, missing_of, plan_round};
use crate::read::PendingRead;
use crate::{FetchError, TIME_IS_UP};

/// Maximum number of rounds of a wave.
const MAX_ROUNDS: usize = 3;

/// The reads of a session so far: a range that is requested again was damaged the first time.
#[derive(Debug, Default)]
pub struct Asked(HashSet<(String, Extent)>);

/// A request to the host's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// The entry of a manifest.
    Manifest {
        /// Name of the object.
        object: String,
    },
    /// Pieces of an immutable object.
    Pieces {
        /// Name of the object.
        object: String,
        /// The blocks that include the wanted bytes.
        blocks: Range<u64>,
        /// The bytes of the read.
        wanted: Range<u64>,
        /// Class of the read.
        class: ByteClass,
    },
}

/// The cache's answer to a [`LookUp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Pieces of the blocks, in order and not overlapping.
    Pieces(Vec<CachedPiece>),
    /// A manifest that may be used without a request.
    Manifest(Bytes),
    /// A manifest that must be revalidated.
    Expired(KeptManifest),
    /// No manifest.
    Absent,
    /// The budget does not allow the look-up, with a message.
    Refused(String),
}

/// A completed fetch.
#[derive(Clone, Debug)]
pub struct Landed {
    /// The bytes, or the error. An unchanged manifest has the bytes of the kept one.
    pub result: Result<CachedPiece, FetchError>,
    /// The request that was sent, by this wave or by the search whose flight was joined. `None` if none was: the budget
    /// refused it, or the bytes were in the cache meanwhile.
    pub sent: Option<Sent>,
}

/// A request that was sent and has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Microseconds from the beginning of the search until it was sent.
    pub start_us: u64,
    /// Microseconds from the beginning of the search until its last byte arrived.
    pub end_us: u64,
    /// Number of bytes that were transferred.
    pub num_bytes: u64,
    /// Number of retries.
    pub num_retries: u32,
    /// Time at which a second request was sent beside it, in microseconds from the beginning of the search.
    pub hedged_us: Option<u64>,
}

/// A fetch under way.
#[derive(Debug)]
struct Awaited {
    request: Request,
    /// True if this wave sent it; otherwise it belongs to another search.
    is_ours: bool,
    has_landed: bool,
}

/// State of one demand until its supplies are complete.
#[derive(Debug)]
pub struct Wave {
    puts: Vec<CacheStore>,
    lookups: Vec<CacheLookup>,
    entries: Vec<Supply>,
    reads: Vec<PendingRead>,
    awaited: Vec<Awaited>,
    num_rounds: usize,
    has_cache: bool,
    costs: Costs,
}

impl Wave {
    /// Begins the wave of `demand`, in a session with the earlier reads `asked`.
    pub fn begin(demand: Demand, asked: &mut Asked, host: &impl Host) -> Self {
        let reads = demand.reads.into_iter().map(|request| {
            let mut read = PendingRead::new(request);
            let place = (read.request.object.clone(), read.bytes.clone());
            read.must_ask = !asked.0.insert(place);
            read
        });
        let mut wave = Self {
            puts: demand.stores,
            lookups: demand.lookups,
            entries: Vec::new(),
            reads: reads.collect(),
            awaited: Vec::new(),
            num_rounds: 0,
            has_cache: host.has_cache(),
            costs: Costs::default(),
        };
        let reads = wave.reads.iter();
        let again = reads.filter(|read| read.is_manifest() && read.must_ask);
        for _ in 0..again.count() {
            wave.count_read(ByteClass::Manifest, false);
        }
        wave
    }

    /// Takes the entries to put into the cache. Look-ups of entries come after them.
    pub fn take_puts(&mut self) -> Vec<CacheStore> {
        std::mem::take(&mut self.puts)
    }

    /// Takes the look-ups of entries, each of which is answered by [`Wave::found_entry`] before the wave ends.
    /// Rounds do not wait for them.
    pub fn take_entries(&mut self) -> Vec<CacheLookup> {
        std::mem::take(&mut self.lookups)
    }

    /// Takes in the cache's entry of a key.
    pub fn found_entry(&mut self, lookup: &CacheLookup, bytes: Option<Bytes>) {
        let num_bytes = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.costs.num_cache_bytes += num_bytes;
        self.count_read(lookup.class, bytes.is_some());
        self.entries.push(Supply {
            id: lookup.id,
            outcome: bytes.map_or(SupplyResult::Miss, SupplyResult::Bytes),
        });
    }

    /// Returns the look-ups of reads, each of which is answered by [`Wave::found`] before the first round. A repeated
    /// read is not looked up.
    pub fn look_ups(&self, host: &impl Host) -> Vec<(usize, LookUp)> {
        let reads = self.reads.iter().enumerate();
        let reads = reads.filter(|(_, read)| !read.is_done());
        let look_ups = reads.filter_map(|(ord, read)| {
            let object = read.request.object.clone();
            if read.is_manifest() {
                // For a repeated read, neither the cached manifest nor its version is used.
                return (!read.must_ask).then_some((ord, LookUp::Manifest { object }));
            }
            let class = read.request.class;
            let is_cached = self.has_cache && class != ByteClass::Manifest;
            let wanted = read.bytes.range()?.clone();
            if read.must_ask || !is_cached {
                return None;
            }
            let block_len = block_len_of(host, class);
            let look_up = LookUp::Pieces {
                blocks: align(&wanted, block_len, host.object_len(&object)),
                object,
                wanted,
                class,
            };
            Some((ord, look_up))
        });
        look_ups.collect()
    }

    /// Takes in the answer to the look-up of read `ord`.
    pub fn found(&mut self, ord: usize, found: Found) {
        let Some(read) = self.reads.get_mut(ord) else {
            return;
        };
        let class = read.request.class;
        let is_hit = match found {
            Found::Refused(what) => return read.fail(FetchErrorKind::Budget, &what),
            Found::Absent => false,
            Found::Expired(kept) => {
                read.kept = Some(kept);
                false
            }
            Found::Manifest(bytes) => {
                read.take(&CachedPiece { offset: 0, bytes }, &Extent::WHOLE);
                true
            }
            Found::Pieces(cached) => {
                let asked = read.bytes.clone();
                for piece in &cached {
                    read.take(piece, &asked);
                }
                read.around = cached;
                self.costs.num_cache_bytes += read.num_bytes();
                read.is_done()
            }
        };
        self.count_read(class, is_hit);
    }

    /// Counts a read or a look-up that the cache could have answered, if there is a cache.
    fn count_read(&mut self, class: ByteClass, is_hit: bool) {
        let counts = match is_hit {
            true => &mut self.costs.num_cache_hits,
            false => &mut self.costs.num_cache_misses,
        };
        counts.add(class, u64::from(self.has_cache));
    }

    /// Returns the requests of this wave that a dry run may not send: all of them if it reads more than
    /// manifests, heads and dictionaries; `None` otherwise.
    pub fn beyond_a_dry_run(&self, host: &impl Host) -> Option<Vec<Request>> {
        let reads = self.reads.iter().enumerate();
        let missing: Vec<Missing> = reads
            .flat_map(|(ord, read)| missing_of(host, ord, read))
            .collect();
        let is_body = |missing: &Missing| {
            !matches!(
                missing.class,
                ByteClass::Manifest | ByteClass::Head | ByteClass::Dictionary
            )
        };
        let (coalesce, max_part_bytes) = host.request_shape();
        let is_beyond = missing.iter().any(is_body);
        is_beyond.then(|| requests_of(&missing, coalesce, max_part_bytes))
    }

    /// Returns the fetches of the next round, to be started together; none once every read has its bytes or its
    /// error. Must be called when the fetches of the previous round have landed.
    pub fn next_round<H: Host>(&mut self, host: &mut H) -> Vec<Fetch<H::Flight>> {
        self.awaited.clear();
        if self.num_rounds == MAX_ROUNDS {
            self.fail_rest(FetchErrorKind::Unavailable, "the fetcher gave no answer");
        }
        let fetches = plan_round(host, &mut self.reads);
        if fetches.is_empty() {
            return fetches;
        }
        if let Err(what) = host.admit_round(self.has_documents()) {
            self.fail_rest(FetchErrorKind::Budget, &what);
            return Vec::new();
        }
        self.num_rounds += 1;
        self.awaited = fetches
            .iter()
            .map(|fetch| Awaited {
                request: fetch.request.clone(),
                is_ours: fetch.joined.is_none(),
                has_landed: false,
            })
            .collect();
        fetches
    }

    /// Returns whether documents of hits are read, which are worth waiting for longest.
    pub fn has_documents(&self) -> bool {
        let mut classes = self.reads.iter().map(|read| read.request.class);
        classes.any(|class| class == ByteClass::DocStore)
    }

    /// Takes in a completed fetch of this round. Returns whether a read lacks its bytes because the budget refused
    /// the request.
    pub fn landed(&mut self, id: usize, landed: &Landed) -> bool {
        let Some(awaited) = self.awaited.get_mut(id) else {
            return false;
        };
        awaited.has_landed = true;
        let (request, is_ours) = (awaited.request.clone(), awaited.is_ours);
        self.record(&request, is_ours, landed);
        match &landed.result {
            Ok(piece) => {
                for read in self.reads.iter_mut().filter(|read| read.overlaps(&request)) {
                    read.take(piece, &request.bytes);
                }
                false
            }
            Err(error) => self.deal_out_error(&request, is_ours, error),
        }
    }

    fn record(&mut self, request: &Request, is_ours: bool, landed: &Landed) {
        let Some(sent) = landed.sent.filter(|_| is_ours) else {
            // A request that the budget refused was neither sent nor shared.
            let is_shared = landed.sent.is_some() || landed.result.is_ok();
            self.costs.num_shared_requests += u64::from(is_shared);
            return;
        };
        self.costs.wave.requests.push(RequestRecord {
            object: request.object.clone(),
            offset: request.bytes.start(),
            length: match &landed.result {
                Ok(_) => sent.num_bytes,
                Err(_) => request.bytes.len().unwrap_or(0),
            },
            class: request.class,
            num_reads: request.num_reads,
            num_retries: sent.num_retries,
            hedged_us: sent.hedged_us,
            start_us: sent.start_us,
            end_us: sent.end_us,
            error: landed
                .result
                .as_ref()
                .err()
                .map(|error| error.message.clone()),
        });
    }

    fn deal_out_error(&mut self, request: &Request, is_ours: bool, error: &FetchError) -> bool {
        let is_last = self.num_rounds == MAX_ROUNDS;
        // Another search's flight may have failed by that search's budget, by the end of an object that its merged
        // request ran past, or because of a version that only that search has seen.
        let is_theirs = !is_ours
            && matches!(
                error.kind,
                FetchErrorKind::Budget | FetchErrorKind::Truncated | FetchErrorKind::Protocol
            );
        let mut lacks_budget = false;
        for read in self.reads.iter_mut().filter(|read| read.overlaps(request)) {
            if read.is_done() {
                continue;
            }
            // A merged request that ran past the end of the object must not fail its other reads: each is
            // requested separately.
            let is_merged = request.num_reads > 1 || !read.bytes.covers(&request.bytes);
            let was_merged = error.kind == FetchErrorKind::Truncated && is_merged && !read.is_exact;
            if !is_last && (was_merged || is_theirs) {
                read.is_exact |= was_merged;
                read.is_alone |= is_theirs;
                continue;
            }
            lacks_budget |= is_ours && error.kind == FetchErrorKind::Budget;
            read.error = Some(error.clone());
        }
        lacks_budget
    }

    /// Gives up all running fetches: the time is up. `started_us` and `now_us` are the start of the wave and the
    /// current time, in microseconds from the beginning of the search.
    pub fn time_is_up(&mut self, started_us: u64, now_us: u64) {
        for late in self.awaited.drain(..) {
            if !late.is_ours || late.has_landed {
                continue;
            }
            self.costs.wave.requests.push(RequestRecord {
                object: late.request.object,
                offset: late.request.bytes.start(),
                length: 0,
                class: late.request.class,
                num_reads: late.request.num_reads,
                num_retries: 0,
                hedged_us: None,
                start_us: started_us,
                end_us: now_us,
                error: Some(TIME_IS_UP.to_owned()),
            });
        }
        self.fail_rest(FetchErrorKind::Budget, TIME_IS_UP);
    }

    /// Fails the reads that still lack bytes.
    fn fail_rest(&mut self, kind: FetchErrorKind, what: &str) {
        for read in &mut self.reads {
            read.fail(kind, what);
        }
    }

    /// Ends the wave; returns the answer to each look-up and each read, in the order of the demand, and the cost.
    pub fn end(mut self) -> (Vec<Supply>, Costs) {
        let requests = &mut self.costs.wave.requests;
        requests.sort_by(|a, b| (&a.object, a.offset).cmp(&(&b.object, b.offset)));
        let mut supplies = self.entries;
        supplies.extend(self.reads.into_iter().map(PendingRead::into_supply));
        (supplies, self.costs)
    }
}
