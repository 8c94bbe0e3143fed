//! The resident part of a split's body: verified blocks, and the reads under way for more.
//!
//! Bytes enter only as whole blocks whose checksums match the head, or as pieces that match their own (blocks of
//! documents, vectors), so that corruption by a store, cache or network never reaches the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use canter_protocol::{ByteClass, FetchErrorKind, SupplyResult};
use canter_split_format::{BlockCheck, BlockChecksums, Hotcache};
use futures_util::future::join_all;
use tantivy::directory::OwnedBytes;

use crate::SearchError;
use crate::exchange::Interrupt;
use crate::exchange::{Exchange, FetchFailure, shared};

/// The bytes of one split after its head.
pub(crate) struct SplitBody {
    split_id: String,
    object: String,
    head_len: u64,
    checksums: BlockChecksums,
    hot: BTreeMap<(u32, u64), OwnedBytes>,
    exchange: Exchange,
    interrupt: Interrupt,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Runs of verified blocks, by first block; no two overlap.
    runs: BTreeMap<u64, OwnedBytes>,
    /// Pieces that came by themselves, by their start: `load_piece`.
    pieces: BTreeMap<u64, OwnedBytes>,
    /// What was unpacked of ranges of files, by file and range; a column is read more than once.
    unpacked: BTreeMap<(u32, u64, u64), OwnedBytes>,
    /// Reads under way: request id, what it covers, and their class.
    pending: Vec<(u64, Wanted, ByteClass)>,
    /// Blocks of documents that are read again for hits, which nothing releases: the end of each by its start.
    lasting: BTreeMap<u64, u64>,
    /// Damaged reads that were repeated, by their first byte.
    reread: BTreeSet<u64>,
    /// The first thing that went wrong: the split is lost for this session.
    failure: Option<SearchError>,
    /// Ranges that synchronous reads missed.
    gaps: Vec<(Range<u64>, ByteClass)>,
    num_gaps: u64,
}

impl SplitBody {
    pub(crate) fn new(
        split_id: &str,
        head_len: u64,
        checksums: BlockChecksums,
        hotcache: Hotcache,
        exchange: Exchange,
    ) -> Self {
        let ranges = hotcache.ranges().to_vec();
        let bytes = OwnedBytes::new(hotcache.into_bytes());
        let ranges = ranges.into_iter();
        let hot = canter_sorting::map_of(
            ranges.map(|range| ((range.file_ord, range.start), bytes.slice(range.bytes))),
        );
        Self {
            split_id: split_id.to_owned(),
            object: canter_split_format::split_object(split_id),
            head_len,
            checksums,
            hot,
            interrupt: exchange.interrupt(),
            exchange,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of a file's range if the hotcache holds all of them.
    pub(crate) fn hot(&self, file_ord: u32, range: &Range<u64>) -> Option<OwnedBytes> {
        let ((ord, start), bytes) = self.hot.range(..=(file_ord, range.start)).next_back()?;
        let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
        (*ord == file_ord && from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
    }

    /// Returns the beginning of a file that the hotcache holds, whatever its length.
    pub(crate) fn hot_start(&self, file_ord: u32) -> Option<OwnedBytes> {
        self.hot.get(&(file_ord, 0)).cloned()
    }

    /// Returns the bytes of a range of the body if all its blocks are resident.
    pub(crate) fn resident(&self, range: &Range<u64>) -> Option<OwnedBytes> {
        if range.is_empty() {
            return Some(OwnedBytes::empty());
        }
        let state = self.lock();
        let block_len = self.checksums.block_len();
        let piece = state.pieces.get(&range.start);
        if let Some(bytes) = piece.filter(|bytes| bytes.len() as u64 == range.end - range.start) {
            return Some(bytes.clone());
        }
        let mut parts: Vec<OwnedBytes> = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (first_block, run) = state.runs.range(..=at / block_len).next_back()?;
            let run_start = first_block * block_len;
            let run_end = run_start + run.len() as u64;
            if at >= run_end {
                return None;
            }
            let to = range.end.min(run_end);
            let slice =
                usize::try_from(at - run_start).ok()?..usize::try_from(to - run_start).ok()?;
            parts.push(run.slice(slice));
            at = to;
        }
        match <[OwnedBytes; 1]>::try_from(parts) {
            Ok([only]) => Some(only),
            Err(parts) => {
                let mut whole = Vec::with_capacity(usize::try_from(range.end - range.start).ok()?);
                for part in &parts {
                    whole.extend_from_slice(part);
                }
                Some(OwnedBytes::new(whole))
            }
        }
    }

    /// What was unpacked of a file's range before.
    pub(crate) fn unpacked(&self, file_ord: u32, range: &Range<u64>) -> Option<OwnedBytes> {
        let state = self.lock();
        state
            .unpacked
            .get(&(file_ord, range.start, range.end))
            .cloned()
    }

    /// Keeps what was unpacked of a file's range as long as the blocks that are here.
    pub(crate) fn keep_unpacked(&self, file_ord: u32, range: &Range<u64>, bytes: &OwnedBytes) {
        let key = (file_ord, range.start, range.end);
        self.lock().unpacked.insert(key, bytes.clone());
    }

    /// Returns whether the search is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.interrupt.is_set()
    }

    /// Records that a synchronous read missed its bytes.
    pub(crate) fn note_gap(&self, range: Range<u64>, class: ByteClass) {
        self.lock().gaps.push((range, class));
    }

    /// Takes the ranges missed since the last call: the warmup did not foresee them.
    pub(crate) fn take_gaps(&self) -> Vec<(Range<u64>, ByteClass)> {
        let mut state = self.lock();
        state.num_gaps += state.gaps.len() as u64;
        std::mem::take(&mut state.gaps)
    }

    /// As [`SplitBody::take_gaps`], for ranges that were missed on purpose, to find out which ranges are needed.
    pub(crate) fn take_wanted(&self) -> Vec<(Range<u64>, ByteClass)> {
        std::mem::take(&mut self.lock().gaps)
    }

    /// Returns the number of synchronous reads that missed their bytes.
    pub(crate) fn num_gaps(&self) -> u64 {
        self.lock().num_gaps
    }

    /// Releases the resident blocks; a later read fetches them again.
    pub(crate) fn release(&self) {
        self.release_but(&BTreeSet::new());
    }

    /// Keeps a resident block of documents until the session ends, as long as it has room: hits show what was read to find them,
    /// and a host takes a range that is asked for again for one that came damaged.
    pub(crate) fn keep_documents(&self, range: Range<u64>) {
        let block_len = self.checksums.block_len();
        let mut state = self.lock();
        if has_part(&state.lasting, &range) {
            return;
        }
        let num_bytes = match state.pieces.get(&range.start) {
            Some(bytes) => bytes.len(),
            None => {
                let is_here = |(first, run): &(&u64, &OwnedBytes)| {
                    overlap(&bytes_of_run(**first, run, block_len), &range)
                };
                state
                    .runs
                    .iter()
                    .filter(is_here)
                    .map(|(_, run)| run.len())
                    .sum()
            }
        };
        if num_bytes > 0 && self.exchange.has_room(num_bytes) {
            state.lasting.insert(range.start, range.end);
        }
    }

    /// Returns the resident runs of blocks, by their first block.
    pub(crate) fn runs(&self) -> BTreeSet<u64> {
        canter_sorting::set_of(self.lock().runs.keys().copied())
    }

    /// Releases all blocks except those of these runs, and of documents that are kept.
    pub(crate) fn release_but(&self, kept: &BTreeSet<u64>) {
        let block_len = self.checksums.block_len();
        let mut state = self.lock();
        let State {
            runs,
            pieces,
            lasting,
            unpacked,
            ..
        } = &mut *state;
        runs.retain(|first, run| {
            let bytes = bytes_of_run(*first, run, block_len);
            kept.contains(first) || has_part(lasting, &bytes)
        });
        pieces.retain(|start, _| lasting.contains_key(start));
        unpacked.clear();
    }

    /// Returns the first failure of this split, if any.
    pub(crate) fn failure(&self) -> Option<SearchError> {
        self.lock().failure.clone()
    }

    /// Loads a range of the body.
    pub(crate) async fn load(
        &self,
        range: Range<u64>,
        class: ByteClass,
    ) -> Result<(), SearchError> {
        let blocks = self.checksums.blocks_of(range);
        poll_fn(|context| self.poll_load(&blocks, class, context)).await
    }

    /// Loads a piece, which has a checksum of its own, without the rest of the body's blocks that hold it.
    pub(crate) async fn load_piece(
        &self,
        range: Range<u64>,
        check: BlockCheck,
        class: ByteClass,
    ) -> Result<(), SearchError> {
        poll_fn(|context| self.poll_load_piece(&range, check, class, context)).await
    }

    /// Loads several ranges of the body, all at once.
    pub(crate) async fn load_all(
        &self,
        ranges: Vec<(Range<u64>, ByteClass)>,
    ) -> Result<(), SearchError> {
        let loads = ranges.into_iter();
        let loads = loads.map(|(range, class)| self.load(range, class));
        join_all(loads).await.into_iter().collect()
    }

    fn poll_load(
        &self,
        blocks: &Range<u64>,
        class: ByteClass,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SearchError>> {
        let mut state = self.lock();
        self.settle(&mut state, context);
        if let Some(failure) = &state.failure {
            return Poll::Ready(Err(failure.clone()));
        }
        let missing = self.missing(&state, blocks);
        if missing.is_empty() {
            return Poll::Ready(Ok(()));
        }
        for wanted in missing {
            for fresh in not_pending(&state, wanted) {
                self.ask(&mut state, Wanted::Blocks(fresh), class, context);
            }
        }
        Poll::Pending
    }

    fn poll_load_piece(
        &self,
        range: &Range<u64>,
        check: BlockCheck,
        class: ByteClass,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SearchError>> {
        let mut state = self.lock();
        self.settle(&mut state, context);
        if let Some(failure) = &state.failure {
            return Poll::Ready(Err(failure.clone()));
        }
        let is_here = state.pieces.contains_key(&range.start)
            || self
                .missing(&state, &self.checksums.blocks_of(range.clone()))
                .is_empty();
        if is_here {
            return Poll::Ready(Ok(()));
        }
        let wanted = Wanted::Piece(range.clone(), check);
        if !state
            .pending
            .iter()
            .any(|(_, pending, _)| *pending == wanted)
        {
            self.ask(&mut state, wanted, class, context);
        }
        Poll::Pending
    }

    /// Takes in every pending read that has arrived, and waits for the others.
    fn settle(&self, state: &mut State, context: &mut Context<'_>) {
        let pending = std::mem::take(&mut state.pending);
        for (id, wanted, class) in pending {
            let Poll::Ready(result) = self.exchange.poll_take(id, context) else {
                state.pending.push((id, wanted, class));
                continue;
            };
            match self.take_in(state, &wanted, result) {
                Ok(()) => {}
                // The host may have served them from a cache, or a proxy on the way did: a second
                // request tells the host that they were damaged.
                Err(Trouble::Damaged(_)) if state.reread.insert(self.bytes_of(&wanted).start) => {
                    self.ask(state, wanted, class, context);
                }
                Err(Trouble::Damaged(error) | Trouble::Lost(error)) => {
                    state.failure.get_or_insert(error);
                }
            }
        }
    }

    /// Returns the range of the body that a read covers.
    fn bytes_of(&self, wanted: &Wanted) -> Range<u64> {
        match wanted {
            Wanted::Blocks(blocks) => self.checksums.bytes_of(blocks.clone()),
            Wanted::Piece(range, _) => range.clone(),
        }
    }

    /// Requests bytes, and registers the task's waker.
    fn ask(&self, state: &mut State, wanted: Wanted, class: ByteClass, context: &mut Context<'_>) {
        let bytes = self.bytes_of(&wanted);
        let id = self.exchange.request(
            &self.object,
            self.head_len + bytes.start,
            Some(bytes.end - bytes.start),
            class,
        );
        // Nothing can have arrived yet.
        let _ = self.exchange.poll_take(id, context);
        state.pending.push((id, wanted, class));
    }

    fn take_in(
        &self,
        state: &mut State,
        wanted: &Wanted,
        result: SupplyResult,
    ) -> Result<(), Trouble> {
        let range = self.bytes_of(wanted);
        let at = self.head_len + range.start;
        let wanted_len = range.end - range.start;
        let bytes = match result {
            SupplyResult::Bytes(bytes) => shared(bytes),
            SupplyResult::Miss => {
                return Err(Trouble::Lost(SearchError::internal(
                    "a read was answered as a cache lookup",
                )));
            }
            SupplyResult::Failed { kind, message } => {
                let what = format!("split {}: bytes {at}+{wanted_len}", self.split_id);
                let failure = FetchFailure { kind, message };
                return Err(Trouble::Lost(failure.into_search_error(&what)));
            }
        };
        if bytes.len() as u64 != wanted_len {
            let failure = FetchFailure {
                kind: FetchErrorKind::Truncated,
                message: format!("{} bytes came for {wanted_len} asked", bytes.len()),
            };
            let what = format!("split {}: bytes {at}", self.split_id);
            return Err(Trouble::Lost(failure.into_search_error(&what)));
        }
        match wanted {
            Wanted::Blocks(blocks) => {
                let block_len = self.checksums.block_len();
                self.checksums
                    .verify(blocks.start, &bytes)
                    .map_err(|block| self.damaged("block", block * block_len, block_len))?;
                state.runs.insert(blocks.start, bytes);
            }
            Wanted::Piece(range, check) => {
                check
                    .content(&bytes)
                    .map_err(|_| self.damaged("documents or vectors", range.start, wanted_len))?;
                state.pieces.insert(range.start, bytes);
            }
        }
        Ok(())
    }

    /// Returns the error of bytes of the body whose checksum does not match.
    fn damaged(&self, what: &str, start: u64, len: u64) -> Trouble {
        Trouble::Damaged(SearchError::data(format!(
            "split {}: checksum mismatch in {what} (bytes {}+{len}): the object is damaged; restore it or build the \
             split again",
            self.split_id,
            self.head_len + start,
        )))
    }

    /// Returns the parts of a block range that no run covers.
    fn missing(&self, state: &State, blocks: &Range<u64>) -> Vec<Range<u64>> {
        let block_len = self.checksums.block_len();
        let mut missing = Vec::new();
        let mut at = blocks.start;
        let before = state.runs.range(..blocks.start).next_back();
        for (first, run) in before.into_iter().chain(state.runs.range(blocks.clone())) {
            let end = first + (run.len() as u64).div_ceil(block_len);
            if *first > at {
                missing.push(at..*first);
            }
            at = at.max(end);
        }
        if at < blocks.end {
            missing.push(at..blocks.end);
        }
        missing
    }
}

/// What a read covers.
#[derive(Clone, PartialEq)]
enum Wanted {
    /// Blocks of the body, whose checksums the head has.
    Blocks(Range<u64>),
    /// A piece, which begins with its checksum.
    Piece(Range<u64>, BlockCheck),
}

/// Failure of a read.
enum Trouble {
    /// The bytes arrived, but are damaged.
    Damaged(SearchError),
    /// The bytes did not arrive.
    Lost(SearchError),
}

/// Returns the range of the body that a run of blocks has.
fn bytes_of_run(first_block: u64, run: &OwnedBytes, block_len: u64) -> Range<u64> {
    let start = first_block * block_len;
    start..start + run.len() as u64
}

/// Returns whether one of several disjoint ranges has bytes of another.
fn has_part(ranges: &BTreeMap<u64, u64>, of: &Range<u64>) -> bool {
    let last = ranges.range(..of.end).next_back();
    last.is_some_and(|(_, end)| *end > of.start)
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns the parts of a block range that no read under way covers.
fn not_pending(state: &State, wanted: Range<u64>) -> Vec<Range<u64>> {
    let mut parts = vec![wanted];
    for (_, pending, _) in &state.pending {
        let Wanted::Blocks(pending) = pending else {
            continue;
        };
        parts = parts
            .into_iter()
            .flat_map(|part| {
                let left = part.start..part.end.min(pending.start).max(part.start);
                let right = part.start.max(pending.end).min(part.end)..part.end;
                if pending.end <= part.start || pending.start >= part.end {
                    vec![part]
                } else {
                    vec![left, right]
                }
            })
            .filter(|part| !part.is_empty())
            .collect();
    }
    parts
}
