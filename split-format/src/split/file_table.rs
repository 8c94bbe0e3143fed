//! File table: the locations of tantivy's files in the body.

use std::collections::BTreeSet;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, FILE_TABLE, IDENTITIES_FILE, LISTS_FILE,
};

/// File of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Extension of the tantivy file, for example `term` or `fast`.
    pub name: String,
    /// First byte, counted from the start of the body.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
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
                };
                offset += len;
                entry
            })
            .collect();
        Self { files }
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
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8]) -> Result<Self, FormatError> {
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
            });
            offset = next;
        }
        reader.finish()?;
        Ok(Self { files })
    }
}

#[cfg(test)]
mod tests;
