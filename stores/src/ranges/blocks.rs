//! Cuts ranges into aligned blocks, and merges fresh bytes with cached ones.
//!
//! ```text
//!   object     |0        64K|        128K|        192K|
//!   put 40K..150K     [=====|============|===]
//!   blocks            0: 40K..64K   1: all    2: 128K..150K
//!   get 60K..140K         [=|============|=]            a hit: three pieces
//! ```
//!
//! Queries read different ranges of the same column or dictionary, and coalescing merges them
//! differently each time, so exact ranges would rarely repeat; blocks do. A block may be partly
//! filled: the head has any length, and a read may be smaller than a block.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::pieces::CachedPiece;

/// Maximum length of a range that is looked up or stored at once: more than any read may have. It
/// bounds the number of blocks, whatever a guest asks for.
const MAX_RANGE_LEN: u64 = 1 << 30;

/// Part of a range that lies in one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPart {
    /// Number of the block, which begins at `number * block_len`.
    pub number: u64,
    /// Bytes of the object.
    pub range: Range<u64>,
}

/// Returns the blocks of `block_len` bytes that `range` touches, in order.
pub fn blocks_of(range: &Range<u64>, block_len: u64) -> impl Iterator<Item = BlockPart> {
    let start = range.start;
    let end = range.end.min(start.saturating_add(MAX_RANGE_LEN));
    let numbers = match start < end {
        true => start / block_len..(end - 1) / block_len + 1,
        false => 0..0,
    };
    numbers.map(move |number| {
        let block_start = number * block_len;
        BlockPart {
            number,
            range: start.max(block_start)..end.min(block_start.saturating_add(block_len)),
        }
    })
}

/// Merges `fresh` bytes of a block into the `held` ones; returns `None` if these should stay as
/// they are.
///
/// Fresh bytes replace held ones: a range is only fetched again if something was wrong with it. If
/// the two do not touch, the longer one is kept.
pub fn overlay(held: &CachedPiece, offset: u64, fresh: &[u8]) -> Option<CachedPiece> {
    let end = offset + fresh.len() as u64;
    if held.end() < offset || end < held.offset {
        return (fresh.len() >= held.bytes.len()).then(|| CachedPiece {
            offset,
            bytes: Bytes::copy_from_slice(fresh),
        });
    }
    if held.offset <= offset && end <= held.end() {
        let at = (offset - held.offset) as usize;
        if held.bytes[at..at + fresh.len()] == *fresh {
            return None;
        }
    }
    let start = offset.min(held.offset);
    let mut joined = BytesMut::with_capacity((end.max(held.end()) - start) as usize);
    if held.offset < offset {
        joined.extend_from_slice(&held.bytes[..(offset - held.offset) as usize]);
    }
    joined.extend_from_slice(fresh);
    if end < held.end() {
        joined.extend_from_slice(&held.bytes[(end - held.offset) as usize..]);
    }
    Some(CachedPiece {
        offset: start,
        bytes: joined.freeze(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_at_multiples_of_the_block_length() {
        let check = |range: Range<u64>, expect: &[(u64, Range<u64>)]| {
            let parts: Vec<_> = blocks_of(&range, 100)
                .map(|part| (part.number, part.range))
                .collect();
            assert_eq!(parts, expect, "{range:?}");
        };
        check(0..0, &[]);
        check(50..50, &[]);
        check(0..100, &[(0, 0..100)]);
        check(99..101, &[(0, 99..100), (1, 100..101)]);
        check(250..430, &[(2, 250..300), (3, 300..400), (4, 400..430)]);
    }

    #[test]
    fn a_range_without_an_end_is_looked_up_as_far_as_a_read_may_reach() {
        let parts = blocks_of(&(10..u64::MAX), 64 << 10).count() as u64;
        assert_eq!(parts, MAX_RANGE_LEN / (64 << 10) + 1);
        let last = blocks_of(&(u64::MAX - 5..u64::MAX), 64 << 10).last();
        assert_eq!(last.map(|part| part.range), Some(u64::MAX - 5..u64::MAX));
    }

    #[test]
    fn fresh_bytes_win_and_what_touches_is_joined() {
        let check = |held: (u64, &str), fresh: (u64, &str), expect: Option<(u64, &str)>| {
            let piece = |(offset, text): (u64, &str)| CachedPiece {
                offset,
                bytes: Bytes::copy_from_slice(text.as_bytes()),
            };
            let joined = overlay(&piece(held), fresh.0, fresh.1.as_bytes());
            assert_eq!(joined, expect.map(piece), "{held:?} {fresh:?}");
        };
        check((10, "aaaa"), (14, "bb"), Some((10, "aaaabb")));
        check((10, "aaaa"), (8, "bb"), Some((8, "bbaaaa")));
        check((10, "aaaa"), (11, "bb"), Some((10, "abba")));
        check((10, "aaaa"), (9, "bbbbbb"), Some((9, "bbbbbb")));
        check((10, "aaaa"), (12, "bbb"), Some((10, "aabbb")));
        check((10, "aaaa"), (11, "aa"), None);
        check((10, "aaaa"), (20, "bb"), None);
        check((10, "aaaa"), (20, "bbbb"), Some((20, "bbbb")));
        check((10, "aaaa"), (0, "bbbbb"), Some((0, "bbbbb")));
    }
}
