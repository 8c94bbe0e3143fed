//! From a path to what is to be done with indexes and templates.

use axum::http::{Method, Uri};
use canter_access::Right;
use canter_intake::TemplateKind;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

/// What a request wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands::serve) enum Manage {
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
    CreateFromConfig {
        /// Whether it may replace one of the name.
        overwrites: bool,
    },
    /// Quickwit's `DELETE /api/v1/indexes/<index>`.
    DeleteOne(String),
    /// Quickwit's `PUT /api/v1/indexes/<index>/clear`.
    Clear(String),
}

impl Manage {
    /// What a token must allow.
    pub(in crate::commands::serve) fn rights(&self) -> Vec<Right> {
        match self {
            // What is there already is deleted.
            Self::CreateFromConfig { overwrites: true } => vec![Right::Write, Right::Delete],
            // Clearing leaves an index, and nothing in it.
            Self::Delete(_) | Self::DeleteDataStreams(_) | Self::DeleteOne(_) | Self::Clear(_) => {
                vec![Right::Delete]
            }
            // Templates say what indexes are to be, also to those who only look.
            _ => vec![Right::Write],
        }
    }

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

/// What a path and method would do; nothing if they do something else.
pub(in crate::commands::serve) fn manage_of(method: &Method, uri: &Uri) -> Option<Manage> {
    let path = uri.path();
    let segments: Vec<String> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
        .collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let is_put = method == Method::PUT;
    let is_post = method == Method::POST;
    let is_delete = method == Method::DELETE;
    let is_get = method == Method::GET || method == Method::HEAD;
    Some(match segments.as_slice() {
        ["api", "v1", "indexes"] if is_post => {
            let query = uri.query().unwrap_or_default();
            let mut params = form_urlencoded::parse(query.as_bytes());
            // A value that is none is refused later.
            let overwrites = params.any(|(name, value)| name == "overwrite" && value != "false");
            Manage::CreateFromConfig { overwrites }
        }
        ["api", "v1", "indexes", index] if is_delete => Manage::DeleteOne((*index).to_owned()),
        ["api", "v1", "indexes", index, "clear"] if is_put => Manage::Clear((*index).to_owned()),
        ["api", "v1", "_elastic", rest @ ..] | rest => match rest {
            ["_data_stream"] if is_get => Manage::DataStreams(None),
            ["_data_stream", name] if is_get => Manage::DataStreams(Some((*name).to_owned())),
            ["_data_stream", name] if is_put => Manage::PutDataStream((*name).to_owned()),
            ["_data_stream", name] if is_delete => Manage::DeleteDataStreams((*name).to_owned()),
            [kind] if is_get => Manage::Templates(kind_of(kind)?, None),
            [kind, name] if is_get => Manage::Templates(kind_of(kind)?, Some((*name).to_owned())),
            [kind, name] if is_put || is_post => {
                // Others of these would be `_simulate` and the like.
                let name = Some(*name).filter(|name| !name.starts_with('_'))?;
                Manage::PutTemplate(kind_of(kind)?, name.to_owned())
            }
            [kind, name] if is_delete => {
                Manage::DeleteTemplates(kind_of(kind)?, (*name).to_owned())
            }
            [index] if is_put && !index.starts_with('_') => Manage::Create((*index).to_owned()),
            [index] if is_delete && (!index.starts_with('_') || *index == "_all") => {
                Manage::Delete((*index).to_owned())
            }
            _ => return None,
        },
    })
}

fn kind_of(segment: &str) -> Option<TemplateKind> {
    match segment {
        "_index_template" => Some(TemplateKind::Index),
        "_component_template" => Some(TemplateKind::Component),
        "_template" => Some(TemplateKind::Legacy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_manages_indexes_is_ours() {
        let name = || "logs".to_owned();
        for (method, path, wanted) in [
            ("PUT", "/logs", Some(Manage::Create(name()))),
            (
                "PUT",
                "/api/v1/_elastic/logs/",
                Some(Manage::Create(name())),
            ),
            (
                "DELETE",
                "/logs%2Cmore",
                Some(Manage::Delete("logs,more".to_owned())),
            ),
            ("DELETE", "/_all", Some(Manage::Delete("_all".to_owned()))),
            ("GET", "/logs", None),
            ("HEAD", "/logs", None),
            ("POST", "/logs", None),
            ("PUT", "/_bulk", None),
            ("GET", "/_search", None),
            ("DELETE", "/_search", None),
            ("DELETE", "/logs/_search", None),
            (
                "PUT",
                "/_index_template/logs",
                Some(Manage::PutTemplate(TemplateKind::Index, name())),
            ),
            ("POST", "/_index_template/_simulate", None),
            (
                "HEAD",
                "/_component_template/logs",
                Some(Manage::Templates(TemplateKind::Component, Some(name()))),
            ),
            (
                "GET",
                "/_template",
                Some(Manage::Templates(TemplateKind::Legacy, None)),
            ),
            (
                "DELETE",
                "/_index_template/logs",
                Some(Manage::DeleteTemplates(TemplateKind::Index, name())),
            ),
            (
                "PUT",
                "/_data_stream/logs",
                Some(Manage::PutDataStream(name())),
            ),
            (
                "POST",
                "/api/v1/indexes",
                Some(Manage::CreateFromConfig { overwrites: false }),
            ),
            (
                "POST",
                "/api/v1/indexes?overwrite=true",
                Some(Manage::CreateFromConfig { overwrites: true }),
            ),
            ("GET", "/api/v1/indexes", None),
            (
                "DELETE",
                "/api/v1/indexes/logs",
                Some(Manage::DeleteOne(name())),
            ),
            (
                "PUT",
                "/api/v1/indexes/logs/clear",
                Some(Manage::Clear(name())),
            ),
            ("PUT", "/api/v1/logs/search", None),
            ("DELETE", "/", None),
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(
                manage_of(&method, &path.parse().unwrap()),
                wanted,
                "{method} {path}"
            );
        }
    }
}
