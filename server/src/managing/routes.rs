//! What a request may want done with indexes and templates. By which verbs and paths, the table in `changes` says.

use canter_intake::TemplateKind;

/// What a request wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manage {
    /// Elasticsearch's `PUT /<index>`.
    Create(String),
    /// `DELETE /<indexes>`.
    Delete(String),
    /// A template is put.
    PutTemplate(TemplateKind, String),
    /// Templates are shown, by name or pattern; all if absent.
    Templates(TemplateKind, Option<String>),
    /// Templates are deleted, by name.
    DeleteTemplates(TemplateKind, String),
    /// An index is made of the template that names it a data stream.
    PutDataStream(String),
    /// Data streams are shown, by name or pattern; all if absent.
    DataStreams(Option<String>),
    /// Data streams are deleted, by name.
    DeleteDataStreams(String),
    /// Quickwit's `POST /api/v1/indexes`.
    CreateFromConfig,
    /// Quickwit's `DELETE /api/v1/indexes/<index>`.
    DeleteOne(String),
    /// Quickwit's `PUT /api/v1/indexes/<index>/clear`.
    Clear(String),
}

impl Manage {
    /// Whether it is about indexes of any name.
    pub(super) fn is_about_all(&self) -> bool {
        matches!(
            self,
            Self::PutTemplate(..)
                | Self::Templates(..)
                | Self::DeleteTemplates(..)
                | Self::DataStreams(_)
        )
    }
}
