//! A read on its way to its bytes.

use canter_stores::Extent;
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::Request;

use super::search_io::range_of;
use crate::cache::CachedPiece;
use crate::fetch::{FetchError, FetchErrorKind};
use crate::session::{ByteClass, ReadRequest, Supply, SupplyResult};

/// Longest range that the guest may ask for at once: it must fit in its memory besides all else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// A read, and what is known of its bytes.
pub(super) struct PendingRead {
    pub(super) request: ReadRequest,
    /// What it asks for; a range as soon as it is known where the object ends.
    pub(super) bytes: Extent,
    /// In order, not overlapping.
    pieces: Vec<CachedPiece>,
    /// What the cache has of the blocks that it lies in.
    pub(super) around: Vec<CachedPiece>,
    /// Of a manifest: the cached one whose version the store is asked after.
    pub(super) kept: Option<KeptManifest>,
    /// The guest asks again for what it has had: it was no good, so the cache is passed by.
    pub(super) must_ask: bool,
    /// Another search's flight failed it, perhaps for reasons of that search: no other is joined.
    pub(super) is_alone: bool,
    /// Ask for exactly this range and nothing around it.
    pub(super) is_exact: bool,
    pub(super) error: Option<FetchError>,
}

impl PendingRead {
    pub(super) fn new(request: ReadRequest) -> Self {
        let bytes = Extent::new(request.offset, request.len);
        let too_long = request.len.is_some_and(|len| len > MAX_READ_BYTES);
        let error = too_long.then(|| {
            let what = format!("a single read may have at most {MAX_READ_BYTES} bytes");
            let range = range_of(&bytes);
            FetchError::new(FetchErrorKind::Budget, &request.object, range, what)
        });
        Self {
            request,
            bytes,
            pieces: Vec::new(),
            around: Vec::new(),
            kept: None,
            must_ask: false,
            is_alone: false,
            is_exact: false,
            error,
        }
    }

    /// Whether it asks for a whole manifest, which is cached and revalidated as a whole.
    pub(super) fn is_manifest(&self) -> bool {
        let ReadRequest {
            class, offset, len, ..
        } = self.request;
        class == ByteClass::Manifest && offset == 0 && len.is_none()
    }

    /// The parts that are still to come.
    pub(super) fn gaps(&self) -> Vec<Extent> {
        match (&self.error, &self.bytes) {
            (Some(_), _) => Vec::new(),
            (None, Extent::ToEnd(_)) => vec![self.bytes.clone()],
            (None, Extent::Range(range)) => {
                let gaps = pieces::gaps(range, &self.pieces);
                gaps.into_iter().map(Extent::Range).collect()
            }
        }
    }

    /// Whether it has its bytes or its error.
    pub(super) fn is_done(&self) -> bool {
        self.gaps().is_empty()
    }

    /// Bytes that it has so far.
    pub(super) fn num_bytes(&self) -> u64 {
        let lens = self.pieces.iter().map(|piece| piece.bytes.len() as u64);
        lens.sum()
    }

    pub(super) fn overlaps(&self, request: &Request) -> bool {
        self.request.object == request.object && self.bytes.overlaps(&request.bytes)
    }

    /// Takes what it misses out of `piece`, which came for `asked`. What came to the end of the object
    /// ends the read.
    pub(super) fn take(&mut self, piece: &CachedPiece, asked: &Extent) {
        if let (Extent::ToEnd(start), Extent::ToEnd(from)) = (&self.bytes, asked)
            && from <= start
            && piece.offset <= *start
        {
            self.bytes = Extent::Range(*start..piece.end().max(*start));
        }
        if let Extent::Range(range) = &self.bytes {
            pieces::add(&mut self.pieces, piece, range);
        }
    }

    pub(super) fn into_supply(self) -> Supply {
        let outcome = match self.error {
            None => SupplyResult::Bytes(pieces::join(self.pieces)),
            Some(error) => SupplyResult::Failed {
                // A connection that broke off is no reason to rebuild an index.
                kind: match error.is_transient {
                    true => FetchErrorKind::Unavailable,
                    false => error.kind,
                },
                message: error.message,
            },
        };
        Supply {
            id: self.request.id,
            outcome,
        }
    }
}

/// Gives up the reads that still miss bytes.
pub(super) fn fail_rest(reads: &mut [PendingRead], kind: FetchErrorKind, what: &str) {
    for read in reads.iter_mut().filter(|read| !read.is_done()) {
        let (object, range) = (&read.request.object, range_of(&read.bytes));
        read.error = Some(FetchError::new(kind, object, range, what));
    }
}
