//! What one search has found out so far, and what it shares with its host.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bytes::Bytes;
use canter_protocol::{Budget, ByteClass, HostReport};
use canter_stores::ranges::pieces;
use canter_stores::{CachedPiece, Extent, Misbehaviour, StoreFault};
use url::Url;

use crate::flights::Fetched;
use crate::gate::Gate;
use crate::host::{Index, ONLY_INDEX};
use crate::reads::asked_of;
use crate::{Cache, FetchError, Options, Platform};

/// Bytes that wait to be put into the cache behind the answer; what is more is put at once.
const MAX_BYTES_BEHIND: usize = 16 << 20;

/// The classes whose ranges lie side by side in one object.
const CLASSES_OF_SPLITS: [ByteClass; 5] = [
    ByteClass::Head,
    ByteClass::Dictionary,
    ByteClass::Postings,
    ByteClass::FastField,
    ByteClass::DocStore,
];

/// What a search has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests to the store, with repetitions.
    pub num_requests: u64,
    /// Bytes that came.
    pub num_bytes: u64,
    /// Dependent rounds of requests.
    pub num_waves: u64,
    /// Reads and lookups that the cache answered in full.
    pub num_cache_hits: u64,
    /// Those that it did not.
    pub num_cache_misses: u64,
}

/// Something to put into the cache.
pub(crate) enum Put {
    Range(String, CachedPiece, ByteClass),
    Entry(String, Bytes, ByteClass),
}

/// A cache, and what is to be put into it once the answer is out.
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
        };
        self.puts.push(put);
        if self.num_bytes > MAX_BYTES_BEHIND {
            self.settle();
        }
    }

    pub(crate) fn settle(&mut self) {
        self.num_bytes = 0;
        for put in self.puts.drain(..) {
            match put {
                Put::Range(object, piece, class) => self.cache.put(&object, &piece, class),
                Put::Entry(key, bytes, class) => self.cache.put_entry(&key, bytes, class),
            }
        }
    }
}

/// One search under way.
pub(crate) struct Search<'h, P, C> {
    pub(crate) platform: &'h mut P,
    pub(crate) behind: &'h mut Behind<C>,
    pub(crate) options: &'h Options,
    pub(crate) indexes: &'h BTreeMap<String, Index>,
    pub(crate) gate: Gate,
    pub(crate) counts: Counts,
    pub(crate) started_us: u64,
    /// When reads are given up, so that there is still time to answer; then the documents.
    pub(crate) reads_until_us: Option<u64>,
    pub(crate) documents_until_us: Option<u64>,
    /// What the guest has asked for: again means that what came was no good.
    pub(crate) asked: BTreeSet<(String, u64, Option<u64>)>,
    /// The version of each immutable object, as first seen.
    etags: BTreeMap<String, String>,
    /// Lengths of objects, as the store told them; only a hint.
    object_lens: BTreeMap<String, u64>,
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
            asked: BTreeSet::new(),
            etags: BTreeMap::new(),
            object_lens: BTreeMap::new(),
            num_retries: 0,
            last_id: 0,
        }
    }

    /// An error if too little of the processor's time is left for splits, or for documents.
    pub(crate) fn admit_cpu(&mut self, is_document: bool) -> Result<(), String> {
        let cpu_ms = self.platform.cpu_ms().unwrap_or(0);
        self.gate.admit_cpu(cpu_ms, is_document)
    }

    /// What the guest is to say of the search in its answer.
    pub(crate) fn report(&self) -> HostReport {
        HostReport {
            elapsed_us: self.platform.now_us().saturating_sub(self.started_us),
            timed_out: self.gate.is_timed_out,
            budget_exhausted: self.gate.exhausted().map(str::to_owned),
        }
    }

    /// The index that an object or key belongs to, and its name within it.
    fn index_of<'n>(&self, name: &'n str) -> Option<(&'h Index, &'n str)> {
        if let Some(only) = self.indexes.get(ONLY_INDEX) {
            return Some((only, name));
        }
        let (index, rest) = name.split_once('/')?;
        Some((self.indexes.get(index)?, rest))
    }

    /// What the object is called within its index; all of its name if there is no such index.
    pub(crate) fn name_in_index<'n>(&self, object: &'n str) -> &'n str {
        self.index_of(object).map_or(object, |(_, rest)| rest)
    }

    pub(crate) fn url_of(&self, object: &str) -> Option<Url> {
        let (index, rest) = self.index_of(object)?;
        Some(index.url_of(rest))
    }

    /// Where an object or entry is in the cache: by where the index is and not by what it is called here.
    pub(crate) fn cache_key(&self, name: &str) -> String {
        match self.index_of(name) {
            Some((index, rest)) => format!("{}/{rest}", index.namespace),
            None => name.to_owned(),
        }
    }

    pub(crate) fn object_len(&self, object: &str) -> Option<u64> {
        self.object_lens.get(object).copied()
    }

    /// The length of the blocks in which ranges of this class are read.
    pub(crate) fn block_len(&self, class: ByteClass) -> u64 {
        let reads_blocks = self.options.reads_blocks && self.behind.cache.keeps();
        // A head has the length that the manifest names, and is read whole.
        match reads_blocks && !matches!(class, ByteClass::Manifest | ByteClass::Head) {
            true => self.behind.cache.block_len(class).max(1),
            false => 1,
        }
    }

    /// Counts a read or a lookup that the cache could have answered, if there is a cache.
    pub(crate) fn count_read(&mut self, is_hit: bool) {
        if self.behind.cache.keeps() {
            self.counts.num_cache_hits += u64::from(is_hit);
            self.counts.num_cache_misses += u64::from(!is_hit);
        }
    }

    /// What the cache has of `blocks`, which reach around the `wanted` bytes of a read.
    ///
    /// What the read's own class lacks may have come with another: requests are merged, and blocks reach over
    /// the border between two classes.
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
        for other in CLASSES_OF_SPLITS {
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

    /// Looks at what came of an immutable object.
    ///
    /// # Errors
    /// If the object is not what it was when this search first read it.
    pub(crate) fn note_object(
        &mut self,
        object: &str,
        bytes: &Extent,
        fetched: &Fetched,
    ) -> Result<(), FetchError> {
        if let Some(len) = fetched.object_len {
            self.object_lens.insert(object.to_owned(), len);
        }
        let Some(etag) = &fetched.etag else {
            return Ok(());
        };
        let first = self.etags.entry(object.to_owned());
        let first = first.or_insert_with(|| etag.clone());
        if first == etag {
            return Ok(());
        }
        let seen = format!("the object was replaced while it was read (ETag {first}, then {etag})");
        let fault = Misbehaviour::new(StoreFault::EtagChanged, seen);
        Err(FetchError::misbehaved(object, asked_of(bytes), &fault))
    }
}
