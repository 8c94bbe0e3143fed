//! Who the documents of an open split are.

use std::ops::Range;

use canter_split_format::{DocIdentity, FileTable, IDENTITIES_FILE, Identities, SourceId};

use super::body::SplitBody;
use crate::SearchError;
use crate::session::protocol::ByteClass;

/// Where a split keeps its documents' identities.
pub(crate) struct IdentityFile {
    file_ord: u32,
    /// Bytes of the body.
    in_body: Range<u64>,
    len: u64,
}

impl IdentityFile {
    /// `None` for a split that was written before splits knew them.
    pub(crate) fn of(files: &FileTable) -> Option<Self> {
        let (file_ord, file) = files.find(IDENTITIES_FILE)?;
        Some(Self {
            file_ord,
            in_body: file.offset..file.offset + file.len,
            len: file.len,
        })
    }
}

/// The identities of a split's documents.
pub(crate) enum DocIdentities {
    /// As the split says them.
    Stored(Identities),
    /// Of a split that does not know them: what stands for them, which is lost in a merge.
    Unknown(SourceId),
}

impl DocIdentities {
    /// Reads them: no request if the head has them, as it does where documents stand in the order of
    /// their source.
    pub(super) async fn load(
        split_id: &str,
        file: Option<&IdentityFile>,
        body: &SplitBody,
    ) -> Result<Self, SearchError> {
        let Some(file) = file else {
            return Ok(Self::Unknown(SourceId::of_split(split_id)));
        };
        let bytes = match body.hot(file.file_ord, &(0..file.len)) {
            Some(bytes) => bytes,
            None => {
                body.load(file.in_body.clone(), ByteClass::FastField)
                    .await?;
                body.resident(&file.in_body)
                    .ok_or_else(|| SearchError::internal("loaded bytes are not resident"))?
            }
        };
        Identities::open(&bytes)
            .map(Self::Stored)
            .map_err(|error| SearchError::data(format!("split {split_id}: {error}")))
    }

    /// Who a document is.
    ///
    /// # Errors
    /// If the split does not say it.
    pub(crate) fn get(&self, doc: u32) -> Result<DocIdentity, String> {
        match self {
            Self::Stored(identities) => identities.get(doc).map_err(|error| error.to_string()),
            Self::Unknown(source) => Ok(DocIdentity {
                source: *source,
                position: u64::from(doc),
            }),
        }
    }
}
