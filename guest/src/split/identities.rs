//! The identities of an open split's documents.

use std::ops::Range;

use canter_protocol::ByteClass;
use canter_split_format::{DocIdentity, Identities, IdentityDirectory};
use tantivy::directory::OwnedBytes;

use super::open::OpenSplit;
use crate::SearchError;

/// Reads the identities of a split's documents.
pub(crate) struct DocIdentities<'a> {
    split: &'a OpenSplit,
    directory: IdentityDirectory,
}

impl<'a> DocIdentities<'a> {
    /// Reads the directory of identities: no request if the head contains it, as heads of our writer mostly do.
    ///
    /// # Errors
    /// If it cannot be fetched.
    pub(crate) async fn open(split: &'a OpenSplit) -> Result<Self, SearchError> {
        let file = &split.identities;
        // The head of another writer may contain less of the beginning than is needed.
        let hot = file.hot_start(&split.body);
        let directory = match hot.and_then(|bytes| IdentityDirectory::open(&bytes).ok()) {
            Some(directory) => directory,
            None => {
                let directory = IdentityDirectory::open(&read_whole(split).await?);
                directory.map_err(|error| split.error(error))?
            }
        };
        check_len(split, &directory)?;
        Ok(Self { split, directory })
    }

    /// Returns the ranges of the body that must be loaded to identify a document.
    pub(crate) fn missing(&self, doc: u32) -> impl Iterator<Item = Range<u64>> + use<'_> {
        let ranges = self.directory.ranges_of(doc).into_iter().flatten();
        ranges
            .filter(|range| self.read(range).is_none())
            .filter_map(|range| self.split.identities.in_body(&range))
    }

    /// Loads the ranges that identify these documents.
    ///
    /// # Errors
    /// If they cannot be fetched.
    pub(crate) async fn load(&self, docs: impl Iterator<Item = u32>) -> Result<(), SearchError> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for doc in docs {
            ranges.extend(self.missing(doc).map(|range| (range.start, range.end)));
        }
        canter_sorting::sort(&mut ranges);
        ranges.dedup();
        let ranges = ranges.into_iter();
        let ranges = ranges.map(|(start, end)| (start..end, ByteClass::FastField));
        self.split.body.load_all(ranges.collect()).await
    }

    /// Returns the identity of a document whose bytes are resident.
    ///
    /// # Errors
    /// If the split does not contain it, or the bytes are not resident.
    pub(crate) fn get(&self, doc: u32) -> Result<DocIdentity, SearchError> {
        let found = self.directory.get(doc, |range| self.read(range));
        found.map_err(|error| self.split.error(error))
    }

    fn read(&self, range: &Range<u64>) -> Option<OwnedBytes> {
        self.split.identities.bytes_here(&self.split.body, range)
    }
}

/// Refuses a directory whose number of documents is not the split's.
fn check_len(split: &OpenSplit, directory: &IdentityDirectory) -> Result<(), SearchError> {
    let is_of_split = directory.num_docs() == split.metadata.num_docs
        && directory.num_bytes() == split.identities.len();
    match is_of_split {
        true => Ok(()),
        false => Err(split.error("it says of other documents who they are than it has")),
    }
}

/// Returns the documents of a split with one of these ascending identities, in order.
///
/// # Errors
/// If the identities cannot be fetched.
pub(crate) async fn find_docs(
    split: &OpenSplit,
    wanted: &[DocIdentity],
) -> Result<Vec<u32>, SearchError> {
    let range = split.identity_range();
    if !wanted.iter().any(|identity| range.may_hold(identity)) {
        return Ok(Vec::new());
    }
    let bytes = read_whole(split).await?;
    let identities = Identities::open(bytes).map_err(|error| split.error(error))?;
    check_len(split, identities.directory())?;
    identities.find(wanted).map_err(|error| split.error(error))
}

async fn read_whole(split: &OpenSplit) -> Result<OwnedBytes, SearchError> {
    let class = ByteClass::FastField;
    split.identities.whole(&split.body, class).await
}
