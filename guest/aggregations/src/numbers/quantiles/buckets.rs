//! Counts by bucket. A bucket is the sign, the exponent and the first seven bits of the mantissa of
//! an `f64`.
//!
//! ```text
//!   sorted   (bucket, count) pairs       few buckets, or as decoded
//!   pages    128 counts for each power   many buckets; a directory finds
//!            of two that occurs          their pages
//! ```
//! The form of the counts affects no answer.

use std::borrow::Cow;

/// Maximum number of sorted pairs before a new bucket converts them to pages.
const MAX_SORTED: usize = 256;

/// Number of bits of an `f64` below its bucket.
const DROPPED_BITS: u32 = 45;

/// Number of buckets for each power of two.
const PAGE: usize = 128;

/// Bucket of the largest numbers; its negative is that of the smallest.
pub(crate) const LAST_BUCKET: i32 = (0x7ff << 7) - 1;

/// Returns the bucket of a finite number. Buckets are ordered like their numbers; the bucket of -v
/// is the negative of that of v, and bucket 0 contains all numbers below 2^-1029 in magnitude.
pub(crate) fn bucket_of(value: f64) -> i32 {
    let bits = value.to_bits();
    let magnitude = (bits >> DROPPED_BITS & 0x3_ffff) as i32;
    if bits >> 63 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Returns the lower and the upper edge of a bucket.
pub(crate) fn edges_of(bucket: i32) -> (f64, f64) {
    let edge = |bucket: u32| f64::from_bits(u64::from(bucket) << DROPPED_BITS).min(f64::MAX);
    let magnitude = bucket.unsigned_abs();
    let (near, far) = (edge(magnitude), edge(magnitude.saturating_add(1)));
    match bucket {
        0 => (-far, far),
        1.. => (near, far),
        _ => (-far, -near),
    }
}

/// Returns the middle of a bucket; 0 for bucket 0.
///
/// A bucket of normal numbers from `2^e · (1 + k/128)` is `2^e / 128` wide, so the middle differs
/// by at most `2^e / 256` from each of its numbers, which are at least `2^e`: the relative error is
/// at most 1/256.
pub(crate) fn middle_of(bucket: i32) -> f64 {
    let bits = u64::from(bucket.unsigned_abs()) << DROPPED_BITS | 1 << (DROPPED_BITS - 1);
    match bucket {
        0 => 0.0,
        1.. => f64::from_bits(bits),
        _ => -f64::from_bits(bits),
    }
}

/// Counts by bucket.
#[derive(Clone, Debug)]
pub(crate) enum Buckets {
    Sorted(Vec<(i32, u64)>),
    Pages(Box<Pages>),
}

impl Buckets {
    /// Counts a finite number `count` times.
    pub(crate) fn add(&mut self, value: f64, count: u64) {
        match self {
            Self::Sorted(pairs) => {
                let bucket = bucket_of(value);
                match pairs.binary_search_by_key(&bucket, |pair| pair.0) {
                    Ok(at) => {
                        if let Some((_, counted)) = pairs.get_mut(at) {
                            *counted = counted.saturating_add(count);
                        }
                    }
                    Err(at) if pairs.len() < MAX_SORTED => pairs.insert(at, (bucket, count)),
                    Err(_) => self.pages().add(value.to_bits(), count),
                }
            }
            Self::Pages(pages) => pages.add(value.to_bits(), count),
        }
    }

    /// Converts the counts to pages if necessary, and returns them.
    pub(crate) fn pages(&mut self) -> &mut Pages {
        let pages = match std::mem::replace(self, Self::Sorted(Vec::new())) {
            Self::Pages(pages) => pages,
            Self::Sorted(pairs) => {
                let mut pages = Box::new(Pages::default());
                for (bucket, count) in pairs {
                    pages.add(middle_of(bucket).to_bits(), count);
                }
                pages
            }
        };
        *self = Self::Pages(pages);
        match self {
            Self::Pages(pages) => pages,
            // Unreachable: they have just been converted to pages.
            Self::Sorted(_) => self.pages(),
        }
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        match self {
            Self::Sorted(pairs) => *pairs = merge_sorted(pairs, &other.sorted()),
            Self::Pages(pages) => {
                for (bucket, count) in other.sorted().iter() {
                    pages.add(middle_of(*bucket).to_bits(), *count);
                }
            }
        }
    }

    /// Returns the non-empty buckets in order, with their counts.
    pub(crate) fn sorted(&self) -> Cow<'_, [(i32, u64)]> {
        match self {
            Self::Sorted(pairs) => Cow::Borrowed(pairs),
            Self::Pages(pages) => Cow::Owned(pages.sorted()),
        }
    }
}

/// Merges two sorted lists of counts.
pub(crate) fn merge_sorted<K: Ord + Copy>(left: &[(K, u64)], right: &[(K, u64)]) -> Vec<(K, u64)> {
    let mut merged = Vec::with_capacity(left.len().max(right.len()));
    let (mut left, mut right) = (
        left.iter().copied().peekable(),
        right.iter().copied().peekable(),
    );
    while let (Some((this, count)), Some((other, more))) =
        (left.peek().copied(), right.peek().copied())
    {
        if this <= other {
            left.next();
        }
        if other <= this {
            right.next();
        }
        merged.push(match this.cmp(&other) {
            std::cmp::Ordering::Less => (this, count),
            std::cmp::Ordering::Equal => (this, count.saturating_add(more)),
            std::cmp::Ordering::Greater => (other, more),
        });
    }
    merged.extend(left.chain(right));
    merged
}

/// Counts in pages of one sign and exponent each. The directory is indexed by exponent, from the
/// lowest to the highest that occurs, with the two signs of an exponent side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    /// Count of bucket 0, which would otherwise extend the directory down to the smallest numbers.
    zero: u64,
    first: u32,
    /// Index of each page plus one; 0 for a missing page.
    directory: Vec<u16>,
    counts: Vec<[u64; PAGE]>,
}

impl Pages {
    /// Counts a finite number, given by its bits, `count` times.
    #[inline]
    pub(crate) fn add(&mut self, bits: u64, count: u64) {
        if bits << 1 >> 1 < 1 << DROPPED_BITS {
            self.zero = self.zero.saturating_add(count);
            return;
        }
        let entry = entry_of(bits);
        let at = entry.wrapping_sub(self.first) as usize;
        let page = self.directory.get(at).map_or(0, |page| usize::from(*page));
        let within = (bits >> DROPPED_BITS & 0x7f) as usize;
        if let Some(counted) = self
            .counts
            .get_mut(page.wrapping_sub(1))
            .and_then(|page| page.get_mut(within))
        {
            *counted = counted.saturating_add(count);
        } else {
            self.add_page(entry);
            self.add_once_more(bits, count);
        }
    }

    #[cold]
    fn add_once_more(&mut self, bits: u64, count: u64) {
        let at = entry_of(bits).wrapping_sub(self.first) as usize;
        let page = self.directory.get(at).map_or(0, |page| usize::from(*page));
        let within = (bits >> DROPPED_BITS & 0x7f) as usize;
        let counts = self.counts.get_mut(page.wrapping_sub(1));
        if let Some(counted) = counts.and_then(|page| page.get_mut(within)) {
            *counted = counted.saturating_add(count);
        }
    }

    /// Adds a page for an entry without one.
    #[cold]
    fn add_page(&mut self, entry: u32) {
        if self.directory.is_empty() {
            self.first = entry;
        }
        let below = self.first.saturating_sub(entry);
        if below > 0 {
            self.directory
                .splice(0..0, std::iter::repeat_n(0, below as usize));
            self.first = entry;
        }
        let at = entry.saturating_sub(self.first) as usize;
        if at >= self.directory.len() {
            self.directory.resize(at + 1, 0);
        }
        self.counts.push([0; PAGE]);
        if let Some(page) = self.directory.get_mut(at) {
            // There are at most 4096 pages.
            *page = u16::try_from(self.counts.len()).unwrap_or(0);
        }
    }

    fn sorted(&self) -> Vec<(i32, u64)> {
        let mut pairs = Vec::new();
        if self.zero > 0 {
            pairs.push((0, self.zero));
        }
        for (entry, page) in (self.first..).zip(&self.directory) {
            let Some(counts) = self.counts.get(usize::from(*page).wrapping_sub(1)) else {
                continue;
            };
            let start = (entry >> 1 << 7).cast_signed();
            let negative = entry & 1 != 0;
            let occurring = (start..).zip(counts).filter(|(_, count)| **count > 0);
            pairs.extend(
                occurring.map(|(bucket, count)| (if negative { -bucket } else { bucket }, *count)),
            );
        }
        canter_sorting::sort_by_key(&mut pairs, |pair| pair.0);
        pairs
    }
}

/// Returns the index of a number's exponent and sign in a directory that begins at 0.
fn entry_of(bits: u64) -> u32 {
    let top = (bits >> 52) as u32;
    (top & 0x7ff) << 1 | top >> 11
}
