//! Read-only tantivy directory for code that opens a finished segment: the packager, merges and the guest. They differ
//! only in the source of a file's bytes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, WatchCallback, WatchHandle, WritePtr,
};

/// Length of the footer of each file that tantivy opens; it reads the footer without checking whether there is one.
const MIN_FILE_LEN: usize = 8;

/// Files of a segment.
pub trait SegmentFiles: Clone + Send + Sync + 'static {
    /// Returns the file with this tantivy name, if there is one.
    fn open(&self, path: &Path) -> Option<Arc<dyn FileHandle>>;
}

/// Read-only directory of a segment's files.
#[derive(Clone)]
pub struct ReadOnlyDirectory<F>(pub F);

impl<F> fmt::Debug for ReadOnlyDirectory<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ReadOnlyDirectory")
    }
}

impl<F: SegmentFiles> Directory for ReadOnlyDirectory<F> {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.0.open(path) {
            Some(file) if file.len() < MIN_FILE_LEN => {
                let what = "a file of its segment is too short to be one";
                let error = io::Error::new(io::ErrorKind::InvalidData, what);
                Err(OpenReadError::wrap_io_error(error, path.to_path_buf()))
            }
            Some(file) => Ok(file),
            None => Err(OpenReadError::FileDoesNotExist(path.to_path_buf())),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.0.open(path).is_some())
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let file = self.0.open(path);
        let file = file.ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_path_buf()))?;
        let bytes = file.read_bytes(0..file.len());
        let bytes =
            bytes.map_err(|error| OpenReadError::wrap_io_error(error, path.to_path_buf()))?;
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
        // A finished segment never changes, so its readers need no lock.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this directory is read-only")
}
