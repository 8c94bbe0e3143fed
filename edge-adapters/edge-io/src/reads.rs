//! Read that is in progress.

use canter_protocol::{ByteClass, FetchErrorKind, ReadRequest, Supply, SupplyResult};
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::{Missing, Request, align};
use canter_stores::{AskedRange, CachedPiece, Extent};

use crate::FetchError;

/// Maximum length of a read, which must fit into memory besides everything else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// Read with the bytes that are already there.
pub(crate) struct PendingRead {
    pub(crate) id: u64,
    pub(crate) object: String,
    pub(crate) class: ByteClass,
    /// Requested bytes; a range as soon as the end of the object is known.
    pub(crate) bytes: Extent,
    /// Pieces in order, without overlaps.
    pieces: Vec<CachedPiece>,
    /// Cached pieces of the surrounding blocks.
    pub(crate) around: Vec<CachedPiece>,
    /// Whether the guest repeats a read because the previous result was invalid. The cache is not
    /// used in this case.
    pub(crate) must_ask: bool,
    /// Whether exactly this range is requested, without surrounding blocks.
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

    /// Returns the missing parts.
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

    /// Returns whether the read has its bytes or an error.
    pub(crate) fn is_done(&self) -> bool {
        self.gaps().is_empty()
    }

    pub(crate) fn overlaps(&self, request: &Request) -> bool {
        self.object == request.object && self.bytes.overlaps(&request.bytes)
    }

    /// Takes the missing parts from `piece`, which is the result of a request for `asked`. The end
    /// of the object also ends the read.
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

    /// Returns the missing parts, extended to blocks of `block_len`.
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
            // Requests whole blocks, except for their cached parts.
            let blocks = align(range, block_len, object_len);
            let holes = pieces::gaps(&blocks, &self.around).into_iter();
            let holes = holes.map(Extent::Range);
            all.extend(holes.filter(|hole| hole.overlaps(&gap)).map(missing));
        }
        all
    }

    /// Fails the read if it still misses bytes.
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
                // An interrupted connection is not a reason to rebuild an index.
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

/// Returns `bytes` in the form of a request. The whole object needs no range.
pub(crate) fn asked_of(bytes: &Extent) -> Option<AskedRange> {
    (*bytes != Extent::WHOLE).then(|| AskedRange {
        first: bytes.start(),
        len: bytes.len(),
    })
}
