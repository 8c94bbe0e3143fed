//! Files of a segment, for tantivy, that record the byte ranges of reads.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use canter_doc_mapper::SegmentFiles as OpenSegment;
use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use super::segment_files::SegmentFiles;

/// Byte ranges by file: `(file_ord, start, end)`.
type Reads = BTreeSet<(u32, usize, usize)>;

/// Files of a segment, and what was read of them.
#[derive(Clone)]
pub(crate) struct Recorder {
    files: Arc<Vec<(String, u32, OwnedBytes)>>,
    reads: Arc<Mutex<Reads>>,
}

impl OpenSegment for Recorder {
    fn open(&self, path: &Path) -> Option<Arc<dyn FileHandle>> {
        let mut files = self.files.iter();
        let (_, file_ord, bytes) = files.find(|(name, _, _)| Path::new(name) == path)?;
        Some(Arc::new(RecordingFile {
            file_ord: *file_ord,
            bytes: bytes.clone(),
            reads: Arc::clone(&self.reads),
        }))
    }
}

impl Recorder {
    pub(crate) fn new(segment_files: &SegmentFiles, paths: &[&str]) -> Self {
        let files = paths
            .iter()
            .filter_map(|path| {
                let (file_ord, bytes) = segment_files.find(Path::new(path))?;
                Some(((*path).to_owned(), file_ord, bytes))
            })
            .collect();
        Self {
            files: Arc::new(files),
            reads: Arc::default(),
        }
    }

    /// Returns all ranges that were read so far.
    pub(crate) fn reads(&self) -> Vec<(u32, Range<usize>)> {
        let reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads
            .iter()
            .map(|(file_ord, start, end)| (*file_ord, *start..*end))
            .collect()
    }

    /// Runs `work` and returns its reads, without adding them to [`Recorder::reads`].
    pub(crate) fn observe<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<(u32, Range<usize>)>) {
        let before =
            std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        let result = work();
        let observed = self.reads();
        *self.reads.lock().unwrap_or_else(PoisonError::into_inner) = before;
        (result, observed)
    }
}

struct RecordingFile {
    file_ord: u32,
    bytes: OwnedBytes,
    reads: Arc<Mutex<Reads>>,
}

impl fmt::Debug for RecordingFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RecordingFile({})", self.file_ord)
    }
}

impl HasLen for RecordingFile {
    fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl FileHandle for RecordingFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.bytes.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((self.file_ord, range.start, range.end));
        Ok(self.bytes.slice(range))
    }
}
