//! Requests that write. The table in `routes` has their verbs and paths.

/// A request that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write<'p> {
    /// Elasticsearch's `_bulk`, with the index of actions that name none.
    Bulk(Option<&'p str>),
    /// Elasticsearch's `_doc`, with the id that was given.
    Document(&'p str, Option<&'p str>),
    /// Elasticsearch's `_create`.
    Create(&'p str, &'p str),
    /// Deletes a document by its id.
    Delete(&'p str, &'p str),
    /// Elasticsearch's `_update`.
    Update(&'p str, &'p str),
    /// Makes all accepted documents searchable.
    Refresh(Option<&'p str>),
    /// Elasticsearch's `_delete_by_query`.
    DeleteByQuery(&'p str),
    /// Elasticsearch's `_update_by_query`.
    UpdateByQuery(&'p str),
    /// Elasticsearch's `_reindex`.
    Reindex,
    /// Quickwit's `ingest`.
    Lines(&'p str),
    /// OpenTelemetry's logs.
    Logs,
}
