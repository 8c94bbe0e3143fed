//! Validation of a posting list against its dictionary entry. [`PostingList`](super::PostingList)
//! accepts any bytes; this is for readers that trust theirs, such as tantivy's.

use std::io;

use super::open::{BLOCK_LEN, Recorded};

/// Number of bytes of a block for each bit of its width.
const BYTES_PER_BIT: usize = 16;
/// Maximum width of frequencies in bits.
const MAX_WIDTH: u8 = 32;

fn damaged() -> io::Error {
    let what = "a posting list holds something else than its dictionary says";
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Checks the list of a term with `num_docs` documents below `max_doc`: its parts must lie within
/// it, and the last documents of its blocks, and all documents after them, must ascend. Blocks are
/// not unpacked.
///
/// # Errors
/// A check fails.
pub fn check_postings(
    bytes: &[u8],
    num_docs: u32,
    max_doc: u32,
    recorded: Recorded,
) -> io::Result<()> {
    if num_docs > max_doc {
        return Err(damaged());
    }
    let num_full = (num_docs / BLOCK_LEN) as usize;
    let mut rest = bytes;
    let mut last = None;
    let mut has_frequencies = recorded != Recorded::Documents;
    if num_full > 0 {
        let len = usize::try_from(varint(&mut rest)?).map_err(|_| damaged())?;
        let (skips, blocks) = rest.split_at_checked(len).ok_or_else(damaged)?;
        // Numbers in a JSON field have no frequencies, even if its texts have.
        let recorded = match skips.len() < Recorded::Frequencies.entry_len() * num_full {
            true => Recorded::Documents,
            false => recorded,
        };
        has_frequencies = recorded != Recorded::Documents;
        let entries = skips.chunks_exact(recorded.entry_len());
        if entries.len() < num_full {
            return Err(damaged());
        }
        let mut num_bytes = 0;
        for entry in entries.take(num_full) {
            let (doc, len) = block_of(entry, has_frequencies)?;
            ascends(&mut last, doc, max_doc)?;
            num_bytes += len;
        }
        rest = blocks.get(num_bytes..).ok_or_else(damaged)?;
    }
    let num_rest = num_docs % BLOCK_LEN;
    for _ in 0..num_rest {
        let more = varint(&mut rest)?;
        let doc = last.unwrap_or(0).checked_add(more).ok_or_else(damaged)?;
        ascends(&mut last, doc, max_doc)?;
    }
    // A short list of a number in a JSON field ends here.
    if has_frequencies && !rest.is_empty() {
        for _ in 0..num_rest {
            varint(&mut rest)?;
        }
    }
    Ok(())
}

/// Returns the last document and the length in bytes of a block.
fn block_of(entry: &[u8], has_frequencies: bool) -> io::Result<(u32, usize)> {
    let (doc, widths) = entry.split_first_chunk().ok_or_else(damaged)?;
    let width = widths.first().ok_or_else(damaged)? & 0x1f;
    let of_frequencies = match has_frequencies {
        true => *widths.get(1).ok_or_else(damaged)?,
        false => 0,
    };
    if of_frequencies > MAX_WIDTH {
        return Err(damaged());
    }
    let num_bits = usize::from(width) + usize::from(of_frequencies);
    Ok((u32::from_le_bytes(*doc), num_bits * BYTES_PER_BIT))
}

fn ascends(last: &mut Option<u32>, doc: u32, max_doc: u32) -> io::Result<()> {
    if doc >= max_doc || last.is_some_and(|last| doc <= last) {
        return Err(damaged());
    }
    *last = Some(doc);
    Ok(())
}

/// Reads a 32-bit varint, whose last byte has the highest bit set.
fn varint(rest: &mut &[u8]) -> io::Result<u32> {
    let mut number = 0_u64;
    for shift in (0..u32::BITS).step_by(7) {
        let (byte, behind) = rest.split_first().ok_or_else(damaged)?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 != 0 {
            return u32::try_from(number).map_err(|_| damaged());
        }
    }
    Err(damaged())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes documents and frequencies of a list without full blocks.
    fn short(differences: &[u8], frequencies: &[u8]) -> Vec<u8> {
        let all = differences.iter().chain(frequencies);
        all.map(|number| number | 0x80).collect()
    }

    /// Encodes a block with a last document and widths, followed by `num_bytes` bytes.
    fn block(last: u32, width: u8, of_frequencies: u8, num_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![8 | 0x80];
        bytes.extend(last.to_le_bytes());
        bytes.extend([width, of_frequencies, 0, 0]);
        bytes.resize(1 + 8 + num_bytes, 0);
        bytes
    }

    #[test]
    fn short_lists_hold_their_documents_and_frequencies() {
        let check = |bytes: &[u8], num_docs: u32, recorded: Recorded| {
            check_postings(bytes, num_docs, 10, recorded).is_ok()
        };
        assert!(check(&[], 0, Recorded::Positions));
        assert!(check(&short(&[0, 1, 8], &[]), 3, Recorded::Documents));
        assert!(check(
            &short(&[0, 1, 8], &[5, 5, 5]),
            3,
            Recorded::Frequencies
        ));
        assert!(check(&short(&[0, 1, 8], &[]), 3, Recorded::Frequencies));
        // Truncated, beyond the documents, a repeated document, and a number without an end.
        assert!(!check(&short(&[0, 1], &[]), 3, Recorded::Documents));
        assert!(!check(&short(&[0, 1, 8], &[5]), 3, Recorded::Positions));
        assert!(!check(&short(&[0, 1, 9], &[]), 3, Recorded::Documents));
        assert!(!check(&short(&[0, 1, 0], &[]), 3, Recorded::Documents));
        assert!(!check(&[0x7f; 10], 1, Recorded::Documents));
        assert!(!check(
            &[0x7f, 0x7f, 0x7f, 0x7f, 0xff],
            1,
            Recorded::Documents
        ));
        assert!(!check(&short(&[0; 11], &[]), 11, Recorded::Documents));
    }

    #[test]
    fn blocks_are_as_long_as_their_widths_say() {
        let check = |bytes: &[u8]| check_postings(bytes, 128, 1_000, Recorded::Frequencies).is_ok();
        assert!(check(&block(999, 3, 2, 80)));
        assert!(!check(&block(999, 3, 2, 79)));
        assert!(!check(&block(1_000, 3, 2, 80)));
        assert!(!check(&block(999, 3, 33, 10_000)));
        assert!(!check(&[0xff; 4]));
    }
}
