//! Tantivy directory over a segment's files that records the byte ranges of reads.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{HasLen, Result as TantivyResult};

use super::segment_files::SegmentFiles;

/// Byte ranges by file: `(file_ord, start, end)`.
type Reads = BTreeSet<(u32, usize, usize)>;

#[derive(Clone)]
pub(crate) struct RecordingDirectory {
    files: Arc<Vec<(String, u32, OwnedBytes)>>,
    reads: Arc<Mutex<Reads>>,
}

impl fmt::Debug for RecordingDirectory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RecordingDirectory")
    }
}

impl RecordingDirectory {
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

    /// Runs `work` and returns its reads, without adding them to [`RecordingDirectory::reads`].
    pub(crate) fn observe<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<(u32, Range<usize>)>) {
        let before =
            std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        let result = work();
        let observed = self.reads();
        *self.reads.lock().unwrap_or_else(PoisonError::into_inner) = before;
        (result, observed)
    }

    fn find(&self, path: &Path) -> Option<RecordingFile> {
        let (_, file_ord, bytes) = self
            .files
            .iter()
            .find(|(name, _, _)| Path::new(name) == path)?;
        Some(RecordingFile {
            file_ord: *file_ord,
            bytes: bytes.clone(),
            reads: Arc::clone(&self.reads),
        })
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

impl Directory for RecordingDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.find(path) {
            Some(file) => Ok(Arc::new(file)),
            None => Err(OpenReadError::FileDoesNotExist(path.to_path_buf())),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.find(path).is_some())
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let file = self
            .find(path)
            .ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_path_buf()))?;
        let bytes = file
            .read_bytes(0..file.len())
            .map_err(|error| OpenReadError::wrap_io_error(error, path.to_path_buf()))?;
        Ok(bytes.to_vec())
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::FileDoesNotExist(path.to_path_buf()))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(
            read_only(),
            PathBuf::from(path),
        ))
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Bytes in memory never change.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> TantivyResult<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this directory is read-only")
}
