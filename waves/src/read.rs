//! State of a read until it has its bytes.

use canter_protocol::{ByteClass, FetchErrorKind, ReadRequest, Supply, SupplyResult};
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::pieces;
use canter_stores::ranges::planning::Request;
use canter_stores::{AskedRange, CachedPiece, Extent};

use crate::FetchError;

/// Maximum length of a range that the guest may request: it must fit into its memory besides everything else.
const MAX_READ_BYTES: u64 = 256 << 20;

/// A read, and the known part of its bytes.
#[derive(Debug)]
pub(crate) struct PendingRead {
    pub(crate) request: ReadRequest,
    /// The requested bytes; a range as soon as the end of the object is known.
    pub(crate) bytes: Extent,
    /// In order, not overlapping.
    pieces: Vec<CachedPiece>,
    /// The cached pieces of the blocks in which the read lies.
    pub(crate) around: Vec<CachedPiece>,
    /// For a manifest: the cached one whose version is sent to the store.
    pub(crate) kept: Option<KeptManifest>,
    /// True if the guest requests the same bytes again: they were damaged, so the cache is skipped.
    pub(crate) must_ask: bool,
    /// True if another search's flight failed the read, perhaps for reasons of that search: no flight is joined.
    pub(crate) is_alone: bool,
    /// True to fetch exactly this range and nothing around it.
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

    /// Returns whether it requests a whole manifest, which is cached and revalidated as a whole.
    pub(crate) fn is_manifest(&self) -> bool {
        let ReadRequest {
            class, offset, len, ..
        } = self.request;
        class == ByteClass::Manifest && offset == 0 && len.is_none()
    }

    /// Returns the missing parts.
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

    /// Returns whether it has its bytes or its error.
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

    /// Takes the missing bytes from `piece`, the answer to `asked`. A piece that reaches the end of the object ends
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

    /// Fails the read, if it still lacks bytes.
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
                // An interrupted connection is no reason to rebuild an index.
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

/// Returns `bytes` as a request's range. The whole object is requested without a range.
pub fn asked_of(bytes: &Extent) -> Option<AskedRange> {
    (*bytes != Extent::WHOLE).then(|| AskedRange {
        first: bytes.start(),
        len: bytes.len(),
    })
}
