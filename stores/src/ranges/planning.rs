//! From what is missing to requests: align to cache blocks, coalesce, cut. Pure, no I/O.
//!
//! ```text
//!   blocks        |      |      |      |      |      |      |      |
//!   missing          ██        █                          ███
//!   aligned       ███████████████                         ██████      whole blocks, if cached
//!   coalesced     ███████████████                         ██████      gaps up to max_gap_bytes
//!   cut           ████████|██████                         ██████      parts of at most max_part_bytes
//! ```

use std::ops::Range;

use super::coalesce::{CoalesceOptions, Read, coalesce};
use crate::ByteClass;

/// A range of an object that must come from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Object name.
    pub object: String,
    /// First byte and the byte after the last.
    pub bytes: Range<u64>,
    /// What the read asks for.
    pub class: ByteClass,
    /// Place in the demand of the read it belongs to.
    pub read_ord: usize,
}

/// One request to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Object name.
    pub object: String,
    /// First byte and the byte after the last; `u64::MAX` is the end of the object.
    pub bytes: Range<u64>,
    /// Class of its largest part.
    pub class: ByteClass,
    /// How many reads it answers, in whole or in part.
    pub num_reads: u32,
    /// The first of them: requests go out in the order in which the guest asked.
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

/// `bytes` extended to whole blocks, but not past the end of the object; only as far as the read goes
/// if the end is not known, because a range past it is an error.
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

/// What of `missing` lies within `request`.
pub fn within(missing: &[Missing], request: &Request) -> Vec<Missing> {
    let same_object = |part: &&Missing| part.object == request.object;
    missing
        .iter()
        .filter(same_object)
        .map(|part| Missing {
            bytes: part.bytes.start.max(request.bytes.start)..part.bytes.end.min(request.bytes.end),
            ..part.clone()
        })
        .filter(|part| part.bytes.start < part.bytes.end)
        .collect()
}

/// The requests that bring everything that is missing, in the order of the demand.
pub fn requests_of(
    missing: &[Missing],
    options: CoalesceOptions,
    max_part_bytes: u64,
) -> Vec<Request> {
    let reads: Vec<Read<'_>> = missing
        .iter()
        .map(|missing| Read {
            object: &missing.object,
            bytes: missing.bytes.clone(),
        })
        .collect();
    let mut requests = Vec::new();
    for merged in coalesce(&reads, options) {
        let parts = || merged.reads.iter().filter_map(|&ord| missing.get(ord));
        let longest = parts().max_by_key(|part| part.bytes.end - part.bytes.start);
        for bytes in cut(&merged.bytes, max_part_bytes) {
            let inside =
                |part: &&Missing| part.bytes.start < bytes.end && bytes.start < part.bytes.end;
            requests.push(Request {
                object: merged.object.to_owned(),
                class: longest.map_or(ByteClass::Head, |part| part.class),
                num_reads: u32::try_from(parts().filter(inside).count()).unwrap_or(u32::MAX),
                first_read_ord: parts().map(|part| part.read_ord).min().unwrap_or(0),
                bytes,
            });
        }
    }
    requests.sort_by(|a, b| {
        (a.first_read_ord, &a.object, a.bytes.start).cmp(&(
            b.first_read_ord,
            &b.object,
            b.bytes.start,
        ))
    });
    requests
}

/// `bytes` in parts of about the same length, none longer than `max_part_bytes`.
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
            bytes,
            class: ByteClass::Postings,
            read_ord,
        }
    }

    fn ranges(
        missing: &[Missing],
        max_gap_bytes: u64,
        max_part_bytes: u64,
    ) -> Vec<(String, Range<u64>)> {
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
        // The length is what a store said of another version: the read itself is never cut.
        check(970..1010, Some(1000), 960..1010);
    }

    #[test]
    fn a_long_range_is_cut_into_even_parts() {
        let parts = ranges(&[missing("a", 0..100, 0)], 0, 40);
        let expect = [0..34, 34..68, 68..100].map(|part| ("a".to_owned(), part));
        assert_eq!(parts, expect);
        assert_eq!(
            ranges(&[missing("a", 5..45, 0)], 0, 40),
            [("a".to_owned(), 5..45)]
        );
    }

    #[test]
    fn requests_go_out_in_the_order_of_the_demand() {
        let wanted = [
            missing("b", 0..10, 0),
            missing("a", 0..10, 1),
            missing("a", 15..20, 2),
        ];
        let expect = [("b".to_owned(), 0..10), ("a".to_owned(), 0..20)];
        assert_eq!(ranges(&wanted, 10, 1000), expect);
    }
}
