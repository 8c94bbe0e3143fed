//! The files of a split. For tantivy: hot ranges and resident blocks answer at once, an
//! asynchronous read brings what is missing, a synchronous one that misses is a warmup gap.
//! For readers of this project: [`BodyFile`].

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use canter_doc_mapper::SegmentFiles;
use canter_protocol::ByteClass;
use canter_split_format::{FileEntry, FileTable, LISTS_FILE};
use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use super::body::SplitBody;
use crate::SearchError;
use crate::query::{POSITIONS, POSTINGS};

/// The id of every packaged segment, as it appears in file names.
pub(super) const SEGMENT_PREFIX: &str = "00000000000000000000000000000000.";

/// Position of a file that tantivy does not know.
pub(super) struct BodyFile {
    ord: u32,
    /// Range of the body.
    bytes: Range<u64>,
}

impl BodyFile {
    /// Returns `None` if the split does not have it.
    pub(super) fn find(files: &FileTable, name: &str) -> Option<Self> {
        let (ord, file) = files.find(name)?;
        Some(Self {
            ord,
            bytes: file.offset..file.offset + file.len,
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    /// Returns the beginning of the file that the head contains, whatever its length.
    pub(super) fn hot_start(&self, body: &SplitBody) -> Option<OwnedBytes> {
        body.hot_start(self.ord)
    }

    /// Returns where a range of the file stands in the body, unless it reaches beyond the file.
    pub(super) fn in_body(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let start = self.bytes.start.checked_add(range.start)?;
        let end = self.bytes.start.checked_add(range.end)?;
        (start <= end && end <= self.bytes.end).then_some(start..end)
    }

    /// Returns the bytes of a range of the file, if the head contains them or they were loaded.
    pub(super) fn bytes_here(&self, body: &SplitBody, range: &Range<u64>) -> Option<OwnedBytes> {
        let hot = body.hot(self.ord, range);
        hot.or_else(|| body.resident(&self.in_body(range)?))
    }

    /// Returns the bytes of a range of the file that was loaded.
    ///
    /// # Errors
    /// If it was not.
    pub(super) fn loaded(
        &self,
        body: &SplitBody,
        range: &Range<u64>,
    ) -> Result<OwnedBytes, SearchError> {
        let bytes = self.bytes_here(body, range);
        bytes.ok_or_else(|| SearchError::internal("loaded bytes are not resident"))
    }

    /// Returns the whole file: without a request if the head contains it.
    ///
    /// # Errors
    /// If it cannot be fetched.
    pub(super) async fn whole(
        &self,
        body: &SplitBody,
        class: ByteClass,
    ) -> Result<OwnedBytes, SearchError> {
        let range = 0..self.len();
        if let Some(bytes) = body.hot(self.ord, &range) {
            return Ok(bytes);
        }
        body.load(self.bytes.clone(), class).await?;
        self.loaded(body, &range)
    }
}

/// The files of one split.
#[derive(Clone)]
pub(crate) struct SplitFiles {
    body: Arc<SplitBody>,
    files: Arc<FileTable>,
}

impl SplitFiles {
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
            entry: entry.clone(),
            len: usize::try_from(entry.plain_len()).ok()?,
            class: class_of(name),
        })
    }
}

/// Returns the byte class of a tantivy file.
fn class_of(name: &str) -> ByteClass {
    match name {
        "term" => ByteClass::Dictionary,
        LISTS_FILE => ByteClass::Postings,
        _ => ByteClass::FastField,
    }
}

impl SegmentFiles for SplitFiles {
    fn open(&self, path: &Path) -> Option<Arc<dyn FileHandle>> {
        Some(Arc::new(self.find(path)?))
    }
}

struct SplitFile {
    body: Arc<SplitBody>,
    file_ord: u32,
    entry: FileEntry,
    /// As tantivy sees it, unpacked.
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

    /// Where a range stands in the body: in one place, unless a part of the file is packed.
    fn in_body(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let parts = self.entry.parts(range).into_iter();
        parts.map(|part| part.body).collect()
    }

    /// The bytes of a range if what it stands in is here.
    fn resident(&self, range: &Range<u64>) -> io::Result<Option<OwnedBytes>> {
        if range.is_empty() {
            return Ok(Some(OwnedBytes::empty()));
        }
        let parts = self.entry.parts(range);
        if let [part] = parts.as_slice()
            && part.is_plain()
        {
            return Ok(self.body.resident(&part.body));
        }
        if let Some(bytes) = self.body.unpacked(self.file_ord, range) {
            return Ok(Some(bytes));
        }
        let mut whole = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or(0));
        for part in parts {
            let Some(bytes) = self.body.resident(&part.body) else {
                return Ok(None);
            };
            part.unpack(&bytes, &mut whole)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
        let bytes = OwnedBytes::new(whole);
        self.body.keep_unpacked(self.file_ord, range, &bytes);
        Ok(Some(bytes))
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
    /// This is the only interrupt check of a query that opens the lists of very many terms.
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if self.body.is_stopped() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let range = self.checked(&range)?;
        if let Some(bytes) = self.body.hot(self.file_ord, &range) {
            return Ok(bytes);
        }
        self.resident(&range)?.ok_or_else(|| {
            for in_body in self.in_body(&range) {
                if self.body.resident(&in_body).is_none() {
                    self.body.note_gap(in_body, self.class);
                }
            }
            io::Error::new(io::ErrorKind::WouldBlock, "bytes are not resident yet")
        })
    }

    async fn read_bytes_async(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let range = self.checked(&range)?;
        if let Some(bytes) = self.body.hot(self.file_ord, &range) {
            return Ok(bytes);
        }
        let in_body = self.in_body(&range).into_iter();
        self.body
            .load_all(in_body.map(|range| (range, self.class)).collect())
            .await
            .map_err(io::Error::other)?;
        self.resident(&range)?
            .ok_or_else(|| io::Error::other("loaded bytes are not resident"))
    }
}
