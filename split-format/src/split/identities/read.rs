//! The whole identity file.

use std::ops::Range;

use super::directory::Run;
use super::open_run::{OpenRun, SourceTable};
use super::pack::pack;
use super::{DocIdentity, IdentityDirectory};
use crate::FormatError;
use crate::version::IDENTITIES_NAME;

/// Identities of a split's documents, in document order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identities<B = Vec<u8>> {
    directory: IdentityDirectory,
    /// Bytes of the file.
    bytes: B,
}

impl Identities {
    /// Packs the identities of all documents; returns `None` for 2^32 or more.
    pub fn of_docs(docs: &[DocIdentity]) -> Option<Self> {
        u32::try_from(docs.len()).ok()?;
        Self::open(pack(docs)).ok()
    }
}

impl<B: AsRef<[u8]>> Identities<B> {
    /// Decodes the file. Runs are decoded on demand.
    ///
    /// # Errors
    /// The bytes are no identities, or have an unknown version.
    pub fn open(bytes: B) -> Result<Self, FormatError> {
        let directory = IdentityDirectory::open(bytes.as_ref())?;
        if directory.num_bytes() != bytes.as_ref().len() as u64 {
            let problem = "it is shorter or longer than it says";
            return Err(FormatError::new(IDENTITIES_NAME, problem));
        }
        Ok(Self { directory, bytes })
    }

    /// Returns the bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Returns the directory.
    pub fn directory(&self) -> &IdentityDirectory {
        &self.directory
    }

    /// Returns the number of documents.
    pub fn num_docs(&self) -> u32 {
        self.directory.num_docs()
    }

    /// Returns the identity of a document.
    ///
    /// # Errors
    /// The document does not exist, or its run is damaged.
    pub fn get(&self, doc: u32) -> Result<DocIdentity, FormatError> {
        self.directory.get(doc, |range| self.part(range))
    }

    /// Iterates over all identities in constant time for each, unlike [`Identities::get`] with
    /// interleaved sources. Ends after an error.
    pub fn iter(&self) -> impl Iterator<Item = Result<DocIdentity, FormatError>> + '_ {
        let mut has_failed = false;
        let runs = self.directory.runs().iter().map(|run| self.open_run(run));
        runs.flat_map(|run| {
            let (run, error) = match run {
                Ok(run) => (Some(run), None),
                Err(error) => (None, Some(Err(error))),
            };
            error.into_iter().chain(run.into_iter().flatten())
        })
        .take_while(move |doc| !std::mem::replace(&mut has_failed, doc.is_err()))
    }

    /// Returns the documents with one of these ascending identities, in order. Runs that cannot
    /// contain any are skipped.
    ///
    /// # Errors
    /// A run is damaged.
    pub fn find(&self, wanted: &[DocIdentity]) -> Result<Vec<u32>, FormatError> {
        let mut found = Vec::new();
        for run in self.directory.runs() {
            let docs = self.open_run(run)?.find(wanted)?;
            found.extend(docs.into_iter().map(|doc| run.docs.start + doc));
        }
        Ok(found)
    }

    fn open_run(&self, run: &Run) -> Result<OpenRun<'_>, FormatError> {
        let (sources, bytes) = (self.directory.sources(), &run.bytes);
        let sources = self.part(sources).unwrap_or_default();
        let bytes = self.part(bytes).unwrap_or_default();
        IdentityDirectory::open_run(run, bytes, SourceTable(sources))
    }

    fn part(&self, range: &Range<u64>) -> Option<&[u8]> {
        let start = usize::try_from(range.start).ok()?;
        let end = usize::try_from(range.end).ok()?;
        self.bytes.as_ref().get(start..end)
    }
}
