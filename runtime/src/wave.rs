//! One wave: everything a demand names, answered at once.
//!
//! ```text
//!   demand ─┬─ stores ──→ cache
//!           ├─ lookups ─→ cache ────────────────────────────────→ supply
//!           └─ reads ───→ cache ── missing ─→ coalesce ─→ fetch ─→ assemble ─→ supply
//! ```

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::cache::{CachedPiece, RangeCache};
use crate::fetch::coalesce::{CoalesceOptions, Read, coalesce};
use crate::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher};
use crate::profile::{Profile, RequestRecord, Wave};
use crate::session::{ByteClass, Demand, ReadRequest, Supply, SupplyResult};

/// Longest range that the guest may ask for at once: it must fit in its memory besides all else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// What all sessions of one search share.
pub(crate) struct Store {
    pub(crate) fetcher: Arc<dyn RangeFetcher>,
    pub(crate) cache: Option<Arc<dyn RangeCache>>,
    /// Begins every key of the cache, so that several indexes can share one.
    pub(crate) namespace: Arc<str>,
    pub(crate) coalesce: CoalesceOptions,
    pub(crate) fetch_permits: Arc<Semaphore>,
    pub(crate) started: Instant,
    /// The version of each immutable object, as first seen by this search.
    pub(crate) etags: Mutex<HashMap<String, String>>,
}

/// The waves of one session: what it has asked for, and what that cost.
#[derive(Default)]
pub(crate) struct SessionIo {
    pub(crate) profile: Profile,
    asked: HashSet<(String, u64, u64)>,
}

/// A read, and what is known of its bytes.
struct PendingRead {
    request: ReadRequest,
    /// In order, not overlapping.
    pieces: Vec<CachedPiece>,
    /// The bytes to fetch, from the first that is missing to the last. Empty if none is.
    missing: Range<u64>,
}

type Fetched = Result<CachedPiece, FetchError>;

impl SessionIo {
    /// Answers every read and every lookup of `demand`, in its order.
    pub(crate) async fn answer(&mut self, store: &Arc<Store>, demand: Demand) -> Vec<Supply> {
        let mut supplies = Vec::with_capacity(demand.reads.len() + demand.lookups.len());
        if let Some(cache) = &store.cache {
            for entry in demand.stores {
                let key = store.cache_key(&entry.key);
                cache.put_entry(&key, entry.bytes, entry.class).await;
            }
        }
        for lookup in demand.lookups {
            let entry = match &store.cache {
                Some(cache) => {
                    cache
                        .get_entry(&store.cache_key(&lookup.key), lookup.class)
                        .await
                }
                None => None,
            };
            if store.cache.is_some() {
                self.count_lookup(lookup.class, entry.is_some());
            }
            let outcome = match entry {
                Some(bytes) => {
                    self.profile.num_cache_bytes += bytes.len() as u64;
                    SupplyResult::Bytes(bytes)
                }
                None => SupplyResult::Miss,
            };
            supplies.push(Supply {
                id: lookup.id,
                outcome,
            });
        }
        let mut reads = Vec::with_capacity(demand.reads.len());
        for request in demand.reads {
            reads.push(self.look_up(store, request).await);
        }
        let fetched = self.fetch(store, &reads).await;
        supplies.extend(reads.into_iter().zip(fetched).map(|(read, fetched)| {
            let outcome = match assemble(&read, fetched) {
                Ok(bytes) => SupplyResult::Bytes(bytes),
                Err(error) => SupplyResult::Failed {
                    kind: error.kind,
                    message: error.message,
                },
            };
            Supply {
                id: read.request.id,
                outcome,
            }
        }));
        supplies
    }

    /// What the cache has of a read. A range that this session asks for a second time is taken from
    /// the store: the guest only asks again when the bytes were no good.
    async fn look_up(&mut self, store: &Store, request: ReadRequest) -> PendingRead {
        let Some(len) = request.len else {
            return PendingRead {
                request,
                pieces: Vec::new(),
                missing: 0..0,
            };
        };
        let range = request.offset..request.offset.saturating_add(len);
        let mut pieces = Vec::new();
        if let Some(cache) = store.cache_for(request.class)
            && self
                .asked
                .insert((request.object.clone(), request.offset, len))
        {
            let key = store.cache_key(&request.object);
            pieces = cache.get(&key, range.clone(), request.class).await;
            let missing = missing_of(&range, &pieces);
            self.count_lookup(request.class, missing.is_empty());
            let kept = |piece: &CachedPiece| {
                piece.offset + piece.bytes.len() as u64 <= missing.start
                    || missing.end <= piece.offset
            };
            pieces.retain(|piece| missing.is_empty() || kept(piece));
            let num_bytes: u64 = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
            self.profile.num_cache_bytes += num_bytes;
        }
        PendingRead {
            missing: missing_of(&range, &pieces),
            request,
            pieces,
        }
    }

    fn count_lookup(&mut self, class: ByteClass, is_hit: bool) {
        match is_hit {
            true => self.profile.num_cache_hits.add(class, 1),
            false => self.profile.num_cache_misses.add(class, 1),
        }
    }

    /// Fetches what is missing, coalesced and at once. One result per read; `Ok` with no bytes for a
    /// read that misses nothing.
    async fn fetch(&mut self, store: &Arc<Store>, reads: &[PendingRead]) -> Vec<Fetched> {
        let mut results: Vec<Option<Fetched>> = vec![None; reads.len()];
        let mut tasks = JoinSet::new();
        for request in requests_of(reads, store.coalesce) {
            tasks.spawn(run_request(store.clone(), request));
        }
        let mut wave = Wave::default();
        while let Some(done) = tasks.join_next().await {
            // A task fails only by a panic in a fetcher; its reads are reported below.
            let Ok((records, answers)) = done else {
                continue;
            };
            wave.requests.extend(records);
            for (read, answer) in answers {
                results[read] = Some(answer);
            }
        }
        wave.requests
            .sort_by(|a, b| (&a.object, a.offset).cmp(&(&b.object, b.offset)));
        self.profile.push_wave(wave);
        results
            .into_iter()
            .zip(reads)
            .map(|(result, read)| result.unwrap_or_else(|| nothing_fetched(read)))
            .collect()
    }
}

impl Store {
    fn cache_key(&self, name: &str) -> String {
        format!("{}/{name}", self.namespace)
    }

    /// The cache, if reads of this class may be cached: the manifest is the one mutable object.
    fn cache_for(&self, class: ByteClass) -> Option<&Arc<dyn RangeCache>> {
        self.cache.as_ref().filter(|_| class != ByteClass::Manifest)
    }

    /// An error if an immutable object is not what it was when this search first read it.
    fn check_etag(&self, request: &Request, fetched: &FetchedRange) -> Result<(), FetchError> {
        let (Some(etag), false) = (&fetched.etag, request.class == ByteClass::Manifest) else {
            return Ok(());
        };
        let mut etags = self.etags.lock().unwrap_or_else(PoisonError::into_inner);
        let first = etags
            .entry(request.object.clone())
            .or_insert_with(|| etag.clone());
        if first == etag {
            return Ok(());
        }
        let what = format!("the object was replaced while it was read (ETag {first}, then {etag})");
        Err(FetchError::new(
            FetchErrorKind::Protocol,
            &request.object,
            request.range,
            what,
        ))
    }
}

/// From the first byte of `range` that no piece has to the last; empty if the pieces cover it.
fn missing_of(range: &Range<u64>, pieces: &[CachedPiece]) -> Range<u64> {
    let mut start = range.start;
    for piece in pieces {
        if piece.offset != start {
            break;
        }
        start += piece.bytes.len() as u64;
    }
    let mut end = range.end;
    for piece in pieces.iter().rev() {
        if piece.offset + piece.bytes.len() as u64 != end || end <= start {
            break;
        }
        end = piece.offset;
    }
    start..end.max(start)
}

/// One request to the store, and the reads (by index) with the bytes each takes from it.
struct Request {
    object: String,
    range: ByteRange,
    class: ByteClass,
    parts: Vec<(usize, Range<u64>)>,
}

fn requests_of(reads: &[PendingRead], options: CoalesceOptions) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    let mut ranges = Vec::new();
    let mut read_of_range = Vec::new();
    for (index, read) in reads.iter().enumerate() {
        if read.request.len.is_none() {
            push_open_ended(&mut requests, index, &read.request);
        } else if !read.missing.is_empty() {
            ranges.push(Read {
                object: &read.request.object,
                bytes: read.missing.clone(),
            });
            read_of_range.push(index);
        }
    }
    for merged in coalesce(&ranges, options) {
        let parts: Vec<(usize, Range<u64>)> = merged
            .reads
            .iter()
            .map(|&range| (read_of_range[range], ranges[range].bytes.clone()))
            .collect();
        let longest = parts
            .iter()
            .max_by_key(|(_, bytes)| bytes.end - bytes.start);
        requests.push(Request {
            object: merged.object.to_owned(),
            range: ByteRange::new(merged.bytes.start, merged.bytes.end - merged.bytes.start),
            class: longest.map_or(ByteClass::Head, |(read, _)| reads[*read].request.class),
            parts,
        });
    }
    requests
}

/// Reads to the end of the same object share a request if they begin at the same byte.
fn push_open_ended(requests: &mut Vec<Request>, index: usize, read: &ReadRequest) {
    let range = ByteRange::from(read.offset);
    let part = (index, read.offset..u64::MAX);
    match requests
        .iter_mut()
        .find(|request| request.object == read.object && request.range == range)
    {
        Some(request) => request.parts.push(part),
        None => requests.push(Request {
            object: read.object.clone(),
            range,
            class: read.class,
            parts: vec![part],
        }),
    }
}

/// Sends one request and cuts the answer. If a merged request fails because the object ends early,
/// each read is asked for by itself, so that one wrong range does not take its neighbours with it.
async fn run_request(
    store: Arc<Store>,
    request: Request,
) -> (Vec<RequestRecord>, Vec<(usize, Fetched)>) {
    let (record, result) = send(&store, &request).await;
    let mut records = vec![record];
    let mut answers = Vec::with_capacity(request.parts.len());
    let is_truncated = matches!(&result, Err(error) if error.kind == FetchErrorKind::Truncated);
    if is_truncated && request.parts.len() > 1 && request.range.len.is_some() {
        for (read, bytes) in request.parts {
            let alone = Request {
                object: request.object.clone(),
                range: ByteRange::new(bytes.start, bytes.end - bytes.start),
                class: request.class,
                parts: vec![(read, bytes.clone())],
            };
            let (record, result) = send(&store, &alone).await;
            records.push(record);
            answers.push((read, result.map(|whole| cut(&alone, &whole, &bytes))));
        }
        return (records, answers);
    }
    for (read, bytes) in &request.parts {
        let answer = match &result {
            Ok(whole) => Ok(cut(&request, whole, bytes)),
            Err(error) => Err(error.clone()),
        };
        answers.push((*read, answer));
    }
    (records, answers)
}

/// The part `bytes` of an answer.
fn cut(request: &Request, whole: &Bytes, bytes: &Range<u64>) -> CachedPiece {
    let end = bytes.end.min(request.range.offset + whole.len() as u64);
    let slice =
        (bytes.start - request.range.offset) as usize..(end - request.range.offset) as usize;
    CachedPiece {
        offset: bytes.start,
        bytes: whole.slice(slice),
    }
}

async fn send(store: &Store, request: &Request) -> (RequestRecord, Result<Bytes, FetchError>) {
    let _permit = store.fetch_permits.acquire().await;
    let start_us = micros_since(store.started);
    let result = fetch_checked(store, request).await;
    let end_us = micros_since(store.started);
    let num_retries = match &result {
        Ok(fetched) => fetched.num_retries,
        Err(error) => error.num_retries,
    };
    let record = RequestRecord {
        object: request.object.clone(),
        offset: request.range.offset,
        length: match &result {
            Ok(fetched) => fetched.bytes.len() as u64,
            Err(_) => request.range.len.unwrap_or(0),
        },
        class: request.class,
        num_reads: u32::try_from(request.parts.len()).unwrap_or(u32::MAX),
        num_retries,
        start_us,
        end_us,
        error: result.as_ref().err().map(|error| error.message.clone()),
    };
    if let (Some(cache), Ok(fetched)) = (store.cache_for(request.class), &result) {
        let key = store.cache_key(&request.object);
        let offset = request.range.offset;
        cache
            .put(&key, offset, fetched.bytes.clone(), request.class)
            .await;
    }
    (record, result.map(|fetched| fetched.bytes))
}

async fn fetch_checked(store: &Store, request: &Request) -> Result<FetchedRange, FetchError> {
    let (object, range) = (&request.object, request.range);
    if range.len.is_some_and(|len| len > MAX_READ_BYTES) {
        let what = format!("a single read may have at most {MAX_READ_BYTES} bytes");
        return Err(FetchError::new(FetchErrorKind::Budget, object, range, what));
    }
    let fetched = store.fetcher.fetch(object, range).await?;
    let num_bytes = fetched.bytes.len() as u64;
    if range.len.is_some_and(|len| num_bytes != len) {
        return Err(FetchError::short(object, range, num_bytes));
    }
    store.check_etag(request, &fetched)?;
    Ok(fetched)
}

/// The result of a read that no request answered: nothing, if nothing was missing.
fn nothing_fetched(read: &PendingRead) -> Fetched {
    let ReadRequest {
        object,
        offset,
        len,
        ..
    } = &read.request;
    if len.is_some() && read.missing.is_empty() {
        return Ok(CachedPiece {
            offset: read.missing.start,
            bytes: Bytes::new(),
        });
    }
    let range = ByteRange {
        offset: *offset,
        len: *len,
    };
    Err(FetchError::new(
        FetchErrorKind::Unavailable,
        object,
        range,
        "the fetcher failed without an answer",
    ))
}

/// The bytes of a read out of what was cached and what was fetched. Copies only if both have a part.
fn assemble(read: &PendingRead, fetched: Fetched) -> Result<Bytes, FetchError> {
    let fetched = fetched?;
    if read.pieces.is_empty() {
        return Ok(fetched.bytes);
    }
    if fetched.bytes.is_empty() && read.pieces.len() == 1 {
        return Ok(read.pieces[0].bytes.clone());
    }
    let len: usize = read.pieces.iter().map(|piece| piece.bytes.len()).sum();
    let mut bytes = BytesMut::with_capacity(len + fetched.bytes.len());
    let (before, after) = read.pieces.split_at(
        read.pieces
            .partition_point(|piece| piece.offset < fetched.offset),
    );
    for piece in before.iter().chain([&fetched]).chain(after) {
        bytes.extend_from_slice(&piece.bytes);
    }
    Ok(bytes.freeze())
}

fn micros_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}
