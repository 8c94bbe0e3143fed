//! A read on its way to its bytes.

use canter_protocol::{ByteClass, FetchErrorKind, ReadRequest, Supply, SupplyResult};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::Request;
use canter_stores::{AskedRange, CachedPiece, Extent};

use crate::FetchError;

/// Longest range that the guest may ask for at once: it must fit in its memory besides all else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// A read, and what is known of its bytes.
#[derive(Debug)]
pub(crate) struct PendingRead {
    pub(crate) request: ReadRequest,
    /// The bytes asked for; a range as soon as the end of the object is known.
    pub(crate) bytes: Extent,
    /// In order, not overlapping.
    pieces: Vec<CachedPiece>,
    /// The cached pieces of the blocks in which the read lies.
    pub(crate) around: Vec<CachedPiece>,
    /// Of a manifest: the cached one whose version the store is asked after.
    pub(crate) kept: Option<KeptManifest>,
    /// The guest asks again for what it has had: those bytes were no good, so the cache is passed by.
    pub(crate) must_ask: bool,
    /// Another search's flight failed the read, perhaps for reasons of that search: no other is joined.
    pub(crate) is_alone: bool,
    /// Fetch exactly this range and nothing around it.
    pub(crate) is_exact: bool,
    pub(crate) error: Option<FetchError>,
}

impl PendingRead {
    pub(crate) fn new(request: ReadRequest) -> Self {
        let bytes = Extent::new(request.offset, request.len);
        let too_long = request.len.is_some_and(|len| len > MAX_READ_BYTES);
        let error = too_long.then(|| {
            let what = format!("a single read may have at most {MAX_READ_BYTES} bytes");
            let range = asked_of(&bytes);
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
    pub(crate) fn is_manifest(&self) -> bool {
        let ReadRequest {
            class, offset, len, ..
        } = self.request;
        class == ByteClass::Manifest && offset == 0 && len.is_none()
    }

    /// Returns the parts that are still to come.
    pub(crate) fn gaps(&self) -> Vec<Extent> {
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

    /// Returns the number of bytes that it has so far.
    pub(crate) fn num_bytes(&self) -> u64 {
        let lens = self.pieces.iter().map(|piece| piece.bytes.len() as u64);
        lens.sum()
    }

    pub(crate) fn overlaps(&self, request: &Request) -> bool {
        self.request.object == request.object && self.bytes.overlaps(&request.bytes)
    }

    /// Takes the missing bytes out of `piece`, which came for `asked`. A piece that came to the end of the object ends
    /// the read.
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

    /// Gives the read up, if it still misses bytes.
    pub(crate) fn fail(&mut self, kind: FetchErrorKind, what: &str) {
        if !self.is_done() {
            let range = asked_of(&self.bytes);
            self.error = Some(FetchError::new(kind, &self.request.object, range, what));
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
            id: self.request.id,
            outcome,
        }
    }
}

/// Returns `bytes` as a request asks for them. The whole object is asked for without a range.
pub fn asked_of(bytes: &Extent) -> Option<AskedRange> {
    (*bytes != Extent::WHOLE).then(|| AskedRange {
        first: bytes.start(),
        len: bytes.len(),
    })
}
