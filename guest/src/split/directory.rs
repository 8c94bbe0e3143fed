//! A split as a read-only tantivy directory: hot ranges and resident blocks answer at once, an
//! asynchronous read brings what is missing, a synchronous one that misses is a warmup gap.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use canter_protocol::ByteClass;
use canter_split_format::{FileTable, LISTS_FILE};
use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};

use super::body::SplitBody;
use crate::query::{POSITIONS, POSTINGS};

/// The id that every packaged segment carries, as it stands in file names.
const SEGMENT_PREFIX: &str = "00000000000000000000000000000000.";

/// What ends each file that tantivy opens; it reads that without looking whether it is there.
const MIN_FILE_LEN: usize = 8;

/// One split's files.
#[derive(Clone)]
pub(crate) struct SplitDirectory {
    body: Arc<SplitBody>,
    files: Arc<FileTable>,
}

impl SplitDirectory {
    pub(crate) fn new(body: Arc<SplitBody>, files: FileTable) -> Self {
        Self {
            body,
            files: Arc::new(files),
        }
    }

    fn find(&self, path: &Path) -> Option<SplitFile> {
        let name = path.to_str()?;
        let name = name.strip_prefix(SEGMENT_PREFIX).unwrap_or(name);
        let name = match name {
            POSTINGS | POSITIONS => LISTS_FILE,
            name => name,
        };
        let (file_ord, entry) = self.files.find(name)?;
        Some(SplitFile {
            body: Arc::clone(&self.body),
            file_ord,
            offset: entry.offset,
            len: usize::try_from(entry.len).ok()?,
            class: class_of(name),
        })
    }
}

/// What the bytes of a tantivy file are for.
fn class_of(name: &str) -> ByteClass {
    match name {
        "term" => ByteClass::Dictionary,
        LISTS_FILE => ByteClass::Postings,
        _ => ByteClass::FastField,
    }
}

impl fmt::Debug for SplitDirectory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SplitDirectory")
    }
}

struct SplitFile {
    body: Arc<SplitBody>,
    file_ord: u32,
    /// First byte of the file within the body.
    offset: u64,
    len: usize,
    class: ByteClass,
}

impl SplitFile {
    fn checked(&self, range: &Range<usize>) -> io::Result<Range<u64>> {
        if range.start > range.end || range.end > self.len {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("bytes {range:?} lie outside a file of {} bytes", self.len),
            ));
        }
        Ok(range.start as u64..range.end as u64)
    }

    fn in_body(&self, range: &Range<u64>) -> Range<u64> {
        self.offset + range.start..self.offset + range.end
    }
}

impl fmt::Debug for SplitFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SplitFile({})", self.file_ord)
    }
}

impl HasLen for SplitFile {
    fn len(&self) -> usize {
        self.len
    }
}

#[async_trait::async_trait]
impl FileHandle for SplitFile {
    /// A query that opens the lists of very many terms looks at the interrupt nowhere else.
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if self.body.is_stopped() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let range = self.checked(&range)?;
        if let Some(bytes) = self.body.hot(self.file_ord, &range) {
            return Ok(bytes);
        }
        let in_body = self.in_body(&range);
        self.body.resident(&in_body).ok_or_else(|| {
            self.body.note_gap(in_body, self.class);
            io::Error::new(io::ErrorKind::WouldBlock, "bytes are not resident yet")
        })
    }

    async fn read_bytes_async(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let range = self.checked(&range)?;
        if let Some(bytes) = self.body.hot(self.file_ord, &range) {
            return Ok(bytes);
        }
        let in_body = self.in_body(&range);
        self.body
            .load(in_body.clone(), self.class)
            .await
            .map_err(io::Error::other)?;
        self.body
            .resident(&in_body)
            .ok_or_else(|| io::Error::other("loaded bytes are not resident"))
    }
}

impl Directory for SplitDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.find(path) {
            Some(file) if file.len < MIN_FILE_LEN => {
                let what = "a file of its segment is too short to be one";
                let error = io::Error::new(io::ErrorKind::InvalidData, what);
                Err(OpenReadError::wrap_io_error(error, path.to_path_buf()))
            }
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
            .read_bytes(0..file.len)
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
        // Nothing can change under a reader of an immutable object.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a split is never written to")
}
