//! One session's waves: everything a demand names, answered at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use canter_stores::Extent;
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::{Missing, Request, align, requests_of, within};
use futures_util::StreamExt;
use futures_util::future::{Either, join, join_all, select};
use futures_util::stream::FuturesUnordered;

use super::flights::{Flight, Landed, Table};
use super::observed::observed;
use super::reads::{PendingRead, fail_rest};
use super::search_io::SearchIo;
use super::session_manifest::Looked;
use crate::cache::CachedPiece;
use crate::fetch::{CoalesceOptions, FetchErrorKind};
use crate::profile::{Profile, Wave};
use crate::session::{
    ByteClass, CacheLookup, CacheStore, Demand, ReadRequest, Supply, SupplyResult,
};

/// What a read that was given up at the deadline says.
pub(super) const TIME_IS_UP: &str =
    "the bytes had not come when the time was up; raise deadline_ms or narrow the query";

/// How often a wave is planned again, because a merged request ran past the end of an object or a
/// flight of another search failed for that search's own reasons.
const MAX_ROUNDS: usize = 3;

/// A request that a dry run did not send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedRequest {
    pub(crate) object: String,
    pub(crate) bytes: Extent,
    pub(crate) class: ByteClass,
    pub(crate) num_reads: u32,
}

impl From<Request> for PlannedRequest {
    fn from(request: Request) -> Self {
        Self {
            object: request.object,
            bytes: request.bytes,
            class: request.class,
            num_reads: request.num_reads,
        }
    }
}

/// What a demand comes to.
pub(crate) enum Answer {
    Supplies(Vec<Supply>),
    /// A dry run has come to the first wave that it may not send.
    Stopped(Vec<PlannedRequest>),
}

/// The waves of one session: what it has asked for, and what that cost.
pub(crate) struct SessionIo {
    pub(super) io: Arc<SearchIo>,
    pub(crate) profile: Profile,
    /// Waves of the search before this session.
    pub(super) waves_before: u64,
    pub(super) wave_started: Duration,
    /// What the guest has asked for: again means that what came was no good.
    pub(super) asked: HashSet<(String, Extent)>,
}

/// A flight that this wave waits for.
pub(super) struct Awaited {
    pub(super) request: Request,
    pub(super) flight: Flight,
    /// Whether this session began it; otherwise it is another search's.
    pub(super) is_ours: bool,
}

impl SessionIo {
    pub(crate) fn new(io: Arc<SearchIo>, waves_before: u64) -> Self {
        Self {
            io,
            profile: Profile::default(),
            waves_before,
            wave_started: Duration::ZERO,
            asked: HashSet::new(),
        }
    }

    /// Answers every read and every lookup of `demand`, all of them at once: a slow lookup delays no read, and a
    /// manifest no range.
    pub(crate) async fn answer(&mut self, demand: Demand) -> Answer {
        self.wave_started = self.io.shared.clock.now();
        let io = Arc::clone(&self.io);
        let entries = look_up_all(&io, demand.stores, demand.lookups);
        let (lookups, reads) = join(entries, self.read_all(demand.reads)).await;
        let mut supplies = Vec::with_capacity(lookups.len());
        for (supply, class) in lookups {
            self.count_lookup(class, &supply);
            supplies.push(supply);
        }
        match reads {
            Answer::Supplies(reads) => supplies.extend(reads),
            stopped @ Answer::Stopped(_) => return stopped,
        }
        Answer::Supplies(supplies)
    }

    /// Answers the reads of a demand: from the cache, and with one wave of requests.
    async fn read_all(&mut self, requests: Vec<ReadRequest>) -> Answer {
        let seen_landed = self.io.shared.flights.num_landed();
        let mut reads = self.look_up_reads(requests).await;
        if self.io.is_dry
            && let Some(planned) = self.stop_dry_run(&reads)
        {
            return Answer::Stopped(planned);
        }
        let mut wave = Wave::default();
        self.fetch(&mut reads, seen_landed, &mut wave).await;
        if !wave.requests.is_empty() {
            let now = self.io.shared.clock.now();
            let took = now.saturating_sub(self.wave_started);
            self.io.pace.note_wave(took);
            self.io.shared.metrics.count_wave(took);
        }
        wave.requests
            .sort_by(|a, b| (&a.object, a.offset).cmp(&(&b.object, b.offset)));
        self.profile.push_wave(wave);
        Answer::Supplies(reads.into_iter().map(PendingRead::into_supply).collect())
    }

    fn count_lookup(&mut self, class: ByteClass, supply: &Supply) {
        let bytes = match &supply.outcome {
            SupplyResult::Bytes(bytes) => Some(bytes),
            _ => None,
        };
        self.profile.num_cache_bytes += bytes.map_or(0, |bytes| bytes.len() as u64);
        self.count_read(class, bytes.is_some());
    }

    /// Counts a read or a lookup that the cache could have answered, if there is a cache.
    pub(super) fn count_read(&mut self, class: ByteClass, is_hit: bool) {
        if self.io.shared.cache.is_none() {
            return;
        }
        let counts = match is_hit {
            true => &mut self.profile.num_cache_hits,
            false => &mut self.profile.num_cache_misses,
        };
        counts.add(class, 1);
        self.io.shared.metrics.count_read(class, is_hit);
    }

    /// What the cache has of each read.
    async fn look_up_reads(&mut self, requests: Vec<ReadRequest>) -> Vec<PendingRead> {
        let mut reads: Vec<PendingRead> = Vec::with_capacity(requests.len());
        for request in requests {
            let mut read = PendingRead::new(request);
            let place = (read.request.object.clone(), read.bytes.clone());
            read.must_ask = !self.asked.insert(place);
            reads.push(read);
        }
        let io = &self.io;
        let looked = join_all(reads.iter().map(|read| async move {
            if read.is_manifest() {
                return Looked::Manifest(io.look_up_manifest(read).await);
            }
            let (object, class) = (&read.request.object, read.request.class);
            let is_cachable = io.shared.cache_for(class).is_some();
            let Some(range) = read.bytes.range() else {
                return Looked::Nowhere;
            };
            if read.must_ask || !is_cachable {
                return Looked::Nowhere;
            }
            let block_len = io.shared.block_len(class);
            let blocks = align(range, block_len, io.shared.object_len(object));
            Looked::Pieces(io.cached(object, &blocks, range, class).await)
        }))
        .await;
        for (read, looked) in reads.iter_mut().zip(looked) {
            match looked {
                Looked::Nowhere => {}
                Looked::Manifest(manifest) => self.take_manifest(read, manifest),
                Looked::Pieces(cached) => {
                    let asked = read.bytes.clone();
                    for piece in &cached {
                        read.take(piece, &asked);
                    }
                    read.around = cached;
                    self.profile.num_cache_bytes += read.num_bytes();
                    self.count_read(read.request.class, read.is_done());
                }
            }
        }
        reads
    }

    /// The requests of a wave that a dry run may not send; `None` if it may.
    fn stop_dry_run(&self, reads: &[PendingRead]) -> Option<Vec<PlannedRequest>> {
        let missing: Vec<Missing> = reads
            .iter()
            .enumerate()
            .flat_map(|(ord, read)| self.missing_of(ord, read))
            .collect();
        let is_body = |missing: &Missing| {
            !matches!(
                missing.class,
                ByteClass::Manifest | ByteClass::Head | ByteClass::Dictionary
            )
        };
        if !missing.iter().any(is_body) {
            return None;
        }
        let shared = &self.io.shared;
        let requests = requests_of(&missing, shared.coalesce, shared.max_part_bytes);
        Some(requests.into_iter().map(PlannedRequest::from).collect())
    }

    /// What a read misses, extended to the blocks of the cache.
    fn missing_of(&self, read_ord: usize, read: &PendingRead) -> Vec<Missing> {
        let shared = &self.io.shared;
        let class = read.request.class;
        let block_len = match read.is_exact {
            true => 1,
            false => shared.block_len(class),
        };
        let object_len = shared.object_len(&read.request.object);
        let missing = |bytes: Extent| Missing {
            object: read.request.object.clone(),
            bytes,
            class,
            read_ord,
        };
        let mut all: Vec<Missing> = Vec::new();
        for gap in read.gaps() {
            let Some(range) = gap.range().filter(|_| block_len > 1) else {
                all.push(missing(gap));
                continue;
            };
            // Whole blocks, but not what is cached of them already.
            let blocks = align(range, block_len, object_len);
            let holes = pieces::gaps(&blocks, &read.around).into_iter();
            let holes = holes.map(Extent::Range);
            all.extend(holes.filter(|hole| hole.overlaps(&gap)).map(missing));
        }
        all
    }

    /// Fetches what is missing, and gives each read its bytes or its error.
    async fn fetch(&mut self, reads: &mut [PendingRead], seen_landed: u64, wave: &mut Wave) {
        for round in 0..MAX_ROUNDS {
            let awaited = self.launch(reads, seen_landed);
            if awaited.is_empty() {
                break;
            }
            let wave_ord = self.waves_before + self.profile.num_waves;
            if let Err(what) = self.io.gate.admit_wave(wave_ord) {
                fail_rest(reads, FetchErrorKind::Budget, &what);
                break;
            }
            let is_last = round + 1 == MAX_ROUNDS;
            self.await_all(awaited, reads, is_last, wave).await;
        }
        fail_rest(
            reads,
            FetchErrorKind::Unavailable,
            "the fetcher gave no answer",
        );
    }

    /// Joins the flights of others and launches what they do not bring.
    fn launch(&self, reads: &mut [PendingRead], seen_landed: u64) -> Vec<Awaited> {
        let shared = &self.io.shared;
        let mut table = shared.flights.lock();
        let mut awaited: Vec<Awaited> = Vec::new();
        for read in reads.iter_mut().filter(|read| read.is_manifest()) {
            awaited.extend(self.launch_manifest(&mut table, read));
        }
        let reads: &[PendingRead] = reads;
        for request in self.missing_requests(reads, &table, &mut awaited) {
            let must_ask = shared.flights.num_landed() == seen_landed
                || reads
                    .iter()
                    .any(|read| read.must_ask && read.overlaps(&request));
            let landing = Arc::clone(&self.io).fly(request.clone(), must_ask);
            let landing = observed(shared, &request, landing);
            let (object, bytes) = (&request.object, request.bytes.clone());
            let flight = shared.flights.launch(&mut table, object, bytes, landing);
            awaited.push(Awaited {
                request,
                flight,
                is_ours: true,
            });
        }
        awaited
    }

    /// The requests for ranges that no flight under way brings. Those flights are joined.
    fn missing_requests(
        &self,
        reads: &[PendingRead],
        table: &Table,
        awaited: &mut Vec<Awaited>,
    ) -> Vec<Request> {
        let shared = &self.io.shared;
        let mut rounds: [Vec<Missing>; 2] = Default::default();
        let ranges = reads.iter().enumerate();
        for (read_ord, read) in ranges.filter(|(_, read)| !read.is_manifest()) {
            for missing in self.missing_of(read_ord, read) {
                if read.is_exact || read.must_ask || read.is_alone {
                    rounds[usize::from(read.is_exact)].push(missing);
                    continue;
                }
                let (joined, free) = table.claim(&missing.object, &missing.bytes);
                awaited.extend(joined.into_iter().map(|flight| Awaited {
                    request: Request::from(missing.clone()),
                    flight,
                    is_ours: false,
                }));
                rounds[0].extend(free.into_iter().map(|bytes| Missing {
                    bytes,
                    ..missing.clone()
                }));
            }
        }
        let [merged, exact] = rounds;
        let mut requests = Vec::new();
        for request in requests_of(&merged, shared.coalesce, shared.max_part_bytes) {
            // A gap must not be closed over what is on its way already.
            let (joinable, _) = table.claim(&request.object, &request.bytes);
            match joinable.is_empty() {
                true => requests.push(request),
                false => requests.extend(requests_of(
                    &within(&merged, &request),
                    CoalesceOptions::off(),
                    shared.max_part_bytes,
                )),
            }
        }
        requests.extend(requests_of(
            &exact,
            CoalesceOptions::off(),
            shared.max_part_bytes,
        ));
        requests
    }

    /// Waits for flights until the time is up, and deals out what they bring.
    async fn await_all(
        &mut self,
        awaited: Vec<Awaited>,
        reads: &mut [PendingRead],
        is_last: bool,
        wave: &mut Wave,
    ) {
        let has_documents = reads
            .iter()
            .any(|read| read.request.class == ByteClass::DocStore);
        let until = self.io.until(has_documents);
        let mut is_down = vec![false; awaited.len()];
        let mut underway: FuturesUnordered<_> = (0..)
            .zip(&awaited)
            .map(|(ord, awaited): (usize, &Awaited)| {
                let flight = awaited.flight.clone();
                async move { (ord, flight.await) }
            })
            .collect();
        let mut timer = match until {
            Some(until) => self.io.shared.clock.sleep_until(until),
            None => Box::pin(std::future::pending()),
        };
        loop {
            match select(underway.next(), timer).await {
                Either::Left((None, _)) => break,
                Either::Left((Some((ord, landed)), unfinished)) => {
                    timer = unfinished;
                    if let Some(awaited) = awaited.get(ord) {
                        is_down[ord] = true;
                        self.record(awaited, &landed, wave);
                        self.deal_out(awaited, &landed, reads, is_last);
                    }
                }
                Either::Right(_) => {
                    self.io.gate.note_timed_out();
                    let late = awaited
                        .iter()
                        .zip(&is_down)
                        .filter(|(_, is_down)| !**is_down);
                    for (awaited, _) in late {
                        self.record_late(awaited, wave);
                    }
                    fail_rest(reads, FetchErrorKind::Budget, TIME_IS_UP);
                    break;
                }
            }
        }
    }

    /// Gives each read its part of what a flight brought.
    fn deal_out(
        &self,
        awaited: &Awaited,
        landed: &Landed,
        reads: &mut [PendingRead],
        is_last: bool,
    ) {
        let request = &awaited.request;
        let error = match &landed.result {
            Ok(fetched) => {
                let piece = CachedPiece {
                    offset: landed.offset,
                    bytes: fetched.bytes.clone(),
                };
                for read in reads.iter_mut().filter(|read| read.overlaps(request)) {
                    read.take(&piece, &request.bytes);
                }
                return;
            }
            Err(error) => error,
        };
        // Another search's flight may have failed by that search's budget, by the end of an object that
        // its merged request ran past, or against a version that only that search has seen.
        let is_theirs = !awaited.is_ours
            && matches!(
                error.kind,
                FetchErrorKind::Budget | FetchErrorKind::Truncated | FetchErrorKind::Protocol
            );
        for read in reads.iter_mut().filter(|read| read.overlaps(request)) {
            if read.is_done() {
                continue;
            }
            // A merged request that ran past the end of the object must not take its other reads
            // with it: each is asked for by itself.
            let is_merged = request.num_reads > 1 || !read.bytes.covers(&request.bytes);
            let was_merged = error.kind == FetchErrorKind::Truncated && is_merged && !read.is_exact;
            match !is_last && (was_merged || is_theirs) {
                true => {
                    read.is_exact |= was_merged;
                    read.is_alone |= is_theirs;
                }
                false => {
                    if awaited.is_ours && error.kind == FetchErrorKind::Budget {
                        self.io.gate.note_exhausted();
                    }
                    read.error = Some(error.clone());
                }
            }
        }
    }
}

/// Stores entries in the cache, and then looks others up.
async fn look_up_all(
    io: &SearchIo,
    stores: Vec<CacheStore>,
    lookups: Vec<CacheLookup>,
) -> Vec<(Supply, ByteClass)> {
    if let Some(cache) = &io.shared.cache {
        let _busy = io.shared.clock.enter_busy();
        for entry in stores {
            let key = io.shared.cache_key(&entry.key);
            cache.put_entry(&key, entry.bytes, entry.class).await;
        }
    }
    join_all(lookups.into_iter().map(|lookup| look_up(io, lookup))).await
}

async fn look_up(io: &SearchIo, lookup: CacheLookup) -> (Supply, ByteClass) {
    let entry = match &io.shared.cache {
        Some(cache) => {
            let _busy = io.shared.clock.enter_busy();
            let key = io.shared.cache_key(&lookup.key);
            cache.get_entry(&key, lookup.class).await
        }
        None => None,
    };
    let supply = Supply {
        id: lookup.id,
        outcome: entry.map_or(SupplyResult::Miss, SupplyResult::Bytes),
    };
    (supply, lookup.class)
}
