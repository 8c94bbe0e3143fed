//! Files of a split on this machine, for tantivy.
//!
//! A merge reads each file from start to end in pieces of a few bytes (such as one posting list
//! after another). Every open file therefore keeps a window of it, and memory usage does not depend
//! on the length of the split.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use canter_doc_mapper::SegmentFiles;
use canter_split_format::{FileEntry, FileTable, LISTS_FILE};
use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use super::local_copy::LocalBody;
use crate::packager::{POSITIONS, POSTINGS, SEGMENT_ID};

/// Default size in bytes of a file's window.
const WINDOW_NUM_BYTES: usize = 128 << 10;

/// Files of a split.
#[derive(Clone)]
pub(crate) struct SplitFiles {
    body: Arc<LocalBody>,
    files: Arc<FileTable>,
    window_num_bytes: usize,
}

impl SplitFiles {
    pub(super) fn new(body: LocalBody, files: FileTable) -> Self {
        Self {
            body: Arc::new(body),
            files: Arc::new(files),
            window_num_bytes: WINDOW_NUM_BYTES,
        }
    }

    /// Sets the number of bytes that are read at once.
    pub(super) fn with_window(self, window_num_bytes: usize) -> Self {
        Self {
            window_num_bytes,
            ..self
        }
    }

    /// Reads a whole file, by the name that the split has for it.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<OwnedBytes>> {
        let file = self.find(Path::new(name));
        file.map(|file| file.read_bytes(0..file.len)).transpose()
    }

    /// Opens a file, by the name that the split has for it.
    pub(super) fn file(&self, name: &str) -> Option<Box<dyn FileHandle>> {
        Some(Box::new(self.find(Path::new(name))?))
    }

    fn find(&self, path: &Path) -> Option<SplitFile> {
        let name = path.to_str()?;
        let name = name
            .strip_prefix(SEGMENT_ID)
            .and_then(|rest| rest.strip_prefix('.'))
            .unwrap_or(name);
        let name = match name {
            POSTINGS | POSITIONS => LISTS_FILE,
            name => name,
        };
        let (_, entry) = self.files.find(name)?;
        Some(SplitFile {
            body: Arc::clone(&self.body),
            entry: entry.clone(),
            len: usize::try_from(entry.plain_len()).ok()?,
            window_num_bytes: self.window_num_bytes,
            window: Mutex::new((0, OwnedBytes::empty())),
        })
    }
}

impl SegmentFiles for SplitFiles {
    fn open(&self, path: &Path) -> Option<Arc<dyn FileHandle>> {
        Some(Arc::new(self.find(path)?))
    }
}

struct SplitFile {
    body: Arc<LocalBody>,
    entry: FileEntry,
    /// Unpacked.
    len: usize,
    window_num_bytes: usize,
    /// Last bytes that were read, with their offset.
    window: Mutex<(usize, OwnedBytes)>,
}

impl fmt::Debug for SplitFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SplitFile({} bytes)", self.len)
    }
}

impl HasLen for SplitFile {
    fn len(&self) -> usize {
        self.len
    }
}

impl SplitFile {
    fn read(&self, start: usize, len: usize) -> io::Result<OwnedBytes> {
        let start = start as u64;
        let mut whole = Vec::with_capacity(len);
        for part in self.entry.parts(&(start..start + len as u64)) {
            let num_bytes = part.body.end - part.body.start;
            let num_bytes = usize::try_from(num_bytes).map_err(io::Error::other)?;
            let bytes = self.body.read(part.body.start, num_bytes)?;
            part.unpack(&bytes, &mut whole).map_err(io::Error::other)?;
        }
        Ok(OwnedBytes::new(whole))
    }
}

impl FileHandle for SplitFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.len {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("bytes {range:?} lie outside a file of {} bytes", self.len),
            ));
        }
        if range.len() > self.window_num_bytes {
            return self.read(range.start, range.len());
        }
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, bytes) = &*window;
        if *start > range.start || start + bytes.len() < range.end {
            let len = self.window_num_bytes.min(self.len - range.start);
            *window = (range.start, self.read(range.start, len)?);
        }
        let (start, bytes) = &*window;
        Ok(bytes.slice(range.start - start..range.end - start))
    }
}
