//! Files of several fields with words added, made of pieces of the existing files.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use tantivy_common::file_slice::{FileHandle, FileSlice};
use tantivy_common::{HasLen, OwnedBytes};

use super::dictionary::{Existing, with_words};
use super::lists::{AddedWord, HEADER_LEN, lists_of};
use crate::layout::{FieldPart, parts_of};
use crate::positions::put_vint;

/// Piece of a file.
#[derive(Clone)]
pub(super) enum Piece {
    /// Range of the existing file.
    Kept(Range<usize>),
    /// Other bytes.
    Made(OwnedBytes),
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Kept(range) => range.len(),
            Self::Made(bytes) => bytes.len(),
        }
    }
}

/// Existing file.
pub struct SourceFile {
    /// The file.
    pub raw: Arc<dyn FileHandle>,
    /// Its beginning, without what tantivy puts behind each file.
    pub content: FileSlice,
}

/// File made of pieces of another and of bytes in memory.
#[derive(Clone)]
pub struct PatchedFile {
    raw: Arc<dyn FileHandle>,
    /// Pieces with their places, ascending.
    pieces: Arc<Vec<(usize, Piece)>>,
    len: usize,
}

impl PatchedFile {
    fn new(raw: Arc<dyn FileHandle>, pieces: impl IntoIterator<Item = Piece>) -> Self {
        let mut len = 0;
        let placed = pieces.into_iter().filter(|piece| piece.len() > 0);
        let placed = placed.map(|piece| {
            let start = len;
            len += piece.len();
            (start, piece)
        });
        let pieces = placed.collect();
        Self {
            raw,
            pieces: Arc::new(pieces),
            len,
        }
    }

    /// Returns the pieces of a range, in order, with the range of each.
    fn pieces_of(&self, range: &Range<usize>) -> io::Result<Vec<(&Piece, Range<usize>)>> {
        if range.start > range.end || range.end > self.len {
            let what = "bytes lie outside of a file with words added";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let first = self
            .pieces
            .partition_point(|(start, _)| *start <= range.start);
        let pieces = self.pieces.get(first.saturating_sub(1)..);
        let pieces = pieces.unwrap_or_default().iter();
        let pieces = pieces.take_while(|(start, _)| *start < range.end);
        let parts = pieces.map(|(start, piece)| {
            let from = range.start.max(*start) - start;
            let to = range.end.min(start + piece.len()) - start;
            (piece, from..to.max(from))
        });
        Ok(parts.collect())
    }
}

/// Joins what was read of several pieces.
fn joined(mut parts: Vec<OwnedBytes>) -> OwnedBytes {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            let parts = parts.iter().chain(&last);
            let slices: Vec<&[u8]> = parts.map(OwnedBytes::as_slice).collect();
            OwnedBytes::new(slices.concat())
        }
    }
}

impl fmt::Debug for PatchedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PatchedFile({} bytes)", self.len)
    }
}

impl HasLen for PatchedFile {
    fn len(&self) -> usize {
        self.len
    }
}

#[async_trait::async_trait]
impl FileHandle for PatchedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let pieces = self.pieces_of(&range)?.into_iter();
        let parts = pieces.map(|(piece, part)| match piece {
            Piece::Kept(kept) => self
                .raw
                .read_bytes(kept.start + part.start..kept.start + part.end),
            Piece::Made(bytes) => Ok(bytes.slice(part)),
        });
        Ok(joined(parts.collect::<io::Result<_>>()?))
    }

    async fn read_bytes_async(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut parts = Vec::new();
        for (piece, part) in self.pieces_of(&range)? {
            parts.push(match piece {
                Piece::Kept(kept) => {
                    let range = kept.start + part.start..kept.start + part.end;
                    self.raw.read_bytes_async(range).await?
                }
                Piece::Made(bytes) => bytes.slice(part),
            });
        }
        Ok(joined(parts))
    }
}

/// Files of a segment with words added.
pub struct WithWords {
    /// Dictionaries.
    pub terms: PatchedFile,
    /// Postings and positions.
    pub lists: PatchedFile,
    /// Length of the lists of each field with words added, without theirs.
    pub lists_lens: BTreeMap<u32, usize>,
}

/// Adds words, which ascend within each field, to the dictionaries and lists of a segment. Of the dictionaries, the blocks
/// must be readable among whose terms words belong.
///
/// # Errors
/// A read that missed; damage; a word that the dictionary has.
pub fn add_words(
    terms: &SourceFile,
    lists: &SourceFile,
    words: &BTreeMap<u32, Vec<AddedWord>>,
) -> io::Result<WithWords> {
    let (parts_of_terms, parts_of_lists) = (parts_of(&terms.content)?, parts_of(&lists.content)?);
    let of_field = |parts: &[FieldPart], field: u32| {
        let mut parts = parts.iter();
        let found = parts.find(|part| part.field == field && part.ord == 0);
        found.map(|part| part.bytes.clone())
    };
    let mut new_terms = NewFile::default();
    let mut new_lists = NewFile::default();
    let mut lists_lens = BTreeMap::new();
    for (field, words) in words {
        let existing = of_field(&parts_of_terms, *field).map(|bytes| Existing {
            start: bytes.start,
            terms: terms.content.slice(bytes),
        });
        let kept = match of_field(&parts_of_lists, *field) {
            Some(bytes) => Piece::Kept(bytes),
            None => Piece::Made(OwnedBytes::new(vec![0; HEADER_LEN])),
        };
        lists_lens.insert(*field, kept.len());
        let (bytes, infos) = lists_of(words, kept.len())?;
        let made = Piece::Made(OwnedBytes::new(bytes));
        new_lists.of_fields.insert((*field, 0), vec![kept, made]);
        let pieces = with_words(existing.as_ref(), words, &infos)?;
        new_terms.of_fields.insert((*field, 0), pieces);
    }
    new_terms.keep(parts_of_terms);
    new_lists.keep(parts_of_lists);
    Ok(WithWords {
        terms: new_terms.into_file(terms),
        lists: new_lists.into_file(lists),
        lists_lens,
    })
}

/// Pieces of a file of several fields, by field.
#[derive(Default)]
struct NewFile {
    of_fields: BTreeMap<(u32, u64), Vec<Piece>>,
}

impl NewFile {
    /// Keeps the fields that have no pieces yet.
    fn keep(&mut self, parts: Vec<FieldPart>) {
        for part in parts {
            let kept = || vec![Piece::Kept(part.bytes.clone())];
            let place = (part.field, part.ord);
            self.of_fields.entry(place).or_insert_with(kept);
        }
    }

    fn into_file(self, source: &SourceFile) -> PatchedFile {
        let mut footer = Vec::new();
        put_vint(self.of_fields.len(), &mut footer);
        let mut pieces = Vec::new();
        let mut len_before = 0;
        for ((field, ord), of_field) in self.of_fields {
            put_vint(len_before, &mut footer);
            footer.extend(field.to_le_bytes());
            put_vint(usize::try_from(ord).unwrap_or(usize::MAX), &mut footer);
            len_before = of_field.iter().map(Piece::len).sum();
            pieces.extend(of_field);
        }
        let len = u32::try_from(footer.len()).unwrap_or(u32::MAX);
        footer.extend(len.to_le_bytes());
        pieces.push(Piece::Made(OwnedBytes::new(footer)));
        pieces.push(Piece::Kept(source.content.len()..source.raw.len()));
        PatchedFile::new(Arc::clone(&source.raw), pieces)
    }
}
