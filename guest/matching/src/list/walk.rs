//! Queries on a posting list: documents of a window, ranks, and the next document.

use std::ops::Range;

use super::PostingList;
use super::blocks::PositionStarts;
use super::open::BLOCK_LEN;
use crate::NO_DOC;
use crate::bits::{Bits, WINDOW_LEN};
use crate::kernels;

/// Maximum number of wanted documents in a block that are looked up individually.
const FEW: u32 = 10;

impl PostingList {
    /// Returns the first document from `doc` on.
    #[inline(never)]
    pub(crate) fn next_doc(&mut self, doc: u32) -> u32 {
        self.find_next(doc).0
    }

    /// Returns the first document from `doc` on, and the number of documents before it in its
    /// block.
    #[inline]
    pub(crate) fn find_next(&mut self, doc: u32) -> (u32, usize) {
        self.seek_block(doc);
        let docs = self.padded();
        let ord = kernels::rank(docs, doc);
        (docs.get(ord).copied().unwrap_or(NO_DOC), ord)
    }

    /// Returns the number of documents before `doc`. Calls must ascend.
    pub fn rank(&mut self, doc: u32) -> u32 {
        self.seek_block(doc);
        let rank = kernels::rank(self.padded(), doc);
        let within = u32::try_from(rank).unwrap_or(BLOCK_LEN);
        self.first_rank()
            .saturating_add(within)
            .min(self.num_docs())
    }

    /// Replaces `docs` by the documents with these ranks.
    pub fn docs_by_rank(&mut self, ranks: Range<u32>, docs: &mut Vec<u32>) {
        docs.clear();
        if ranks.start < self.first_rank() {
            self.restart();
        }
        self.seek_rank(ranks.start);
        while !self.is_at_end() && self.first_rank() < ranks.end {
            let first = self.first_rank();
            let from = ranks.start.saturating_sub(first) as usize;
            let to = ranks.end.saturating_sub(first).min(BLOCK_LEN) as usize;
            let here = self.docs();
            docs.extend_from_slice(here.get(from..to.min(here.len())).unwrap_or_default());
            if first.saturating_add(BLOCK_LEN) > ranks.end {
                return;
            }
            self.next_block();
        }
    }

    /// Sets the bits of the wanted documents that are in the list, for a window that begins with
    /// `first`. Bits of other documents are arbitrary.
    #[inline(never)]
    pub fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) {
        found.clear();
        self.for_each_block(first, wanted, |list, places, are_many| {
            if are_many {
                let docs = list.docs();
                let docs = within(docs, first, &places);
                kernels::mark(docs, first, &mut found.0);
                return;
            }
            let docs = list.padded();
            let mut place = wanted.next(places.start);
            while let Some(at) = place.filter(|at| *at < places.end) {
                let doc = first.saturating_add(at);
                if docs.get(kernels::rank(docs, doc)) == Some(&doc) {
                    found.insert(at);
                }
                place = wanted.next(at + 1);
            }
        });
    }

    /// Replaces `places` by the start and the number of positions of each wanted document. All of
    /// them must be in the list.
    #[inline(never)]
    pub(crate) fn find_positions(
        &mut self,
        first: u32,
        wanted: &Bits,
        starts: &mut PositionStarts,
        places: &mut Vec<(u64, u32)>,
    ) {
        places.clear();
        self.for_each_block(first, wanted, |list, block, are_many| {
            if !starts.is_of(list.block()) {
                list.position_starts(starts);
            }
            if are_many {
                let docs = list.docs();
                let before = docs.partition_point(|doc| *doc < first.saturating_add(block.start));
                let mut ords = [0; BLOCK_LEN as usize];
                let docs = within(docs, first, &block);
                let num_found = kernels::select(docs, first, &wanted.0, &mut ords);
                let ords = ords.get(..num_found).unwrap_or_default();
                starts.add(ords, u8::try_from(before).unwrap_or_default(), places);
                return;
            }
            let docs = list.padded();
            let mut place = wanted.next(block.start);
            while let Some(at) = place.filter(|at| *at < block.end) {
                let ord = kernels::rank(docs, first.saturating_add(at));
                places.push(starts.of(u8::try_from(ord).unwrap_or(127)));
                place = wanted.next(at + 1);
            }
        });
    }

    /// Visits the blocks that may contain wanted documents of a window. `each` gets the positions
    /// in the window that a block may cover, from a wanted one on, and whether many of them are
    /// wanted.
    #[inline(always)]
    fn for_each_block(
        &mut self,
        first: u32,
        wanted: &Bits,
        mut each: impl FnMut(&mut Self, Range<u32>, bool),
    ) {
        let mut from = 0;
        while let Some(start) = wanted.next(from) {
            self.seek_block(first.saturating_add(start));
            if self.is_at_end() {
                return;
            }
            let end = self.last().saturating_sub(first);
            let places = start..end.saturating_add(1).min(WINDOW_LEN);
            let are_many = wanted.has_more(&places, FEW);
            from = places.end;
            each(self, places, are_many);
            if from >= WINDOW_LEN {
                return;
            }
        }
    }
}

/// Returns the documents of a block that are at positions of a window.
fn within<'d>(docs: &'d [u32], first: u32, places: &Range<u32>) -> &'d [u32] {
    let (start, end) = (
        first.saturating_add(places.start),
        first.saturating_add(places.end),
    );
    let is_before = |doc: Option<&u32>| doc.is_some_and(|doc| *doc < start);
    let docs = match is_before(docs.first()) {
        false => docs,
        true => {
            let before = docs.partition_point(|doc| *doc < start);
            docs.get(before..).unwrap_or_default()
        }
    };
    match docs.last().is_some_and(|doc| *doc >= end) {
        false => docs,
        true => {
            let inside = docs.partition_point(|doc| *doc < end);
            docs.get(..inside).unwrap_or_default()
        }
    }
}
