//! File table: the locations of tantivy's files in the body.

use std::collections::BTreeSet;
use std::ops::Range;

use super::packed::{FilePart, Form, Piece, open_pieces, write_pieces};
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, FILE_TABLE, FILE_TABLE_WITH_PIECES, IDENTITIES_FILE,
    LISTS_FILE,
};

/// File of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Extension of the tantivy file, for example `term` or `fast`.
    pub name: String,
    /// First byte, counted from the start of the body.
    pub offset: u64,
    /// Number of bytes in the body.
    pub len: u64,
    /// What it is cut into, if some of it is packed; else nothing.
    pub pieces: Vec<Piece>,
}

impl FileEntry {
    /// Returns the number of bytes that a reader sees.
    pub fn plain_len(&self) -> u64 {
        self.pieces.last().map_or(self.len, Piece::plain_end)
    }

    /// Returns where the bytes of a range of the file stand in the body. The range must lie in the file.
    pub fn parts(&self, range: &Range<u64>) -> Vec<FilePart> {
        if self.pieces.is_empty() {
            let whole = Piece {
                form: Form::Plain,
                plain_start: 0,
                plain_len: self.len,
                packed_start: 0,
                packed_len: self.len,
            };
            return vec![whole.part(range, self.offset)];
        }
        let first = self
            .pieces
            .partition_point(|piece| piece.plain_end() <= range.start);
        let pieces = self.pieces.iter().skip(first);
        let pieces = pieces.take_while(|piece| piece.plain_start < range.end);
        pieces.map(|piece| piece.part(range, self.offset)).collect()
    }
}

/// Files of a body in their order, without gaps or overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTable {
    files: Vec<FileEntry>,
}

impl FileTable {
    /// Lays out files with the given names and lengths consecutively.
    pub fn lay_out<'a>(files: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut offset = 0;
        let files = files
            .into_iter()
            .map(|(name, len)| {
                let entry = FileEntry {
                    name: name.to_owned(),
                    offset,
                    len,
                    pieces: Vec::new(),
                };
                offset += len;
                entry
            })
            .collect();
        Self { files }
    }

    /// Says of a file what it is cut into.
    pub(crate) fn set_pieces(&mut self, file_ord: usize, pieces: Vec<Piece>) {
        if let Some(file) = self.files.get_mut(file_ord) {
            file.pieces = pieces;
        }
    }

    /// Returns the version that says all: the first, unless files are packed.
    pub(crate) fn version(&self) -> u32 {
        match self.files.iter().any(|file| !file.pieces.is_empty()) {
            true => FILE_TABLE_WITH_PIECES,
            false => 1,
        }
    }

    /// Returns the files in body order. The index of a file is its `file_ord`.
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// Returns the file with this name and its `file_ord`.
    pub fn find(&self, name: &str) -> Option<(u32, &FileEntry)> {
        (0..).zip(&self.files).find(|(_, file)| file.name == name)
    }

    /// Returns whether the files belong to a split from before documents, their identities and
    /// positions had their present format. Readers refuse such a split entirely, since half of it
    /// would be misread.
    pub fn is_too_old(&self) -> bool {
        let mut needed = [
            LISTS_FILE,
            IDENTITIES_FILE,
            DOCUMENTS_FILE,
            DOCUMENT_INDEX_FILE,
        ]
        .iter();
        needed.any(|name| self.find(name).is_none())
    }

    /// Returns the length of the whole body in bytes.
    pub fn body_len(&self) -> u64 {
        self.files.last().map_or(0, |file| file.offset + file.len)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.varint(self.files.len() as u64);
        for file in &self.files {
            out.bytes(file.name.as_bytes());
            out.varint(file.len);
        }
        if self.version() == FILE_TABLE_WITH_PIECES {
            let packed = || {
                (0..)
                    .zip(&self.files)
                    .filter(|(_, file)| !file.pieces.is_empty())
            };
            out.varint(packed().count() as u64);
            for (file_ord, file) in packed() {
                out.varint(file_ord);
                write_pieces(&file.pieces, &mut out);
            }
        }
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8], version: u32) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FILE_TABLE.name, bytes);
        let num_files = reader.count(2)?;
        let mut files: Vec<FileEntry> = Vec::with_capacity(num_files);
        let mut names = BTreeSet::new();
        let mut offset = 0u64;
        for _ in 0..num_files {
            let name = reader.string()?;
            let len = reader.varint()?;
            if !names.insert(name) {
                return Err(reader.error(format!("the file {name:?} is named twice")));
            }
            let next = offset
                .checked_add(len)
                .ok_or_else(|| reader.error("the body is longer than 64 bits can say"))?;
            files.push(FileEntry {
                name: name.to_owned(),
                offset,
                len,
                pieces: Vec::new(),
            });
            offset = next;
        }
        if version == FILE_TABLE_WITH_PIECES {
            open_packed(&mut reader, &mut files)?;
        }
        reader.finish()?;
        Ok(Self { files })
    }
}

/// Reads what files are cut into.
fn open_packed(reader: &mut Reader<'_>, files: &mut [FileEntry]) -> Result<(), FormatError> {
    let num_packed = reader.count(3)?;
    if num_packed == 0 {
        return Err(reader.error("no file is packed, which its first version says"));
    }
    let mut next = 0;
    for _ in 0..num_packed {
        let file_ord = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
        let file = files.get_mut(file_ord).filter(|_| file_ord >= next);
        let file = file.ok_or_else(|| reader.error("it says what no file is cut into"))?;
        file.pieces = open_pieces(reader, file.len)?;
        next = file_ord + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
