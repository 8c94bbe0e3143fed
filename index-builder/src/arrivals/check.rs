//! Check of a document before its ingest.

use canter_doc_mapper::config::OnError;
use canter_doc_mapper::{DocMapper, IGNORED_FIELD, IndexConfig};

use canter_formats::JsonNesting;

use super::ids::{ROUTING_FIELD, SEQ_NO_FIELD, VERSION_FIELD, first_key_in, id_in};
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Maximum number of keys and values of one document. While it is indexed, each takes a hundred bytes, even if it had
/// only two in the input.
const MAX_VALUES: usize = 1 << 18;

/// Checks whether an ingest would accept documents, according to the index config at the time it was opened.
pub struct DocumentCheck {
    mapper: DocMapper,
    keeps_all: bool,
}

/// Reason why a document would be rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentProblem {
    /// Stable, in snake_case.
    pub reason: &'static str,
    /// Message for the sender.
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
    /// `Invalid` if the doc mapping is invalid.
    pub fn of(config: &IndexConfig) -> Result<Self, BuildError> {
        let mapper = DocMapper::new(config).map_err(|error| {
            BuildError::invalid("the doc mapping cannot be used").caused_by(error)
        })?;
        Ok(Self {
            mapper,
            keeps_all: config.ingest_settings.on_error == OnError::Keep,
        })
    }

    /// Returns the field that identifies documents, if the index has one.
    #[must_use]
    pub fn id_field(&self) -> Option<&str> {
        self.mapper.id_field()
    }

    /// Returns whether documents of the index have a field for their routing.
    #[must_use]
    pub fn keeps_routing(&self) -> bool {
        let mut fields = self.mapper.fields().into_iter();
        self.mapper.id_field().is_some() && fields.any(|field| field.path() == ROUTING_FIELD)
    }

    /// Returns whether searches show documents of the index as they were sent, with all of their values.
    #[must_use]
    pub fn shows_whole_documents(&self) -> bool {
        self.mapper.shown_source().is_none()
    }

    /// Returns the problem of a document, if there is one. `scratch` is working memory.
    pub fn problem(&self, json: &[u8], scratch: &mut Vec<u8>) -> Option<DocumentProblem> {
        if json.iter().all(u8::is_ascii_whitespace) {
            return Some(DocumentProblem {
                reason: "blank_line",
                message: "there is no document".to_owned(),
            });
        }
        // A shorter document has fewer values.
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
        if let Some(name) = self.mapper.id_field()
            && let Some(message) = id_problem(json, name)
        {
            return Some(DocumentProblem {
                reason: "invalid_id",
                message,
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

/// Returns what is wrong with the id of a document, if anything is.
fn id_problem(json: &[u8], id_field: &str) -> Option<String> {
    if let Err(problem) = id_in(json, id_field) {
        return Some(problem);
    }
    let counted: &[&str] = match id_field {
        "_id" => &[VERSION_FIELD, SEQ_NO_FIELD, IGNORED_FIELD],
        _ => &[VERSION_FIELD],
    };
    let given = first_key_in(json, counted)?;
    Some(format!("{given}: versions are counted, and not given"))
}
