//! From a path to what is to be written.

use axum::http::Method;
use canter_access::Right;

/// What a request wants to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::serve) enum Write<'p> {
    /// Elasticsearch's `_bulk`, with the index of actions that name none.
    Bulk(Option<&'p str>),
    /// Elasticsearch's `_doc` and `_create`, with the id that was given.
    Document(&'p str, Option<&'p str>),
    /// All that was taken can be found afterwards.
    Refresh(Option<&'p str>),
    /// Elasticsearch's `_delete_by_query`.
    DeleteByQuery(&'p str),
    /// Quickwit's `ingest`.
    Lines(&'p str),
    /// OpenTelemetry's logs.
    Logs,
}

impl Write<'_> {
    /// What a token must allow.
    pub(in crate::commands::serve) fn right(self) -> Right {
        match self {
            Self::DeleteByQuery(_) => Right::Delete,
            _ => Right::Write,
        }
    }
}

/// What a path and method would write; nothing if they only read.
pub(in crate::commands::serve) fn write_of<'p>(
    method: &Method,
    path: &'p str,
) -> Option<Write<'p>> {
    let segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let is_post = method == Method::POST;
    let is_put = is_post || method == Method::PUT;
    let write = match segments.as_slice() {
        ["api", "v1", index, "ingest"] if *index != "_elastic" && is_post => Write::Lines(index),
        ["v1", "logs"] | ["api", "v1", "otlp", "v1", "logs"] if is_post => Write::Logs,
        ["api", "v1", "_elastic", rest @ ..] | rest => match rest {
            ["_bulk"] if is_put => Write::Bulk(None),
            [index, "_bulk"] if is_put => Write::Bulk(Some(index)),
            [index, "_doc"] if is_post => Write::Document(index, None),
            [index, "_doc" | "_create", id] if is_put => Write::Document(index, Some(id)),
            ["_refresh" | "_flush"] if is_post || method == Method::GET => Write::Refresh(None),
            [index, "_refresh" | "_flush"] if is_post || method == Method::GET => {
                Write::Refresh(Some(index))
            }
            [index, "_delete_by_query"] if is_post => Write::DeleteByQuery(index),
            _ => return None,
        },
    };
    Some(write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_not_ours() {
        for (method, path, wanted) in [
            ("POST", "/_bulk", Some(Write::Bulk(None))),
            (
                "PUT",
                "/api/v1/_elastic/logs/_bulk/",
                Some(Write::Bulk(Some("logs"))),
            ),
            ("GET", "/_bulk", None),
            ("POST", "/logs/_doc", Some(Write::Document("logs", None))),
            (
                "PUT",
                "/logs/_create/7",
                Some(Write::Document("logs", Some("7"))),
            ),
            ("GET", "/logs/_doc/7", None),
            ("POST", "/api/v1/logs/ingest", Some(Write::Lines("logs"))),
            ("POST", "/api/v1/logs/search", None),
            ("POST", "/logs/_search", None),
            ("POST", "/v1/logs", Some(Write::Logs)),
            ("POST", "/api/v1/otlp/v1/logs", Some(Write::Logs)),
            ("GET", "/v1/logs", None),
            (
                "POST",
                "/logs/_delete_by_query",
                Some(Write::DeleteByQuery("logs")),
            ),
            ("GET", "/logs/_refresh", Some(Write::Refresh(Some("logs")))),
            ("GET", "/logs", None),
            ("GET", "/", None),
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(write_of(&method, path), wanted, "{method} {path}");
        }
    }
}
