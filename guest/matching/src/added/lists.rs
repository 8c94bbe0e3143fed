//! Words with their documents, and the lists of these in the formats that readers expect.

use std::io;
use std::ops::Range;

use crate::positions::{pack_positions, put_vint};

/// Length of the number of tokens, with which a field's lists begin.
pub(super) const HEADER_LEN: usize = 8;

/// Number of documents from which a list has another form, with full blocks.
const MAX_DOCS: usize = 127;

/// Document that contains a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedDoc {
    /// Its number in the segment.
    pub doc: u32,
    /// Ascending positions; empty if nothing asks for them. Then the word counts as one.
    pub positions: Vec<u32>,
}

/// Word with the documents that contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedWord {
    /// Bytes of the word, as in a dictionary.
    pub word: Vec<u8>,
    /// Its documents, ascending; at least one, and at most 127.
    pub docs: Vec<AddedDoc>,
}

/// Location of a term's lists, as a dictionary has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    pub(super) doc_freq: u32,
    pub(super) postings: Range<usize>,
    pub(super) positions: Range<usize>,
}

/// Appends the documents of a word, ascending and at most 127, each with its ascending positions, to postings and to
/// positions. A document without positions counts as one with a word.
///
/// # Errors
/// There are none, too many, or they do not ascend.
pub fn append_lists<'p>(
    docs: impl ExactSizeIterator<Item = (u32, &'p [u32])> + Clone,
    postings: &mut Vec<u8>,
    positions: &mut Vec<u8>,
) -> io::Result<()> {
    if !(1..=MAX_DOCS).contains(&docs.len()) {
        return Err(refused());
    }
    let mut last = None;
    for (doc, _) in docs.clone() {
        let more = doc.checked_sub(last.unwrap_or(0));
        let more = more.filter(|more| *more > 0 || last.is_none());
        put_vint(more.ok_or_else(refused)? as usize, postings);
        last = Some(doc);
    }
    let mut differences = Vec::new();
    for (_, of_doc) in docs {
        put_vint(of_doc.len().max(1), postings);
        let mut last = 0;
        for position in of_doc {
            differences.push(position.wrapping_sub(last));
            last = *position;
        }
    }
    pack_positions(&differences, positions);
    Ok(())
}

/// Returns the lists of words, which will follow those of a field of `field_len` bytes, and where each is.
pub(super) fn lists_of(words: &[AddedWord], field_len: usize) -> io::Result<(Vec<u8>, Vec<Info>)> {
    let first_postings = field_len.checked_sub(HEADER_LEN).ok_or_else(refused)?;
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut infos = Vec::with_capacity(words.len());
    for word in words {
        let (start, start_of_positions) = (postings.len(), positions.len());
        let docs = word.docs.iter();
        let docs = docs.map(|doc| (doc.doc, doc.positions.as_slice()));
        append_lists(docs, &mut postings, &mut positions)?;
        infos.push(Info {
            doc_freq: u32::try_from(word.docs.len()).map_err(|_| refused())?,
            postings: first_postings + start..first_postings + postings.len(),
            positions: start_of_positions..positions.len(),
        });
    }
    // Positions are counted from before the number of tokens, and follow all postings.
    let first_positions = field_len + postings.len();
    for info in &mut infos {
        info.positions =
            first_positions + info.positions.start..first_positions + info.positions.end;
    }
    postings.extend(positions);
    Ok((postings, infos))
}

fn refused() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a rare word has more documents than one may have, or its field has no lists",
    )
}
