//! Requests that manage indexes and templates. The table in `routes` has their verbs and paths.

use canter_intake::TemplateKind;

/// A request that manages indexes or templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manage {
    /// Elasticsearch's `PUT /<index>`.
    Create(String),
    /// `PUT /<index>/_mapping`.
    PutMapping(String),
    /// `PUT /<index>/_settings`.
    PutSettings(String),
    /// `DELETE /<indexes>`.
    Delete(String),
    /// `PUT /<index>/_alias/<name>`; the body names what the path does not.
    PutAlias(Option<String>, Option<String>),
    /// `DELETE /<index>/_alias/<name>`.
    DeleteAlias(String, String),
    /// `POST /_aliases`.
    UpdateAliases,
    /// `POST /<alias>/_rollover`, which is refused.
    RollOver(String),
    /// Puts a template.
    PutTemplate(TemplateKind, String),
    /// Shows templates, by name or pattern; all if absent.
    Templates(TemplateKind, Option<String>),
    /// Deletes templates, by name.
    DeleteTemplates(TemplateKind, String),
    /// Shows what an index of this name would be.
    Simulate(String),
    /// Shows what a pipeline makes of documents: a stored one, or that of the body.
    SimulatePipeline(Option<String>),
    /// Lists the patterns of the processor `grok`.
    Patterns,
    /// `PUT /<indexes>/_block/<block>`.
    Block(String, String),
    /// `PUT /_cluster/settings`.
    PutClusterSettings,
    /// Creates an index from the template that declares it a data stream.
    PutDataStream(String),
    /// Shows data streams, by name or pattern; all if absent.
    DataStreams(Option<String>),
    /// Deletes data streams, by name.
    DeleteDataStreams(String),
    /// Quickwit's `POST /api/v1/indexes`.
    CreateFromConfig,
    /// Quickwit's `DELETE /api/v1/indexes/<index>`.
    DeleteOne(String),
    /// Quickwit's `PUT /api/v1/indexes/<index>/clear`.
    Clear(String),
}

impl Manage {
    /// Returns whether it concerns indexes with any name.
    pub(super) fn is_about_all(&self) -> bool {
        matches!(
            self,
            Self::PutTemplate(..)
                | Self::Templates(..)
                | Self::DeleteTemplates(..)
                | Self::DataStreams(_)
                | Self::Simulate(_)
                | Self::SimulatePipeline(_)
                | Self::PutClusterSettings
        )
    }
}
