//! Directory of the identity file: with it, looking up one document is a small read.

use std::ops::{Deref, Range};

use super::open_run::{OpenRun, SourceTable};
use super::{DocIdentity, SOURCE_ID_LEN};
use crate::FormatError;
use crate::codec::Reader;
use crate::codec::groups::read_groups;
use crate::version::{IDENTITIES_NAME, IDENTITIES_VERSION};

/// Start of the file: the documents and the location of each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityDirectory {
    runs: Vec<Run>,
    /// Bytes of the file with the source ids.
    sources: Range<u64>,
}

/// Run of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) docs: Range<u32>,
    /// Bytes of the file.
    pub(super) bytes: Range<u64>,
}

impl IdentityDirectory {
    /// Reads the directory from the start of the file, of which more may follow.
    ///
    /// # Errors
    /// The bytes are no directory, are truncated, or have an unknown version.
    pub fn open(beginning: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(IDENTITIES_NAME, beginning);
        let version = reader.u32()?;
        if version != IDENTITIES_VERSION {
            return Err(reader.error(format!(
                "version {version} is not known (this reader knows {IDENTITIES_VERSION}): use the \
                 version of Canter that it was built with, or build the index again"
            )));
        }
        let num_docs = reader.varint_u32()?;
        let num_runs = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
        let numbers = read_groups(&mut reader, num_runs)?;
        let mut runs = Vec::with_capacity(num_runs);
        let (mut doc, mut at) = (0_u32, 0_u64);
        for [docs, len] in numbers {
            let next_doc = u32::try_from(docs)
                .ok()
                .and_then(|docs| doc.checked_add(docs));
            let (Some(next_doc), Some(next_at)) = (next_doc, at.checked_add(len)) else {
                return Err(reader.error("its runs are longer than can be"));
            };
            if docs == 0 {
                return Err(reader.error("a run has no document"));
            }
            runs.push(Run {
                docs: doc..next_doc,
                bytes: at..next_at,
            });
            (doc, at) = (next_doc, next_at);
        }
        if doc != num_docs {
            return Err(reader.error("its runs have other documents than it says"));
        }
        let num_sources = u64::from(reader.varint_u32()?);
        let start = (beginning.len() - reader.remaining()) as u64;
        let sources = start..start + num_sources * SOURCE_ID_LEN as u64;
        let too_long = || reader.error("its runs are longer than can be");
        sources.end.checked_add(at).ok_or_else(too_long)?;
        for run in &mut runs {
            run.bytes = run.bytes.start + sources.end..run.bytes.end + sources.end;
        }
        Ok(Self { runs, sources })
    }

    /// Returns the number of documents.
    pub fn num_docs(&self) -> u32 {
        self.runs.last().map_or(0, |run| run.docs.end)
    }

    /// Returns the length of the file in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.runs
            .last()
            .map_or(self.sources.end, |run| run.bytes.end)
    }

    /// Returns the length in bytes of the start that [`IdentityDirectory::open`] needs.
    pub fn beginning_len(&self) -> u64 {
        self.sources.start
    }

    /// Returns the bytes of the file to read for a document's identity: the source ids and its run.
    /// Returns `None` if the document does not exist.
    pub fn ranges_of(&self, doc: u32) -> Option<[Range<u64>; 2]> {
        let run = self.run_of(doc)?;
        Some([self.sources.clone(), run.bytes.clone()])
    }

    /// Returns the identity of a document. `read` returns bytes of the file, or `None` if they are
    /// missing.
    ///
    /// # Errors
    /// The document does not exist, its bytes are missing, or its run is damaged.
    pub fn get<B: Deref<Target = [u8]>>(
        &self,
        doc: u32,
        read: impl Fn(&Range<u64>) -> Option<B>,
    ) -> Result<DocIdentity, FormatError> {
        let error = |problem: &str| FormatError::new(IDENTITIES_NAME, problem);
        let run = self.run_of(doc);
        let run = run.ok_or_else(|| error("there is no such document"))?;
        let (Some(sources), Some(bytes)) = (read(&self.sources), read(&run.bytes)) else {
            return Err(error("bytes are missing"));
        };
        let place = doc.saturating_sub(run.docs.start);
        Self::open_run(run, &bytes, SourceTable(&sources))?.get(place)
    }

    fn run_of(&self, doc: u32) -> Option<&Run> {
        let ord = self.runs.partition_point(|run| run.docs.end <= doc);
        self.runs.get(ord)
    }

    pub(super) fn open_run<'b>(
        run: &Run,
        bytes: &'b [u8],
        sources: SourceTable<'b>,
    ) -> Result<OpenRun<'b>, FormatError> {
        OpenRun::open(bytes, run.docs.end - run.docs.start, sources)
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(super) fn sources(&self) -> &Range<u64> {
        &self.sources
    }
}
