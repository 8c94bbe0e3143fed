//! The fetches of a round: the bytes that reads lack and that no flight brings, in as few requests as worthwhile.

use canter_protocol::ByteClass;
use canter_stores::Extent;
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::coalesce::CoalesceOptions;
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::{Missing, Request, align, requests_of, within};

use crate::read::PendingRead;

/// The classes whose ranges are adjacent in one object. Bytes that the cache lacks under a read's own class may be
/// there under another: requests are merged, and blocks cross the border between two classes.
pub const SPLIT_CLASSES: [ByteClass; 5] = [
    ByteClass::Head,
    ByteClass::Dictionary,
    ByteClass::Postings,
    ByteClass::FastField,
    ByteClass::DocStore,
];

/// The host of a wave, as far as planning needs it. It answers from memory, without waiting.
pub trait Host {
    /// A request under way that several waves can wait for.
    type Flight;

    /// Returns whether ranges of immutable objects are cached.
    fn has_cache(&self) -> bool;

    /// Returns the length of the blocks to which reads of `class` are widened: those of the cache, or 1.
    fn block_len(&self, class: ByteClass) -> u64;

    /// Returns the length of an object, if a store has reported it.
    fn object_len(&self, object: &str) -> Option<u64>;

    /// Returns the conditions for merging two ranges, and the length above which a request is sent in parts.
    fn request_shape(&self) -> (CoalesceOptions, u64);

    /// Returns the flights under way that bring a part of `bytes`, and the parts that none brings.
    fn claim(&self, object: &str, bytes: &Extent) -> (Vec<Self::Flight>, Vec<Extent>);

    /// Admits a round of fetches; `has_documents` if documents of hits are among them.
    ///
    /// # Errors
    /// If the budget does not allow the round, with a message.
    fn admit_round(&mut self, has_documents: bool) -> Result<(), String>;
}

/// A request that a round waits for.
#[derive(Debug)]
pub struct Fetch<F> {
    /// Identifies the fetch within its round.
    pub id: usize,
    /// Object and bytes.
    pub request: Request,
    /// The flight of another search that brings the bytes; `None` to send the request.
    pub joined: Option<F>,
    /// True to skip the cache, even if it may have been filled since the look-ups.
    pub must_ask: bool,
    /// True to request a whole manifest, which is kept with its version.
    pub is_manifest: bool,
    /// The manifest whose version is sent to the store.
    pub kept: Option<KeptManifest>,
}

/// Returns the length of the blocks in which reads of `class` are made.
pub(crate) fn block_len_of(host: &impl Host, class: ByteClass) -> u64 {
    match class {
        // A manifest changes, and the manifest names the length of a head: both are read without alignment.
        ByteClass::Manifest | ByteClass::Head => 1,
        _ if host.has_cache() => host.block_len(class).max(1),
        _ => 1,
    }
}

/// Returns what a read lacks, extended to the blocks of the cache.
pub(crate) fn missing_of(host: &impl Host, read_ord: usize, read: &PendingRead) -> Vec<Missing> {
    let class = read.request.class;
    let block_len = match read.is_exact {
        true => 1,
        false => block_len_of(host, class),
    };
    let object_len = host.object_len(&read.request.object);
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
        // Whole blocks, without their cached parts.
        let blocks = align(range, block_len, object_len);
        let holes = pieces::gaps(&blocks, &read.around).into_iter();
        let holes = holes.map(Extent::Range);
        all.extend(holes.filter(|hole| hole.overlaps(&gap)).map(missing));
    }
    all
}

/// Returns the fetches for everything that `reads` lack: manifests, flights to join, and requests.
pub(crate) fn plan_round<H: Host>(host: &H, reads: &mut [PendingRead]) -> Vec<Fetch<H::Flight>> {
    let mut fetches = Vec::new();
    for (ord, read) in reads.iter_mut().enumerate() {
        if read.is_manifest() && !read.is_done() {
            fetches.push(plan_manifest(host, ord, read));
        }
    }
    let reads: &[PendingRead] = reads;
    let requests = requests_for(host, reads, &mut fetches);
    fetches.extend(requests.into_iter().map(|request| {
        Fetch {
            id: 0,
            joined: None,
            must_ask: reads
                .iter()
                .any(|read| read.must_ask && read.overlaps(&request)),
            is_manifest: false,
            kept: None,
            request,
        }
    }));
    for (id, fetch) in fetches.iter_mut().enumerate() {
        fetch.id = id;
    }
    fetches
}

fn plan_manifest<H: Host>(host: &H, read_ord: usize, read: &mut PendingRead) -> Fetch<H::Flight> {
    let request = Request {
        object: read.request.object.clone(),
        bytes: Extent::WHOLE,
        class: ByteClass::Manifest,
        num_reads: 1,
        first_read_ord: read_ord,
    };
    let may_join = !read.must_ask && !read.is_alone;
    let (joined, _) = host.claim(&request.object, &request.bytes);
    let joined = joined.into_iter().next().filter(|_| may_join);
    Fetch {
        id: 0,
        kept: match joined {
            Some(_) => None,
            None => read.kept.take(),
        },
        joined,
        must_ask: true,
        is_manifest: true,
        request,
    }
}

/// Returns the requests for ranges that no flight under way brings. Those flights become fetches to join.
fn requests_for<H: Host>(
    host: &H,
    reads: &[PendingRead],
    fetches: &mut Vec<Fetch<H::Flight>>,
) -> Vec<Request> {
    let mut merged: Vec<Missing> = Vec::new();
    let mut exact: Vec<Missing> = Vec::new();
    let ranges = reads.iter().enumerate();
    for (read_ord, read) in ranges.filter(|(_, read)| !read.is_manifest()) {
        for missing in missing_of(host, read_ord, read) {
            if read.is_exact {
                exact.push(missing);
                continue;
            }
            if read.must_ask || read.is_alone {
                merged.push(missing);
                continue;
            }
            let (joined, free) = host.claim(&missing.object, &missing.bytes);
            fetches.extend(joined.into_iter().map(|flight| Fetch {
                id: 0,
                request: Request::from(missing.clone()),
                joined: Some(flight),
                must_ask: false,
                is_manifest: false,
                kept: None,
            }));
            merged.extend(free.into_iter().map(|bytes| Missing {
                bytes,
                ..missing.clone()
            }));
        }
    }
    let (coalesce, max_part_bytes) = host.request_shape();
    let apart = |missing: &[Missing]| requests_of(missing, CoalesceOptions::off(), max_part_bytes);
    let mut requests = Vec::new();
    for request in requests_of(&merged, coalesce, max_part_bytes) {
        // A gap must not be closed over bytes that are on their way already.
        let (joinable, _) = host.claim(&request.object, &request.bytes);
        match joinable.is_empty() {
            true => requests.push(request),
            false => requests.extend(apart(&within(&merged, &request))),
        }
    }
    requests.extend(apart(&exact));
    requests
}
