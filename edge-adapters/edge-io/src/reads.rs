//! A read on its way to its bytes.

use canter_protocol::{ByteClass, FetchErrorKind, ReadRequest, Supply, SupplyResult};
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::{Missing, Request, align};
use canter_stores::{AskedRange, CachedPiece, Extent};

use crate::FetchError;

/// Longest range that the guest may ask for at once: it must fit in memory besides all else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// A read, and what is known of its bytes.
pub(crate) struct PendingRead {
    pub(crate) id: u64,
    pub(crate) object: String,
    pub(crate) class: ByteClass,
    /// What it asks for; a range as soon as it is known where the object ends.
    pub(crate) bytes: Extent,
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
    pub(crate) fn new(request: ReadRequest) -> Self {
        let len = request.len;
        let bytes = Extent::new(request.offset, len);
        let too_long = len.is_some_and(|len| len > MAX_READ_BYTES);
        let error = too_long.then(|| {
            let what = format!("a single read may have at most {MAX_READ_BYTES} bytes");
            let range = asked_of(&bytes);
            FetchError::new(FetchErrorKind::Budget, &request.object, range, what)
        });
        Self {
            id: request.id,
            object: request.object,
            class: request.class,
            bytes,
            pieces: Vec::new(),
            around: Vec::new(),
            must_ask: false,
            is_exact: false,
            error,
        }
    }

    /// The parts that are still to come.
    fn gaps(&self) -> Vec<Extent> {
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
    pub(crate) fn is_done(&self) -> bool {
        self.gaps().is_empty()
    }

    pub(crate) fn overlaps(&self, request: &Request) -> bool {
        self.object == request.object && self.bytes.overlaps(&request.bytes)
    }

    /// Takes what it misses out of `piece`, which came for `asked`. What came to the end of the object
    /// ends the read.
    pub(crate) fn take(&mut self, piece: &CachedPiece, asked: &Extent) {
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

    /// What it misses, extended to blocks of `block_len`.
    pub(crate) fn missing(
        &self,
        read_ord: usize,
        block_len: u64,
        object_len: Option<u64>,
    ) -> Vec<Missing> {
        let missing = |bytes: Extent| Missing {
            object: self.object.clone(),
            bytes,
            class: self.class,
            read_ord,
        };
        let mut all: Vec<Missing> = Vec::new();
        for gap in self.gaps() {
            let is_widened = block_len > 1 && !self.is_exact;
            let Some(range) = gap.range().filter(|_| is_widened) else {
                all.push(missing(gap));
                continue;
            };
            // Whole blocks, but not what is cached of them already.
            let blocks = align(range, block_len, object_len);
            let holes = pieces::gaps(&blocks, &self.around).into_iter();
            let holes = holes.map(Extent::Range);
            all.extend(holes.filter(|hole| hole.overlaps(&gap)).map(missing));
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
            id: self.id,
            outcome,
        }
    }
}

/// `bytes` as a request asks for them. The whole object is asked for without a range.
pub(crate) fn asked_of(bytes: &Extent) -> Option<AskedRange> {
    (*bytes != Extent::WHOLE).then(|| AskedRange {
        first: bytes.start(),
        len: bytes.len(),
    })
}
