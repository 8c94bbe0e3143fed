//! Waves of one session: executes the plans of `canter-waves` with flights, permits and the deadline of the search.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canter_stores::Extent;
use canter_stores::ranges::planning::Request;
use canter_waves::{Asked, Fetch, Found, Host, LookUp, Wave};
use futures_util::StreamExt;
use futures_util::future::{Either, join, join_all, select};
use futures_util::stream::FuturesUnordered;

use super::flights::{Flight, Table};
use super::manifest::{Manifest, fetch_manifest};
use super::observed::observed;
use super::search_io::SearchIo;
use crate::fetch::CoalesceOptions;
use crate::observe::profile::Profile;
use crate::session::{ByteClass, CacheLookup, CacheStore, Demand, Supply};

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

/// The answer to a demand.
pub(crate) enum Answer {
    Supplies(Vec<Supply>),
    /// A dry run has reached the first wave that it may not send.
    Stopped(Vec<PlannedRequest>),
}

/// The waves of one session: its requests, and their cost.
pub(crate) struct SessionIo {
    io: Arc<SearchIo>,
    pub(crate) profile: Profile,
    /// Number of waves of the search before this session.
    waves_before: u64,
    asked: Asked,
}

/// The host's state that planning needs.
#[derive(Clone, Copy)]
struct Traffic<'a> {
    io: &'a SearchIo,
    /// The flights of all searches, while they may be joined.
    table: Option<&'a Table>,
    wave_ord: u64,
}

impl Host for Traffic<'_> {
    type Flight = Flight;

    fn has_cache(&self) -> bool {
        self.io.shared.cache.is_some()
    }

    fn block_len(&self, class: ByteClass) -> u64 {
        self.io.shared.block_len(class)
    }

    fn object_len(&self, object: &str) -> Option<u64> {
        self.io.shared.object_len(object)
    }

    fn request_shape(&self) -> (CoalesceOptions, u64) {
        (self.io.shared.coalesce, self.io.shared.max_part_bytes)
    }

    fn claim(&self, object: &str, bytes: &Extent) -> (Vec<Flight>, Vec<Extent>) {
        match self.table {
            Some(table) => table.claim(object, bytes),
            None => (Vec::new(), vec![bytes.clone()]),
        }
    }

    fn admit_round(&mut self, _has_documents: bool) -> Result<(), String> {
        self.io.gate.lock().admit_wave(self.wave_ord)
    }
}

/// A flight that a round waits for.
struct Awaited {
    id: usize,
    flight: Flight,
}

impl SessionIo {
    pub(crate) fn new(io: Arc<SearchIo>, waves_before: u64) -> Self {
        Self {
            io,
            profile: Profile::default(),
            waves_before,
            asked: Asked::default(),
        }
    }

    /// Answers every read and every lookup of `demand`, all at once: a slow lookup delays no read, and a
    /// manifest delays no range.
    pub(crate) async fn answer(&mut self, demand: Demand) -> Answer {
        let io = Arc::clone(&self.io);
        let started = io.shared.clock.now();
        let traffic = Traffic {
            io: &io,
            table: None,
            wave_ord: self.waves_before + self.profile.num_waves,
        };
        let mut wave = Wave::begin(demand, &mut self.asked, &traffic);
        let entries = look_up_entries(&io, wave.take_puts(), wave.take_entries());
        let (entries, planned) = join(entries, read_all(&io, &mut wave, traffic, started)).await;
        for (lookup, entry) in entries {
            wave.found_entry(&lookup, entry);
        }
        let (supplies, costs) = wave.end();
        if !costs.wave.requests.is_empty() {
            let took = io.shared.clock.now().saturating_sub(started);
            io.pace.note_wave(took);
            io.shared.metrics.count_wave(took);
        }
        io.shared.metrics.count_costs(&costs);
        self.profile.add_wave(costs);
        match planned {
            Some(planned) => Answer::Stopped(planned),
            None => Answer::Supplies(supplies),
        }
    }
}

/// Reads everything that the wave lacks: from the cache, and in rounds of requests. Returns the requests that a dry
/// run may not send.
async fn read_all(
    io: &Arc<SearchIo>,
    wave: &mut Wave,
    traffic: Traffic<'_>,
    started: Duration,
) -> Option<Vec<PlannedRequest>> {
    let seen_landed = io.shared.flights.num_landed();
    let look_ups = wave.look_ups(&traffic).into_iter();
    let found = join_all(
        look_ups.map(|(ord, look_up)| async move { (ord, look_up_read(io, look_up).await) }),
    );
    for (ord, found) in found.await {
        wave.found(ord, found);
    }
    if io.is_dry
        && let Some(planned) = wave.beyond_a_dry_run(&traffic)
    {
        return Some(planned.into_iter().map(PlannedRequest::from).collect());
    }
    loop {
        let awaited = launch(io, wave, traffic, seen_landed);
        if awaited.is_empty() {
            return None;
        }
        await_all(io, awaited, wave, started).await;
    }
}

/// Launches the fetches of the next round, and joins those of other searches.
fn launch(
    io: &Arc<SearchIo>,
    wave: &mut Wave,
    traffic: Traffic<'_>,
    seen_landed: u64,
) -> Vec<Awaited> {
    let shared = &io.shared;
    // Locked, to claim and launch in one step.
    let mut table = shared.flights.lock();
    let fetches = wave.next_round(&mut Traffic {
        table: Some(&table),
        ..traffic
    });
    let launched = fetches.into_iter().map(|fetch| {
        let Fetch {
            id,
            request,
            joined,
            must_ask,
            is_manifest,
            kept,
        } = fetch;
        let (object, bytes) = (&request.object, request.bytes.clone());
        let flight = match (joined, is_manifest) {
            (Some(flight), _) => flight,
            (None, true) => {
                let landing = fetch_manifest(Arc::clone(io), object.clone(), kept);
                shared.flights.launch(&mut table, object, bytes, landing)
            }
            (None, false) => {
                let must_ask = must_ask || shared.flights.num_landed() == seen_landed;
                let landing = Arc::clone(io).fly(request.clone(), must_ask);
                let landing = observed(shared, &request, landing);
                shared.flights.launch(&mut table, object, bytes, landing)
            }
        };
        Awaited { id, flight }
    });
    launched.collect()
}

/// Waits for flights until the time is up, and gives the wave their results.
async fn await_all(io: &SearchIo, awaited: Vec<Awaited>, wave: &mut Wave, started: Duration) {
    let until = io.until(wave.has_documents());
    let mut underway: FuturesUnordered<_> = awaited
        .into_iter()
        .map(|awaited| async move {
            let landed = awaited.flight.await;
            (awaited.id, landed)
        })
        .collect();
    let mut timer = match until {
        Some(until) => io.shared.clock.sleep_until(until),
        None => Box::pin(std::future::pending()),
    };
    loop {
        match select(underway.next(), timer).await {
            Either::Left((None, _)) => return,
            Either::Left((Some((id, landed)), unfinished)) => {
                timer = unfinished;
                if wave.landed(id, &io.landed(&landed)) {
                    io.gate.lock().note_exhausted();
                }
            }
            Either::Right(_) => {
                io.gate.lock().note_timed_out();
                let now = io.shared.clock.now();
                wave.time_is_up(io.micros(started), io.micros(now));
                return;
            }
        }
    }
}

/// Looks for the bytes of a read in the cache.
async fn look_up_read(io: &Arc<SearchIo>, look_up: LookUp) -> Found {
    match look_up {
        LookUp::Pieces {
            object,
            blocks,
            wanted,
            class,
        } => Found::Pieces(io.cached(&object, &blocks, &wanted, class).await),
        LookUp::Manifest { object } => {
            let _busy = io.shared.clock.enter_busy();
            let keeper = &io.shared.manifest;
            match keeper.look_up(io, &object).await {
                Manifest::Fresh(bytes) => Found::Manifest(bytes),
                Manifest::Stale(bytes, kept) => {
                    keeper.revalidate_behind(Arc::clone(io), object, kept);
                    Found::Manifest(bytes)
                }
                Manifest::Expired(kept) => Found::Expired(kept),
                Manifest::Absent => Found::Absent,
            }
        }
    }
}

/// Stores entries in the cache, and then looks others up.
async fn look_up_entries(
    io: &SearchIo,
    puts: Vec<CacheStore>,
    lookups: Vec<CacheLookup>,
) -> Vec<(CacheLookup, Option<Bytes>)> {
    if let Some(cache) = &io.shared.cache {
        let _busy = io.shared.clock.enter_busy();
        for entry in puts {
            let key = io.shared.cache_key(&entry.key);
            cache.put_entry(&key, entry.bytes, entry.class).await;
        }
    }
    let lookups = lookups.into_iter();
    join_all(lookups.map(|lookup| async {
        let entry = look_up_entry(io, &lookup).await;
        (lookup, entry)
    }))
    .await
}

async fn look_up_entry(io: &SearchIo, lookup: &CacheLookup) -> Option<Bytes> {
    let cache = io.shared.cache.as_ref()?;
    let _busy = io.shared.clock.enter_busy();
    let key = io.shared.cache_key(&lookup.key);
    cache.get_entry(&key, lookup.class).await
}
