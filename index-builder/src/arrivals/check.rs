//! Whether a document can be ingested, before it is.

use canter_doc_mapper::config::OnError;
use canter_doc_mapper::{DocMapper, IndexConfig};

use crate::error::BuildError;
use crate::storage::IndexStore;

/// Tells of documents whether an ingest would take them, by the index config of the moment at which it was opened.
pub struct DocumentCheck {
    mapper: DocMapper,
    keeps_all: bool,
}

/// Why a document would be rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentProblem {
    /// Stable, in snake_case.
    pub reason: &'static str,
    /// In words for whoever sent it.
    pub message: String,
}

impl DocumentCheck {
    /// Reads the index config.
    ///
    /// # Errors
    /// `Invalid` if there is no index, or its doc mapping cannot be used; `Unavailable` if storage does not answer.
    pub fn open(store: &IndexStore) -> Result<Self, BuildError> {
        Self::of(&store.load_config()?)
    }

    /// # Errors
    /// `Invalid` if the doc mapping cannot be used.
    pub fn of(config: &IndexConfig) -> Result<Self, BuildError> {
        let mapper = DocMapper::new(config).map_err(|error| {
            BuildError::invalid("the doc mapping cannot be used").caused_by(error)
        })?;
        Ok(Self {
            mapper,
            keeps_all: config.ingest_settings.on_error == OnError::Keep,
        })
    }

    /// What is wrong with a document, if anything is. `scratch` is worked in.
    pub fn problem(&self, json: &[u8], scratch: &mut Vec<u8>) -> Option<DocumentProblem> {
        if json.iter().all(u8::is_ascii_whitespace) {
            return Some(DocumentProblem {
                reason: "blank_line",
                message: "there is no document".to_owned(),
            });
        }
        if self.keeps_all {
            return None;
        }
        scratch.clear();
        let error = self.mapper.encode_doc(json, scratch).err()?;
        Some(DocumentProblem {
            reason: error.reason().as_str(),
            message: error.to_string(),
        })
    }
}
