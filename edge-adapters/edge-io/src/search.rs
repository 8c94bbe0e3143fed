//! State of one search, and its connection to the host.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use canter_protocol::{Budget, ByteClass, HostReport};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::pieces;
use canter_stores::{CachedPiece, Extent};
use canter_waves::{Asked, Etags, FetchError, Gate, SPLIT_CLASSES, asked_of, may_replace};
use url::Url;

use crate::flights::Fetched;
use crate::host::{Index, ONLY_INDEX};
use crate::{Cache, Options, Platform};

/// Maximum number of bytes that wait to be written to the cache after the answer. Anything beyond
/// is written at once.
const MAX_BYTES_BEHIND: usize = 16 << 20;

/// Costs of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of requests to the store, including retries.
    pub num_requests: u64,
    /// Number of received bytes.
    pub num_bytes: u64,
    /// Number of dependent rounds of requests.
    pub num_waves: u64,
    /// Number of reads and lookups that the cache answered completely.
    pub num_cache_hits: u64,
    /// Number of reads and lookups that the cache did not answer completely.
    pub num_cache_misses: u64,
}

/// Data to write to the cache.
pub(crate) enum Put {
    Range(String, CachedPiece, ByteClass),
    Entry(String, Bytes, ByteClass),
    /// A manifest, and the time at which it came.
    Manifest(String, KeptManifest, Duration),
}

/// Cache with the data to write to it after the answer.
pub(crate) struct Behind<C> {
    pub(crate) cache: C,
    puts: Vec<Put>,
    num_bytes: usize,
}

impl<C: Cache> Behind<C> {
    pub(crate) fn new(cache: C) -> Self {
        Self {
            cache,
            puts: Vec::new(),
            num_bytes: 0,
        }
    }

    pub(crate) fn offer(&mut self, put: Put) {
        if !self.cache.keeps() {
            return;
        }
        self.num_bytes += match &put {
            Put::Range(_, piece, _) => piece.bytes.len(),
            Put::Entry(_, bytes, _) => bytes.len(),
            Put::Manifest(_, kept, _) => kept.bytes.len(),
        };
        self.puts.push(put);
        if self.num_bytes > MAX_BYTES_BEHIND {
            self.settle();
        }
    }

    /// Returns the entry of `key`: the one that waits to be written, or the one in the cache.
    pub(crate) fn get_entry(&mut self, key: &str, class: ByteClass) -> Option<Bytes> {
        let waiting = self.puts.iter().rev().find_map(|put| match put {
            Put::Entry(other, bytes, _) if other == key => Some(bytes.clone()),
            _ => None,
        });
        waiting.or_else(|| self.cache.get_entry(key, class))
    }

    pub(crate) fn settle(&mut self) {
        self.num_bytes = 0;
        for put in self.puts.drain(..) {
            match put {
                Put::Range(object, piece, class) => self.cache.put(&object, &piece, class),
                Put::Entry(key, bytes, class) => self.cache.put_entry(&key, bytes, class),
                Put::Manifest(key, kept, now) => {
                    // Another host may share the cache.
                    let held = self.cache.get_entry(&key, ByteClass::Manifest);
                    let held = held.as_ref().and_then(KeptManifest::from_bytes);
                    if may_replace(held.as_ref(), kept.checked_at, now) {
                        let bytes = kept.to_bytes();
                        self.cache.put_entry(&key, bytes, ByteClass::Manifest);
                    }
                }
            }
        }
    }
}

/// Search in progress.
pub(crate) struct Search<'h, P, C> {
    pub(crate) platform: &'h mut P,
    pub(crate) behind: &'h mut Behind<C>,
    pub(crate) options: &'h Options,
    pub(crate) indexes: &'h BTreeMap<String, Index>,
    pub(crate) gate: Gate,
    pub(crate) counts: Counts,
    pub(crate) started_us: u64,
    /// Times at which reads of splits and of documents are cancelled, so that enough time is left
    /// for the answer.
    pub(crate) reads_until_us: Option<u64>,
    pub(crate) documents_until_us: Option<u64>,
    pub(crate) asked: Asked,
    etags: Etags,
    /// Lengths of objects as reported by the store, used as hints.
    pub(crate) object_lens: BTreeMap<String, u64>,
    pub(crate) num_retries: u32,
    pub(crate) last_id: u64,
}

impl<'h, P: Platform, C: Cache> Search<'h, P, C> {
    pub(crate) fn new(
        platform: &'h mut P,
        behind: &'h mut Behind<C>,
        options: &'h Options,
        indexes: &'h BTreeMap<String, Index>,
        budget: Budget,
        started_us: u64,
    ) -> Self {
        let until = |percent: u64| {
            let time_us = budget.deadline_ms?.saturating_mul(1000);
            Some(started_us.saturating_add(time_us / 100 * percent))
        };
        let mut gate = Gate::new(budget);
        if let (Some(max), Some(cpu_ms)) = (options.max_cpu_ms, platform.cpu_ms()) {
            gate.limit_cpu(max, cpu_ms);
        }
        Self {
            platform,
            behind,
            options,
            indexes,
            gate,
            counts: Counts::default(),
            started_us,
            reads_until_us: until(85),
            documents_until_us: until(95),
            asked: Asked::default(),
            etags: Etags::default(),
            object_lens: BTreeMap::new(),
            num_retries: 0,
            last_id: 0,
        }
    }

    /// Returns an error if too little processor time is left for splits or for documents.
    pub(crate) fn admit_cpu(&mut self, is_document: bool) -> Result<(), String> {
        let cpu_ms = self.platform.cpu_ms().unwrap_or(0);
        self.gate.admit_cpu(cpu_ms, is_document)
    }

    /// Returns the microseconds since the search began.
    pub(crate) fn elapsed_us(&self) -> u64 {
        self.platform.now_us().saturating_sub(self.started_us)
    }

    /// Returns the host's report, which the guest adds to its answer.
    pub(crate) fn report(&self) -> HostReport {
        HostReport {
            elapsed_us: self.elapsed_us(),
            timed_out: self.gate.is_timed_out(),
            budget_exhausted: self.gate.exhausted().map(str::to_owned),
        }
    }

    /// Returns the index to which an object or key belongs, with its name in the index.
    fn index_of<'n>(&self, name: &'n str) -> Option<(&'h Index, &'n str)> {
        if let Some(only) = self.indexes.get(ONLY_INDEX) {
            return Some((only, name));
        }
        let (index, rest) = name.split_once('/')?;
        Some((self.indexes.get(index)?, rest))
    }

    /// Returns the name of the object in its index, or the whole name if there is no such index.
    pub(crate) fn name_in_index<'n>(&self, object: &'n str) -> &'n str {
        self.index_of(object).map_or(object, |(_, rest)| rest)
    }

    pub(crate) fn url_of(&self, object: &str) -> Option<Url> {
        let (index, rest) = self.index_of(object)?;
        Some(index.url_of(rest))
    }

    /// Returns the cache key of an object or entry, which contains the location of the index
    /// instead of its name on this host.
    pub(crate) fn cache_key(&self, name: &str) -> String {
        match self.index_of(name) {
            Some((index, rest)) => format!("{}/{rest}", index.namespace),
            None => name.to_owned(),
        }
    }

    /// Returns the cached pieces of `blocks`, which surround the `wanted` bytes of a read.
    ///
    /// Bytes that are missing in the read's class may be cached in another class, because requests
    /// are merged and blocks can span two classes.
    pub(crate) fn cached(
        &mut self,
        object: &str,
        blocks: &Range<u64>,
        wanted: &Range<u64>,
        class: ByteClass,
    ) -> Vec<CachedPiece> {
        let key = self.cache_key(object);
        let cache = &mut self.behind.cache;
        let mut held = cache.get(&key, blocks, class);
        for other in SPLIT_CLASSES {
            if pieces::gaps(wanted, &held).is_empty() {
                break;
            }
            if other == class {
                continue;
            }
            for gap in pieces::gaps(blocks, &held) {
                for piece in cache.get(&key, &gap, other) {
                    pieces::add(&mut held, &piece, blocks);
                }
            }
        }
        held
    }

    /// Checks the result of a request for an immutable object.
    ///
    /// # Errors
    /// The object has changed since this search first read it.
    pub(crate) fn note_object(
        &mut self,
        object: &str,
        bytes: &Extent,
        fetched: &Fetched,
    ) -> Result<(), FetchError> {
        if let Some(len) = fetched.object_len {
            self.object_lens.insert(object.to_owned(), len);
        }
        let checked = self.etags.check(object, fetched.etag.as_deref());
        checked.map_err(|fault| FetchError::misbehaved(object, asked_of(bytes), &fault))
    }
}
