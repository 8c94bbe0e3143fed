//! Processing of one demand: lookups, cached pieces, manifests, ranges.

use std::time::Duration;

use canter_protocol::{
    ByteClass, CacheLookup, Demand, FetchErrorKind, ReadRequest, Supply, SupplyResult,
};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::coalesce::CoalesceOptions;
use canter_stores::ranges::planning::{Missing, Request, align, requests_of};
use canter_stores::{CachedPiece, Extent};

use crate::flights::{Ended, Fetched, Target};
use crate::reads::PendingRead;
use crate::search::{Put, Search};
use crate::{Cache, FetchError, Platform};

/// Maximum number of rounds of a wave. The second one repeats reads whose merged request exceeded
/// the end of an object.
const MAX_ROUNDS: usize = 2;

impl<P: Platform, C: Cache> Search<'_, P, C> {
    /// Answers every read and every lookup of `demand`.
    pub(crate) fn answer(&mut self, demand: Demand) -> Vec<Supply> {
        for entry in demand.stores {
            let key = self.cache_key(&entry.key);
            self.behind.offer(Put::Entry(key, entry.bytes, entry.class));
        }
        let lookups = demand.lookups.into_iter();
        let mut supplies: Vec<Supply> = lookups.map(|lookup| self.look_up(lookup)).collect();
        let mut reads: Vec<PendingRead> = Vec::with_capacity(demand.reads.len());
        let mut targets = Vec::new();
        for (ord, read) in demand.reads.into_iter().enumerate() {
            reads.push(self.look_up_read(read, ord, &mut targets));
        }
        self.fetch(&mut reads, targets);
        supplies.extend(reads.into_iter().map(PendingRead::into_supply));
        supplies
    }

    fn look_up(&mut self, lookup: CacheLookup) -> Supply {
        let key = self.cache_key(&lookup.key);
        let entry = self.behind.cache.get_entry(&key, lookup.class);
        self.count_read(entry.is_some());
        Supply {
            id: lookup.id,
            outcome: match entry {
                Some(bytes) => SupplyResult::Bytes(bytes),
                None => SupplyResult::Miss,
            },
        }
    }

    /// Returns a read with the cached parts of its bytes. If a manifest must be requested, adds it
    /// to the targets.
    fn look_up_read(
        &mut self,
        request: ReadRequest,
        read_ord: usize,
        targets: &mut Vec<Target>,
    ) -> PendingRead {
        let class = request.class;
        let mut read = PendingRead::new(request);
        let place = (read.object.clone(), read.bytes.start(), read.bytes.len());
        read.must_ask = !self.asked.insert(place);
        if class == ByteClass::Manifest {
            if read.bytes == Extent::WHOLE {
                self.look_up_manifest(&mut read, read_ord, targets);
            }
            return read;
        }
        let asked = read.bytes.clone();
        let Some(range) = asked.range() else {
            return read;
        };
        if read.must_ask || !self.behind.cache.keeps() {
            return read;
        }
        if let Err(what) = self.admit_cpu(class == ByteClass::DocStore) {
            read.fail(FetchErrorKind::Budget, &what);
            return read;
        }
        let object_len = self.object_len(&read.object);
        let blocks = align(range, self.block_len(class), object_len);
        let cached = self.cached(&read.object, &blocks, range, class);
        let num_bytes = cached.iter().map(|piece| piece.bytes.len() as u64).sum();
        if self.options.counts_cached_bytes
            && let Err(what) = self.gate.admit_cached(num_bytes)
        {
            read.fail(FetchErrorKind::Budget, &what);
            return read;
        }
        for piece in &cached {
            read.take(piece, &asked);
        }
        read.around = cached;
        self.count_read(read.is_done());
        read
    }

    fn look_up_manifest(
        &mut self,
        read: &mut PendingRead,
        read_ord: usize,
        targets: &mut Vec<Target>,
    ) {
        let key = self.cache_key(&read.object);
        let entry = match read.must_ask {
            true => None,
            false => self.behind.cache.get_entry(&key, ByteClass::Manifest),
        };
        let kept = entry.as_ref().and_then(KeptManifest::from_bytes);
        let now = Duration::from_millis(self.platform.unix_ms());
        let ttl = Duration::from_millis(self.options.manifest_ttl_ms);
        // After the clock was set back, an entry can be from the future; then the manifest is
        // requested.
        let age = kept
            .as_ref()
            .and_then(|kept| now.checked_sub(kept.checked_at));
        if let (Some(kept), true) = (&kept, age.is_some_and(|age| age < ttl)) {
            read.take(&whole(kept.bytes.clone()), &Extent::WHOLE);
            self.count_read(true);
            return;
        }
        self.count_read(false);
        targets.push(Target::Manifest {
            read_ord,
            object: read.object.clone(),
            kept,
        });
    }

    /// Fetches the missing bytes, and gives each read its bytes or an error.
    fn fetch(&mut self, reads: &mut [PendingRead], mut targets: Vec<Target>) {
        let num_before = self.counts.num_requests;
        for round in 0..MAX_ROUNDS {
            targets.extend(self.requests(reads).into_iter().map(Target::Range));
            if targets.is_empty() {
                break;
            }
            let is_document = |read: &PendingRead| read.class == ByteClass::DocStore;
            let has_documents = reads.iter().any(is_document);
            let admitted = self.gate.admit_wave(self.counts.num_waves);
            if let Err(what) = admitted.and_then(|()| self.admit_cpu(has_documents)) {
                let late = reads.iter_mut();
                late.for_each(|read| read.fail(FetchErrorKind::Budget, &what));
                break;
            }
            let until_us = match has_documents {
                true => self.documents_until_us,
                false => self.reads_until_us,
            };
            let asked_at_ms = self.platform.unix_ms();
            let is_last = round + 1 == MAX_ROUNDS;
            for ended in self.fly(std::mem::take(&mut targets), until_us) {
                self.deal_out(ended, reads, is_last, asked_at_ms);
            }
        }
        self.counts.num_waves += u64::from(self.counts.num_requests > num_before);
        for read in reads {
            read.fail(FetchErrorKind::Unavailable, "the fetcher gave no answer");
        }
    }

    /// Returns the requests for missing ranges. Manifests are requested elsewhere.
    fn requests(&self, reads: &[PendingRead]) -> Vec<Request> {
        let missing_of = |is_exact: bool| {
            let reads = reads.iter().enumerate();
            let reads = reads.filter(|(_, read)| {
                let is_manifest = read.class == ByteClass::Manifest && read.bytes == Extent::WHOLE;
                read.is_exact == is_exact && !is_manifest
            });
            let missing = reads.flat_map(|(ord, read)| {
                let object_len = self.object_len(&read.object);
                read.missing(ord, self.block_len(read.class), object_len)
            });
            missing.collect::<Vec<Missing>>()
        };
        let max_part_bytes = self.options.max_part_bytes;
        let mut requests = requests_of(&missing_of(false), self.options.coalesce, max_part_bytes);
        let exact = requests_of(&missing_of(true), CoalesceOptions::off(), max_part_bytes);
        requests.extend(exact);
        requests
    }

    /// Gives each read its part of the result of a request, and the cache all of it.
    fn deal_out(
        &mut self,
        (target, result): Ended,
        reads: &mut [PendingRead],
        is_last: bool,
        asked_at_ms: u64,
    ) {
        let request = match target {
            Target::Range(request) => request,
            Target::Manifest {
                read_ord,
                object,
                kept,
            } => {
                let fetched = self.keep_manifest(&object, kept, result, asked_at_ms);
                if let Some(read) = reads.get_mut(read_ord) {
                    self.settle_read(read, fetched);
                }
                return;
            }
        };
        let checked = result.and_then(|fetched| {
            self.note_object(&request.object, &request.bytes, &fetched)?;
            Ok(fetched)
        });
        let error = match checked {
            Ok(fetched) => {
                let piece = CachedPiece {
                    offset: request.bytes.start(),
                    bytes: fetched.bytes,
                };
                let touched = reads.iter_mut().filter(|read| read.overlaps(&request));
                touched.for_each(|read| read.take(&piece, &request.bytes));
                if request.bytes.range().is_some() && request.class != ByteClass::Manifest {
                    let key = self.cache_key(&request.object);
                    self.behind.offer(Put::Range(key, piece, request.class));
                }
                return;
            }
            Err(error) => error,
        };
        for read in reads.iter_mut().filter(|read| read.overlaps(&request)) {
            if read.is_done() {
                continue;
            }
            // If a merged request exceeds the end of the object, its other reads must not fail.
            // They are requested separately.
            let is_merged = request.num_reads > 1 || !read.bytes.covers(&request.bytes);
            let is_short = error.kind == FetchErrorKind::Truncated;
            if is_short && is_merged && !read.is_exact && !is_last {
                read.is_exact = true;
            } else {
                self.settle_read(read, Err(error.clone()));
            }
        }
    }

    fn settle_read(&mut self, read: &mut PendingRead, result: Result<Fetched, FetchError>) {
        match result {
            Ok(fetched) => read.take(&whole(fetched.bytes), &Extent::WHOLE),
            Err(error) => {
                if error.kind == FetchErrorKind::Budget {
                    self.gate.note_exhausted();
                }
                read.error = Some(error);
            }
        }
    }

    /// Returns the received manifest, or the known one if it is still current, and caches it with
    /// its version.
    fn keep_manifest(
        &mut self,
        object: &str,
        kept: Option<KeptManifest>,
        result: Result<Fetched, FetchError>,
        asked_at_ms: u64,
    ) -> Result<Fetched, FetchError> {
        let fetched = result?;
        let (etag, bytes) = match kept.filter(|_| fetched.is_unchanged) {
            Some(kept) => (kept.etag, kept.bytes),
            None => (fetched.etag.clone().unwrap_or_default(), fetched.bytes),
        };
        let kept = KeptManifest {
            // The answer confirms the state at the time of the request.
            checked_at: Duration::from_millis(asked_at_ms),
            etag,
            bytes: bytes.clone(),
        };
        let key = self.cache_key(object);
        // Without a time to live, the time of a check is not used.
        if self.options.manifest_ttl_ms > 0 || !fetched.is_unchanged {
            let entry = Put::Entry(key, kept.to_bytes(), ByteClass::Manifest);
            self.behind.offer(entry);
        }
        Ok(Fetched { bytes, ..fetched })
    }
}

fn whole(bytes: bytes::Bytes) -> CachedPiece {
    CachedPiece { offset: 0, bytes }
}
