//! Runs of bytes of one object: finding the gaps of a read, and joining pieces.

use std::ops::Range;

use bytes::Bytes;

use crate::Buffer;

/// Bytes of an object that a cache holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedPiece {
    /// Offset of the bytes in the object.
    pub offset: u64,
    /// Bytes of the piece.
    pub bytes: Bytes,
}

impl CachedPiece {
    /// Returns the offset of the end in the object.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Returns the part that lies in `range`, without a copy.
    pub fn clip(&self, range: &Range<u64>) -> Option<Self> {
        let start = self.offset.max(range.start);
        let end = self.end().min(range.end);
        // Both offsets lie within the piece, which is in memory.
        (start < end).then(|| Self {
            offset: start,
            bytes: self
                .bytes
                .slice((start - self.offset) as usize..(end - self.offset) as usize),
        })
    }
}

/// Adds the part of `piece` that lies in `range` and is missing from `pieces` (in order, disjoint).
pub fn add(pieces: &mut Vec<CachedPiece>, piece: &CachedPiece, range: &Range<u64>) {
    for gap in gaps(range, pieces) {
        if let Some(part) = piece.clip(&gap) {
            let place = pieces.partition_point(|held| held.offset < part.offset);
            pieces.insert(place, part);
        }
    }
}

/// Returns the parts of `range` that are missing from `pieces` (in order, disjoint).
pub fn gaps(range: &Range<u64>, pieces: &[CachedPiece]) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut start = range.start;
    for piece in pieces {
        if piece.offset > start {
            gaps.push(start..piece.offset.min(range.end));
        }
        start = start.max(piece.end());
    }
    if start < range.end {
        gaps.push(start..range.end);
    }
    gaps
}

/// Joins pieces that cover a range. A single piece is not copied.
pub fn join(pieces: Vec<CachedPiece>) -> Bytes {
    let parts: Vec<Bytes> = pieces.into_iter().map(|piece| piece.bytes).collect();
    Buffer::joined(&parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(range: Range<u64>) -> CachedPiece {
        CachedPiece {
            offset: range.start,
            bytes: range.map(|at| (at % 251) as u8).collect(),
        }
    }

    proptest! {
        #[test]
        fn pieces_in_any_order_join_to_the_range(
            range in (0u64..200).prop_flat_map(|start| (Just(start), start..300)),
            parts in prop::collection::vec((0u64..300, 0u64..80), 0..12),
        ) {
            let range = range.0..range.1;
            let mut pieces = Vec::new();
            for (start, len) in parts {
                add(&mut pieces, &piece(start..start + len), &range);
            }
            for pair in pieces.windows(2) {
                prop_assert!(pair[0].end() <= pair[1].offset);
            }
            for gap in gaps(&range, &pieces) {
                prop_assert!(!gap.is_empty());
                add(&mut pieces, &piece(gap.clone()), &range);
            }
            prop_assert!(gaps(&range, &pieces).is_empty());
            let expected = piece(range.clone()).bytes;
            prop_assert_eq!(join(pieces), expected);
        }
    }
}
