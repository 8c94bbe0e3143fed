//! Execution of a demand's wave: look-ups, requests, and new entries for the cache.

use std::convert::Infallible;
use std::time::Duration;

use canter_protocol::{ByteClass, Demand, Supply};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::coalesce::CoalesceOptions;
use canter_stores::{CachedPiece, Extent};
use canter_waves::{
    Fetch, FetchError, Found, Host, Landed, LookUp, ManifestAge, ManifestOptions, Wave,
};

use crate::flights::{Ended, Fetched};
use crate::search::{Put, Search};
use crate::{Cache, Platform};

impl<P: Platform, C: Cache> Host for Search<'_, P, C> {
    /// A host answers one search at a time, so there are no flights of other searches.
    type Flight = Infallible;

    fn has_cache(&self) -> bool {
        self.behind.cache.keeps()
    }

    fn block_len(&self, class: ByteClass) -> u64 {
        match self.options.reads_blocks {
            true => self.behind.cache.block_len(class),
            false => 1,
        }
    }

    fn object_len(&self, object: &str) -> Option<u64> {
        self.object_lens.get(object).copied()
    }

    fn request_shape(&self) -> (CoalesceOptions, u64) {
        (self.options.coalesce, self.options.max_part_bytes)
    }

    fn claim(&self, _object: &str, bytes: &Extent) -> (Vec<Infallible>, Vec<Extent>) {
        (Vec::new(), vec![bytes.clone()])
    }

    fn admit_round(&mut self, has_documents: bool) -> Result<(), String> {
        self.gate.admit_wave(self.counts.num_waves)?;
        self.admit_cpu(has_documents)
    }
}

impl<P: Platform, C: Cache> Search<'_, P, C> {
    /// Answers every read and every lookup of `demand`.
    pub(crate) fn answer(&mut self, demand: Demand) -> Vec<Supply> {
        let mut asked = std::mem::take(&mut self.asked);
        let mut wave = Wave::begin(demand, &mut asked, self);
        self.asked = asked;
        for entry in wave.take_puts() {
            let key = self.cache_key(&entry.key);
            self.behind.offer(Put::Entry(key, entry.bytes, entry.class));
        }
        for lookup in wave.take_entries() {
            let key = self.cache_key(&lookup.key);
            let entry = self.behind.get_entry(&key, lookup.class);
            wave.found_entry(&lookup, entry);
        }
        for (ord, look_up) in wave.look_ups(self) {
            let found = self.look_up(look_up);
            wave.found(ord, found);
        }
        self.fetch(&mut wave);
        let (supplies, costs) = wave.end();
        self.counts.num_waves += u64::from(!costs.wave.requests.is_empty());
        self.counts.num_bytes += costs.wave.num_bytes();
        self.counts.num_cache_hits += costs.num_cache_hits.total();
        self.counts.num_cache_misses += costs.num_cache_misses.total();
        supplies
    }

    fn look_up(&mut self, look_up: LookUp) -> Found {
        let (object, blocks, wanted, class) = match look_up {
            LookUp::Manifest { object } => return self.look_up_manifest(&object),
            LookUp::Pieces {
                object,
                blocks,
                wanted,
                class,
            } => (object, blocks, wanted, class),
        };
        if let Err(what) = self.admit_cpu(class == ByteClass::DocStore) {
            return Found::Refused(what);
        }
        let cached = self.cached(&object, &blocks, &wanted, class);
        let num_bytes = cached.iter().map(|piece| piece.bytes.len() as u64).sum();
        if self.options.counts_cached_bytes
            && let Err(what) = self.gate.admit_cached(num_bytes)
        {
            return Found::Refused(what);
        }
        Found::Pieces(cached)
    }

    fn look_up_manifest(&mut self, object: &str) -> Found {
        let key = self.cache_key(object);
        let entry = self.behind.get_entry(&key, ByteClass::Manifest);
        let Some(kept) = entry.as_ref().and_then(KeptManifest::from_bytes) else {
            return Found::Absent;
        };
        let options = ManifestOptions {
            ttl_ms: self.options.manifest_ttl_ms,
            stale_while_revalidate_ms: 0,
        };
        match ManifestAge::of(&kept, self.unix_time(), options) {
            ManifestAge::Fresh => Found::Manifest(kept.bytes),
            ManifestAge::Stale | ManifestAge::Expired => Found::Expired(kept),
        }
    }

    /// Sends the fetches of each round, and handles their results.
    fn fetch(&mut self, wave: &mut Wave) {
        let started_us = self.elapsed_us();
        loop {
            let fetches = wave.next_round(self);
            if fetches.is_empty() {
                return;
            }
            let until_us = match wave.has_documents() {
                true => self.documents_until_us,
                false => self.reads_until_us,
            };
            let asked_at = self.unix_time();
            let (ended, is_late) = self.fly(fetches, until_us);
            for ended in ended {
                let id = ended.fetch.id;
                let landed = Landed {
                    sent: ended.sent,
                    result: self.take_in(ended, asked_at),
                };
                if wave.landed(id, &landed) {
                    self.gate.note_exhausted();
                }
            }
            if is_late {
                self.gate.note_timed_out();
                wave.time_is_up(started_us, self.elapsed_us());
            }
        }
    }

    /// Checks the result of a fetch, and offers it to the cache.
    fn take_in(&mut self, ended: Ended, asked_at: Duration) -> Result<CachedPiece, FetchError> {
        let Ended { fetch, result, .. } = ended;
        let fetched = result?;
        if fetch.is_manifest {
            let bytes = self.keep_manifest(&fetch, fetched, asked_at);
            return Ok(CachedPiece { offset: 0, bytes });
        }
        let request = fetch.request;
        self.note_object(&request.object, &request.bytes, &fetched)?;
        let piece = CachedPiece {
            offset: request.bytes.start(),
            bytes: fetched.bytes,
        };
        if request.bytes.range().is_some() && request.class != ByteClass::Manifest {
            let key = self.cache_key(&request.object);
            self.behind
                .offer(Put::Range(key, piece.clone(), request.class));
        }
        Ok(piece)
    }

    /// Offers the cache the fetched manifest, or the unchanged one, with its version. Returns its bytes.
    fn keep_manifest(
        &mut self,
        fetch: &Fetch<Infallible>,
        fetched: Fetched,
        asked_at: Duration,
    ) -> bytes::Bytes {
        let kept = fetch.kept.clone().filter(|_| fetched.is_unchanged);
        let (etag, bytes) = match kept {
            Some(kept) => (kept.etag, kept.bytes),
            None => (fetched.etag.unwrap_or_default(), fetched.bytes),
        };
        // If the manifest is revalidated each time, the time of the last answer is of no use.
        if self.options.manifest_ttl_ms > 0 || !fetched.is_unchanged {
            let kept = KeptManifest {
                // The store confirms the state at the time of the request.
                checked_at: asked_at,
                etag,
                bytes: bytes.clone(),
            };
            let key = self.cache_key(&fetch.request.object);
            let now = self.unix_time();
            self.behind.offer(Put::Manifest(key, kept, now));
        }
        bytes
    }

    fn unix_time(&self) -> Duration {
        Duration::from_millis(self.platform.unix_ms())
    }
}
