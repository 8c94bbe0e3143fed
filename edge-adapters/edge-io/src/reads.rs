//! A read on its way to its bytes.

use std::ops::Range;

use canter_guest::session::protocol::{FetchErrorKind, ReadRequest, Supply, SupplyResult};
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::{Missing, Request, align};
use canter_stores::{AskedRange, ByteClass, CachedPiece};

use crate::FetchError;

/// Longest range that the guest may ask for at once: it must fit in memory besides all else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// A read, and what is known of its bytes.
pub(crate) struct PendingRead {
    pub(crate) id: u64,
    pub(crate) object: String,
    pub(crate) class: ByteClass,
    /// What it asks for; the end is `u64::MAX` until it is known where the object ends.
    pub(crate) bytes: Range<u64>,
    /// In order, not overlapping.
    pieces: Vec<CachedPiece>,
    /// What the cache has of the blocks that it lies in.
    pub(crate) around: Vec<CachedPiece>,
    /// The guest asks again for what it has had: it was no good, so the cache is passed by.
    pub(crate) must_ask: bool,
    /// Ask for exactly this range and nothing around it.
    pub(crate) is_exact: bool,
    pub(crate) error: Option<FetchError>,
}

impl PendingRead {
    pub(crate) fn new(request: ReadRequest, class: ByteClass) -> Self {
        let len = request.len;
        let end = len.map_or(u64::MAX, |len| request.offset.saturating_add(len));
        let bytes = request.offset..end;
        let too_long = len.is_some_and(|len| len > MAX_READ_BYTES);
        let error = too_long.then(|| {
            let what = format!("a single read may have at most {MAX_READ_BYTES} bytes");
            let range = asked_of(&bytes);
            FetchError::new(FetchErrorKind::Budget, &request.object, range, what)
        });
        Self {
            id: request.id,
            object: request.object,
            class,
            bytes,
            pieces: Vec::new(),
            around: Vec::new(),
            must_ask: false,
            is_exact: false,
            error,
        }
    }

    /// The parts that are still to come.
    fn gaps(&self) -> Vec<Range<u64>> {
        match self.error {
            Some(_) => Vec::new(),
            None => pieces::gaps(&self.bytes, &self.pieces),
        }
    }

    /// Whether it has its bytes or its error.
    pub(crate) fn is_done(&self) -> bool {
        self.gaps().is_empty()
    }

    pub(crate) fn overlaps(&self, request: &Request) -> bool {
        self.object == request.object
            && self.bytes.start < request.bytes.end
            && request.bytes.start < self.bytes.end
    }

    /// Takes what it misses out of `piece`. What came to the end of the object ends the read.
    pub(crate) fn take(&mut self, piece: &CachedPiece) {
        if self.bytes.end == u64::MAX && piece.offset == self.bytes.start {
            self.bytes.end = piece.end();
        }
        pieces::add(&mut self.pieces, piece, &self.bytes);
    }

    /// What it misses, extended to blocks of `block_len`.
    pub(crate) fn missing(
        &self,
        read_ord: usize,
        block_len: u64,
        object_len: Option<u64>,
    ) -> Vec<Missing> {
        let missing = |bytes: Range<u64>| Missing {
            object: self.object.clone(),
            bytes,
            class: self.class,
            read_ord,
        };
        let mut all: Vec<Missing> = Vec::new();
        for gap in self.gaps() {
            if gap.end == u64::MAX || block_len <= 1 || self.is_exact {
                all.push(missing(gap));
                continue;
            }
            // Whole blocks, but not what is cached of them already.
            let blocks = align(&gap, block_len, object_len);
            let holes = pieces::gaps(&blocks, &self.around);
            let is_wanted = |hole: &Range<u64>| hole.start < gap.end && gap.start < hole.end;
            all.extend(holes.into_iter().filter(is_wanted).map(missing));
        }
        all
    }

    /// Gives it up, if it still misses bytes.
    pub(crate) fn fail(&mut self, kind: FetchErrorKind, what: &str) {
        if !self.is_done() {
            let range = asked_of(&self.bytes);
            self.error = Some(FetchError::new(kind, &self.object, range, what));
        }
    }

    pub(crate) fn into_supply(self) -> Supply {
        let outcome = match self.error {
            None => SupplyResult::Bytes(pieces::join(self.pieces).into()),
            Some(error) => SupplyResult::Failed {
                // Nobody shall rebuild an index because a connection broke off.
                kind: match error.is_transient {
                    true => FetchErrorKind::Unavailable,
                    false => error.kind,
                },
                message: error.message,
            },
        };
        Supply {
            id: self.id,
            outcome,
        }
    }
}

/// `bytes` as a request asks for them; an end of `u64::MAX` is the end of the object. The whole object is
/// asked for without a range.
pub(crate) fn asked_of(bytes: &Range<u64>) -> Option<AskedRange> {
    match (bytes.start, bytes.end) {
        (0, u64::MAX) => None,
        (first, u64::MAX) => Some(AskedRange { first, len: None }),
        (first, end) => Some(AskedRange {
            first,
            len: Some(end - first),
        }),
    }
}
