//! The files of a split, for tantivy: hot ranges and resident blocks answer at once, an
//! asynchronous read brings what is missing, a synchronous one that misses is a warmup gap.

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
use crate::query::{POSITIONS, POSTINGS};

/// The id of every packaged segment, as it appears in file names.
pub(super) const SEGMENT_PREFIX: &str = "00000000000000000000000000000000.";

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
