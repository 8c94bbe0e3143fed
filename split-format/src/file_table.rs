//! The file table: which tantivy file stands where in the body.

use std::collections::BTreeSet;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, FILE_TABLE, IDENTITIES_FILE, LISTS_FILE,
};

/// One file of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Extension of the tantivy file, for example `term` or `fast`.
    pub name: String,
    /// First byte, counted from the start of the body.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

/// The files of a body in the order in which they stand there: no gaps, no overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTable {
    files: Vec<FileEntry>,
}

impl FileTable {
    /// Lays files of the given names and lengths one after the other.
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

    /// The files in body order. A file's place here is its `file_ord`.
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// The file of that name, with its `file_ord`.
    pub fn find(&self, name: &str) -> Option<(u32, &FileEntry)> {
        (0..).zip(&self.files).find(|(_, file)| file.name == name)
    }

    /// Whether they are those of a split from before documents, their identities and positions stood as they do now.
    /// Readers refuse such a split whole: half of it would be read wrongly.
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

    /// Number of bytes of the whole body.
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
