//! Extent of a read: up to a known byte, or to the end of the object.
//!
//! The two differ in kind. A range can be cut, merged, aligned and cached. The length of a read to
//! the end is unknown until it has arrived, so it is always one request. The type keeps a
//! placeholder for "the end" from being taken for a length.

use std::ops::Range;

/// Bytes that a read or a request asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The first byte, and the byte after the last.
    Range(Range<u64>),
    /// Everything from this byte on.
    ToEnd(u64),
}

impl Extent {
    /// Whole object.
    pub const WHOLE: Extent = Extent::ToEnd(0);

    /// Creates an extent of `len` bytes from `offset`, or to the end if `len` is `None`.
    pub fn new(offset: u64, len: Option<u64>) -> Self {
        match len {
            Some(len) => Self::Range(offset..offset.saturating_add(len)),
            None => Self::ToEnd(offset),
        }
    }

    /// Returns the first byte.
    pub fn start(&self) -> u64 {
        match self {
            Self::Range(range) => range.start,
            Self::ToEnd(start) => *start,
        }
    }

    /// Returns the number of bytes, if it is known.
    pub fn len(&self) -> Option<u64> {
        self.range().map(|range| range.end - range.start)
    }

    /// Returns whether the extent is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.range().is_some_and(|range| range.is_empty())
    }

    /// Returns the range, if its end is known.
    pub fn range(&self) -> Option<&Range<u64>> {
        match self {
            Self::Range(range) => Some(range),
            Self::ToEnd(_) => None,
        }
    }

    /// Returns whether the two extents may have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let begins_before_end_of = |extent: &Self, other: &Self| match other {
            Self::Range(range) => extent.start() < range.end,
            Self::ToEnd(_) => true,
        };
        begins_before_end_of(self, other) && begins_before_end_of(other, self)
    }

    /// Returns whether this extent contains every byte that `other` may have.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range(all), Self::Range(part)) => all.start <= part.start && part.end <= all.end,
            (Self::Range(_), Self::ToEnd(_)) => false,
            (Self::ToEnd(start), other) => *start <= other.start(),
        }
    }

    /// Returns the parts of this extent outside of `taken`. A read to the end is either covered
    /// completely or returned whole.
    pub fn without(&self, taken: &Self) -> Vec<Self> {
        if taken.covers(self) {
            return Vec::new();
        }
        let Self::Range(range) = self else {
            return vec![self.clone()];
        };
        let after = match taken {
            Self::Range(taken) => Some(range.start.max(taken.end)..range.end),
            Self::ToEnd(_) => None,
        };
        [Some(range.start..range.end.min(taken.start())), after]
            .into_iter()
            .flatten()
            .filter(|part| part.start < part.end)
            .map(Self::Range)
            .collect()
    }
}

impl From<Range<u64>> for Extent {
    fn from(range: Range<u64>) -> Self {
        Self::Range(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(range: Range<u64>) -> Extent {
        Extent::Range(range)
    }

    #[test]
    fn an_end_that_is_not_known_is_no_number() {
        assert_eq!(Extent::new(5, Some(3)), range(5..8));
        assert_eq!(Extent::new(5, None), Extent::ToEnd(5));
        assert_eq!(Extent::ToEnd(5).len(), None);
        // The largest number is an ordinary end.
        let far = Extent::new(5, Some(u64::MAX));
        assert_eq!((far.len(), far.start()), (Some(u64::MAX - 5), 5));
        assert!(range(5..5).is_empty() && !Extent::ToEnd(5).is_empty());
    }

    #[test]
    fn what_overlaps_what() {
        let check = |a: Extent, b: Extent, expect: bool| {
            assert_eq!(a.overlaps(&b), expect, "{a:?} {b:?}");
            assert_eq!(b.overlaps(&a), expect, "{b:?} {a:?}");
        };
        check(range(0..5), range(4..9), true);
        check(range(0..5), range(5..9), false);
        check(range(0..5), Extent::ToEnd(4), true);
        check(range(0..5), Extent::ToEnd(5), false);
        check(range(7..9), Extent::ToEnd(5), true);
        check(Extent::ToEnd(0), Extent::ToEnd(9), true);
    }

    #[test]
    fn what_is_left_without_what_is_taken() {
        let check = |extent: Extent, taken: Extent, expect: &[Extent]| {
            assert_eq!(extent.without(&taken), expect, "{extent:?} {taken:?}");
        };
        check(range(0..9), range(3..5), &[range(0..3), range(5..9)]);
        check(range(0..9), range(9..12), &[range(0..9)]);
        check(range(3..5), range(0..9), &[]);
        check(range(0..9), Extent::ToEnd(4), &[range(0..4)]);
        check(range(5..9), Extent::ToEnd(4), &[]);
        check(Extent::ToEnd(4), range(0..9), &[Extent::ToEnd(4)]);
        check(Extent::ToEnd(4), Extent::ToEnd(4), &[]);
        check(Extent::ToEnd(4), Extent::ToEnd(0), &[]);
        check(Extent::ToEnd(0), Extent::ToEnd(4), &[Extent::ToEnd(0)]);
    }
}
