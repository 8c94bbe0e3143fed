//! Planning of requests for missing ranges: align to cache blocks, coalesce, cut. Pure, no I/O.
//!
//! ```text
//!   blocks        |      |      |      |      |      |      |      |
//!   missing          ██        █                          ███
//!   aligned       ███████████████                         ██████      whole blocks, if cached
//!   coalesced     ███████████████                         ██████      gaps up to max_gap_bytes
//!   cut           ████████|██████                         ██████      parts of at most max_part_bytes
//! ```

use std::ops::Range;

use canter_protocol::ByteClass;

use super::Extent;
use super::coalesce::{CoalesceOptions, Read, coalesce};

/// Range of an object that must come from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Object name.
    pub object: String,
    /// Missing bytes.
    pub bytes: Extent,
    /// Class of the read.
    pub class: ByteClass,
    /// Position in the demand of the read that needs the range.
    pub read_ord: usize,
}

/// Request to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Object name.
    pub object: String,
    /// Requested bytes.
    pub bytes: Extent,
    /// Class of its largest part.
    pub class: ByteClass,
    /// Number of reads that the request answers, in whole or in part.
    pub num_reads: u32,
    /// Position of the first of these reads: requests are sent in the order of the demand.
    pub first_read_ord: usize,
}

impl From<Missing> for Request {
    fn from(missing: Missing) -> Self {
        Self {
            object: missing.object,
            bytes: missing.bytes,
            class: missing.class,
            num_reads: 1,
            first_read_ord: missing.read_ord,
        }
    }
}

/// Extends `bytes` to whole blocks, but not past the end of the object. If the length is unknown,
/// the end stays, because a range past the end of an object is an error.
pub fn align(bytes: &Range<u64>, block_len: u64, object_len: Option<u64>) -> Range<u64> {
    let start = bytes.start - bytes.start % block_len;
    let end = match object_len {
        Some(object_len) => {
            let end = bytes.end.div_ceil(block_len).saturating_mul(block_len);
            end.min(object_len).max(bytes.end)
        }
        None => bytes.end,
    };
    start..end
}

/// Returns the parts of `missing` that lie within `request`.
pub fn within(missing: &[Missing], request: &Request) -> Vec<Missing> {
    let same_object = |part: &&Missing| part.object == request.object;
    let common = |part: &Missing| match (&part.bytes, &request.bytes) {
        (Extent::Range(part), Extent::Range(all)) => {
            let common = part.start.max(all.start)..part.end.min(all.end);
            (common.start < common.end).then_some(Extent::Range(common))
        }
        (Extent::ToEnd(_), Extent::ToEnd(_)) => Some(part.bytes.clone()),
        // Planning never merges the two kinds.
        _ => None,
    };
    missing
        .iter()
        .filter(same_object)
        .filter_map(|part| {
            Some(Missing {
                bytes: common(part)?,
                ..part.clone()
            })
        })
        .collect()
}

/// Plans the requests that bring everything that is missing, in the order of the demand.
pub fn requests_of(
    missing: &[Missing],
    options: CoalesceOptions,
    max_part_bytes: u64,
) -> Vec<Request> {
    let mut requests = requests_to_end(missing);
    let ranges: Vec<(&Missing, &Range<u64>)> = missing
        .iter()
        .filter_map(|missing| Some((missing, missing.bytes.range()?)))
        .collect();
    let reads: Vec<Read<'_>> = ranges
        .iter()
        .map(|(missing, bytes)| Read {
            object: &missing.object,
            bytes: (*bytes).clone(),
        })
        .collect();
    for merged in coalesce(&reads, options) {
        let parts = || merged.reads.iter().filter_map(|&ord| ranges.get(ord));
        let longest = parts().max_by_key(|(_, bytes)| bytes.end - bytes.start);
        for bytes in cut(&merged.bytes, max_part_bytes) {
            let inside = |part: &&(&Missing, &Range<u64>)| {
                part.1.start < bytes.end && bytes.start < part.1.end
            };
            requests.push(Request {
                object: merged.object.to_owned(),
                class: longest.map_or(ByteClass::Head, |(part, _)| part.class),
                num_reads: u32::try_from(parts().filter(inside).count()).unwrap_or(u32::MAX),
                first_read_ord: parts().map(|(part, _)| part.read_ord).min().unwrap_or(0),
                bytes: Extent::Range(bytes),
            });
        }
    }
    requests.sort_by(|a, b| {
        (a.first_read_ord, &a.object, a.bytes.start()).cmp(&(
            b.first_read_ord,
            &b.object,
            b.bytes.start(),
        ))
    });
    requests
}

/// Plans the reads that extend to the end of an object. They are never cut or merged with ranges,
/// as their length is unknown. Of several in one object, the one that begins first brings all.
fn requests_to_end(missing: &[Missing]) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    for missing in missing.iter().filter(|part| part.bytes.range().is_none()) {
        let same = requests
            .iter_mut()
            .find(|request| request.object == missing.object);
        match same {
            None => requests.push(Request::from(missing.clone())),
            Some(request) => {
                let start = request.bytes.start().min(missing.bytes.start());
                request.bytes = Extent::ToEnd(start);
                request.num_reads = request.num_reads.saturating_add(1);
                request.first_read_ord = request.first_read_ord.min(missing.read_ord);
            }
        }
    }
    requests
}

/// Cuts `bytes` into parts of about equal length, none longer than `max_part_bytes`.
fn cut(bytes: &Range<u64>, max_part_bytes: u64) -> Vec<Range<u64>> {
    let len = bytes.end - bytes.start;
    let num_parts = len.div_ceil(max_part_bytes.max(1)).max(1);
    let part_len = len.div_ceil(num_parts).max(1);
    (0..num_parts)
        .map(|part| {
            let start = (bytes.start + part * part_len).min(bytes.end);
            start..(start + part_len).min(bytes.end)
        })
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(object: &str, bytes: Range<u64>, read_ord: usize) -> Missing {
        Missing {
            object: object.to_owned(),
            bytes: bytes.into(),
            class: ByteClass::Postings,
            read_ord,
        }
    }

    fn to_end(object: &str, start: u64, read_ord: usize) -> Missing {
        Missing {
            bytes: Extent::ToEnd(start),
            ..missing(object, 0..0, read_ord)
        }
    }

    fn ranges(
        missing: &[Missing],
        max_gap_bytes: u64,
        max_part_bytes: u64,
    ) -> Vec<(String, Extent)> {
        let options = CoalesceOptions {
            max_gap_bytes,
            max_request_bytes: 1 << 30,
        };
        requests_of(missing, options, max_part_bytes)
            .into_iter()
            .map(|request| (request.object, request.bytes))
            .collect()
    }

    #[test]
    fn a_range_grows_to_whole_blocks_within_the_object() {
        let check = |bytes: Range<u64>, object_len, expect: Range<u64>| {
            assert_eq!(align(&bytes, 64, object_len), expect);
        };
        check(70..80, Some(1000), 64..128);
        check(64..128, Some(1000), 64..128);
        check(970..980, Some(1000), 960..1000);
        check(70..80, None, 64..80);
        // The known length belongs to another version: the read itself is never cut.
        check(970..1010, Some(1000), 960..1010);
    }

    #[test]
    fn a_long_range_is_cut_into_even_parts() {
        let parts = ranges(&[missing("a", 0..100, 0)], 0, 40);
        let expect = [0..34, 34..68, 68..100].map(|part| ("a".to_owned(), part.into()));
        assert_eq!(parts, expect);
        assert_eq!(
            ranges(&[missing("a", 5..45, 0)], 0, 40),
            [("a".to_owned(), (5..45).into())]
        );
    }

    #[test]
    fn requests_go_out_in_the_order_of_the_demand() {
        let wanted = [
            missing("b", 0..10, 0),
            missing("a", 0..10, 1),
            missing("a", 15..20, 2),
        ];
        let expect =
            [("b", 0..10), ("a", 0..20)].map(|(name, bytes)| (name.to_owned(), bytes.into()));
        assert_eq!(ranges(&wanted, 10, 1000), expect);
    }

    #[test]
    fn what_reaches_to_the_end_of_an_object_is_one_request() {
        let check = |wanted: &[Missing], expect: &[(&str, Extent)]| {
            // Parts of 8 MiB, as hosts use them. With 2^64 bytes there would be 2^41 of them.
            let found = ranges(wanted, 128 << 10, 8 << 20);
            let found: Vec<(&str, Extent)> = found
                .iter()
                .map(|(name, bytes)| (name.as_str(), bytes.clone()))
                .collect();
            assert_eq!(found, expect);
        };
        check(&[to_end("a", 10, 0)], &[("a", Extent::ToEnd(10))]);
        // Neither merged with a range nor requested twice.
        let wanted = [
            missing("a", 5..10, 0),
            to_end("a", 10, 1),
            to_end("a", 7, 2),
            to_end("b", 0, 3),
        ];
        let expect = [
            ("a", (5..10).into()),
            ("a", Extent::ToEnd(7)),
            ("b", Extent::WHOLE),
        ];
        check(&wanted, &expect);
        let all = Request::from(to_end("a", 7, 2));
        let inside = within(&wanted, &all);
        assert_eq!(inside, [to_end("a", 10, 1), to_end("a", 7, 2)]);
    }
}
