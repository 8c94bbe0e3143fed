//! Coalescing: merges neighbouring ranges of one object into one request. Pure, no I/O.
//!
//! A request costs more than the bytes of a small gap, so ranges with a small gap between them are
//! fetched as one:
//!
//! ```text
//!   reads      [--A--]   [---B---]              [-C-]
//!   requests   [===========A+B=====]            [=C=]      gap(A,B) ≤ max_gap < gap(B,C)
//! ```

use std::ops::Range;

/// Conditions under which two ranges become one request.
///
/// A round trip of 15 to 30 ms could carry 1.2 to 2.4 MB at 80 MB/s. Merging across such gaps pays
/// for sequential requests, but not here: the requests of a wave run concurrently. Merging saves
/// the price of a request and the chance that it is the slowest one, while its gap takes bandwidth
/// from all others. Measured on 1,000,000 documents in 8 splits under the simulated S3, cold, not
/// hedged (requests, MB, p50 of 100 seeds; the bench `latency` with `CANTER_LATENCY_SWEEP=1`):
///
/// | gap | phrase | prefix | word |
/// |---|---|---|---|
/// | 0 | 60, 0.7, 671 ms | 23, 0.5, 640 ms | 13, 0.5, 431 ms |
/// | 16 KiB | 58, 0.7, 611 ms | 23, 0.5, 640 ms | 11, 0.5, 382 ms |
/// | 64 KiB | 58, 0.7, 611 ms | 19, 0.6, 539 ms | 11, 0.5, 382 ms |
/// | 128 KiB | 58, 0.7, 611 ms | 18, 0.7, 514 ms | 11, 0.5, 382 ms |
/// | 256 KiB | 34, 4.8, 594 ms | as before | as before |
/// | 512 KiB, 1 MiB | 26, 7.2, 591 ms | as before | as before |
/// | 2 MiB | 18, 22.9, 637 ms | as before | as before |
///
/// 128 KiB achieves all but 3 % of the possible gain, for a tenth of the bytes. Where requests are
/// expensive and bytes are free, 512 KiB halves the requests of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoalesceOptions {
    /// Maximum number of bytes between two ranges that are fetched as one.
    pub max_gap_bytes: u64,
    /// Maximum length of a merged request. A single range may be longer.
    pub max_request_bytes: u64,
}

impl Default for CoalesceOptions {
    /// Allows gaps up to 128 KiB and requests up to 8 MiB.
    fn default() -> Self {
        Self {
            max_gap_bytes: 128 << 10,
            max_request_bytes: 8 << 20,
        }
    }
}

impl CoalesceOptions {
    /// Returns options that merge only overlapping ranges.
    pub fn off() -> Self {
        Self {
            max_gap_bytes: 0,
            max_request_bytes: 0,
        }
    }
}

/// Range to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<'a> {
    /// Object name.
    pub object: &'a str,
    /// First byte and the byte after the last.
    pub bytes: Range<u64>,
}

/// Request, and the reads that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Object name.
    pub object: &'a str,
    /// First byte and the byte after the last.
    pub bytes: Range<u64>,
    /// Indices into the list of reads, each of which lies within `bytes`.
    pub reads: Vec<usize>,
}

/// Merges `reads` into requests, ordered by object and offset. Every read is in exactly one
/// request.
pub fn coalesce<'a>(reads: &[Read<'a>], options: CoalesceOptions) -> Vec<Request<'a>> {
    let mut order: Vec<usize> = (0..reads.len()).collect();
    // The longer range first among equal offsets, so that a contained range follows its container.
    order.sort_by(|&a, &b| {
        let (a, b) = (&reads[a], &reads[b]);
        (a.object, a.bytes.start, b.bytes.end).cmp(&(b.object, b.bytes.start, a.bytes.end))
    });
    let mut requests: Vec<Request<'a>> = Vec::new();
    for index in order {
        let read = &reads[index];
        match requests.last_mut() {
            Some(last) if joins(last, read, options) => {
                last.bytes.end = last.bytes.end.max(read.bytes.end);
                last.reads.push(index);
            }
            _ => requests.push(Request {
                object: read.object,
                bytes: read.bytes.clone(),
                reads: vec![index],
            }),
        }
    }
    requests
}

/// Returns whether `read`, which starts no earlier than `last`, is merged into it.
fn joins(last: &Request<'_>, read: &Read<'_>, options: CoalesceOptions) -> bool {
    if last.object != read.object {
        return false;
    }
    if read.bytes.end <= last.bytes.end {
        return true;
    }
    let gap = read.bytes.start.saturating_sub(last.bytes.end);
    let merged_len = read.bytes.end - last.bytes.start;
    gap <= options.max_gap_bytes && merged_len <= options.max_request_bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(
        reads: &[(&str, Range<u64>)],
        max_gap_bytes: u64,
    ) -> Vec<(String, Range<u64>, usize)> {
        let reads: Vec<Read<'_>> = reads
            .iter()
            .map(|(object, bytes)| Read {
                object,
                bytes: bytes.clone(),
            })
            .collect();
        let options = CoalesceOptions {
            max_gap_bytes,
            max_request_bytes: 1000,
        };
        coalesce(&reads, options)
            .into_iter()
            .map(|request| {
                (
                    request.object.to_owned(),
                    request.bytes,
                    request.reads.len(),
                )
            })
            .collect()
    }

    #[test]
    fn a_small_gap_is_fetched_along() {
        assert_eq!(
            merged(&[("a", 0..10), ("a", 20..30)], 10),
            [("a".to_owned(), 0..30, 2)]
        );
        assert_eq!(merged(&[("a", 0..10), ("a", 20..30)], 9).len(), 2);
    }

    #[test]
    fn objects_are_never_mixed() {
        assert_eq!(merged(&[("a", 0..10), ("b", 10..20)], 100).len(), 2);
    }

    #[test]
    fn a_request_does_not_grow_past_its_maximum() {
        assert_eq!(merged(&[("a", 0..600), ("a", 600..1100)], 100).len(), 2);
        assert_eq!(
            merged(&[("a", 0..5000)], 100),
            [("a".to_owned(), 0..5000, 1)]
        );
    }

    #[test]
    fn equal_and_contained_ranges_cost_nothing() {
        let reads = [("a", 5..6), ("a", 0..2000), ("a", 0..2000), ("a", 0..10)];
        assert_eq!(merged(&reads, 0), [("a".to_owned(), 0..2000, 4)]);
    }

    proptest! {
        #[test]
        fn every_read_lies_in_exactly_one_request(
            reads in prop::collection::vec((0usize..3, 0u64..3000, 1u64..500), 0..40),
            max_gap_bytes in 0u64..400,
            max_request_bytes in 0u64..2000,
        ) {
            let objects = ["a", "b", "c"];
            let reads: Vec<Read<'_>> = reads
                .into_iter()
                .map(|(object, offset, len)| Read { object: objects[object], bytes: offset..offset + len })
                .collect();
            let options = CoalesceOptions { max_gap_bytes, max_request_bytes };
            let mut seen = vec![0; reads.len()];
            for request in coalesce(&reads, options) {
                let longest = request.reads.iter().map(|&i| reads[i].bytes.end - reads[i].bytes.start).max();
                let len = request.bytes.end - request.bytes.start;
                prop_assert!(len <= max_request_bytes.max(longest.unwrap_or(0)));
                for index in request.reads {
                    seen[index] += 1;
                    prop_assert_eq!(reads[index].object, request.object);
                    prop_assert!(request.bytes.start <= reads[index].bytes.start);
                    prop_assert!(reads[index].bytes.end <= request.bytes.end);
                }
            }
            prop_assert!(seen.iter().all(|count| *count == 1));
        }
    }
}
