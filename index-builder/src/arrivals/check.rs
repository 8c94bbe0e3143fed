//! Whether a document can be ingested, before it is.

use canter_doc_mapper::config::OnError;
use canter_doc_mapper::{DocMapper, IndexConfig};

use canter_formats::JsonNesting;

use crate::error::BuildError;
use crate::storage::IndexStore;

/// Most keys and values of one document. While it is indexed, each takes a hundred bytes, and two where it came from.
const MAX_VALUES: usize = 1 << 18;

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
        // A shorter one has fewer.
        if json.len() > MAX_VALUES {
            let JsonNesting { num_values, .. } = JsonNesting::of(json);
            if num_values > MAX_VALUES {
                return Some(DocumentProblem {
                    reason: "too_many_values",
                    message: format!(
                        "the document has {num_values} keys and values, more than {MAX_VALUES}: send it in parts"
                    ),
                });
            }
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
