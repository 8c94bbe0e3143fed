//! The rows of the table, and how a request finds its row.

use axum::http::{Method, Uri};
use canter_access::Right;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::super::managing::{MAX_MAPPING_BYTES, Manage};
use super::super::openapi::{ELASTIC_PREFIX, Param};
use super::super::writing::Write;
use super::{documents, indexes};

/// Longest body where none is needed: clients send `{}` with requests of any kind.
const MAX_UNREAD_BYTES: usize = 64 << 10;

/// A route of `--writable` or `--indexes-in`.
pub(in crate::commands::serve) struct ChangeRoute {
    /// `PUT`, `POST` and the like.
    pub(in crate::commands::serve) verbs: &'static [&'static str],
    /// Patterns in which `{index}`, `{name}` and `{id}` stand for a part of a path.
    pub(in crate::commands::serve) paths: &'static [&'static str],
    pub(in crate::commands::serve) api: ApiOf,
    /// What `{index}` or `{name}` may be.
    pub(super) names: Names,
    pub(super) does: Does,
    /// What a token must allow.
    pub(super) rights: &'static [Right],
    /// Flags in the URL with which a token must allow more.
    pub(super) rights_of_flags: &'static [(&'static str, Right)],
    pub(in crate::commands::serve) cross_site: CrossSite,
    pub(in crate::commands::serve) body: BodyBound,
    /// What `/openapi.json` says; absent for what is always refused, with a reason.
    pub(in crate::commands::serve) doc: Option<Doc>,
}

/// Whose API a route is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::serve) enum ApiOf {
    /// At the root, and below `/api/v1/_elastic`.
    Elasticsearch,
    /// Quickwit's and OpenTelemetry's: at its path only.
    Own,
}

/// What a part of a path may be where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// No index has a name that begins with `_`: that would be a route of its own.
    Plain,
    /// The same, and `_all`.
    OrAll,
    Any,
}

/// Whether pages of other origins may send such requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::serve) enum CrossSite {
    /// Only those that `--cors-write-origin` names.
    Refused,
    /// It changes nothing. What a page may read of the answer, `--cors-origin` says.
    Answered,
}

/// The longest body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::serve) enum BodyBound {
    /// `--max-write-bytes`.
    Documents,
    /// A mapping or a template, and never more than `--max-write-bytes`.
    Mapping,
    /// Nothing of it is used.
    Unused,
}

/// What a route is for.
pub(in crate::commands::serve) struct Doc {
    pub(in crate::commands::serve) about: &'static str,
    pub(in crate::commands::serve) params: &'static [&'static [Param]],
    /// Content type and an example.
    pub(in crate::commands::serve) body: Option<(&'static str, &'static str)>,
}

/// From the names in a path to what is to be done.
#[derive(Clone, Copy)]
pub(super) enum Does {
    Documents(fn(&[String]) -> Option<Write<'_>>),
    Indexes(fn(&[String]) -> Option<Manage>),
}

/// What a request wants to change.
pub(in crate::commands::serve) enum Change<'p> {
    Documents(Write<'p>),
    Indexes(Manage),
}

/// A request's row.
pub(in crate::commands::serve) struct Matched {
    pub(in crate::commands::serve) route: &'static ChangeRoute,
    names: Vec<String>,
    rights: Vec<Right>,
}

impl Matched {
    /// What is to be done; absent only for a row that takes more names than its path has.
    pub(in crate::commands::serve) fn change(&self) -> Option<Change<'_>> {
        match self.route.does {
            Does::Documents(write) => write(&self.names).map(Change::Documents),
            Does::Indexes(manage) => manage(&self.names).map(Change::Indexes),
        }
    }

    /// What a token must allow.
    pub(in crate::commands::serve) fn rights(&self) -> &[Right] {
        &self.rights
    }
}

impl ChangeRoute {
    /// The rights of every request of this row, and those that a flag in the URL needs besides.
    pub(in crate::commands::serve) fn all_rights(
        &self,
    ) -> (&'static [Right], &'static [(&'static str, Right)]) {
        (self.rights, self.rights_of_flags)
    }

    /// The names that a path has where a pattern of this row has placeholders.
    fn names_in(&self, segments: &[String]) -> Option<Vec<String>> {
        let below_prefix = || {
            let prefix = ELASTIC_PREFIX.trim_start_matches('/').split('/');
            let mut rest = segments;
            for part in prefix {
                let (first, others) = rest.split_first()?;
                rest = others;
                if first != part {
                    return None;
                }
            }
            Some(rest)
        };
        let inner = match self.api {
            ApiOf::Elasticsearch => below_prefix().unwrap_or(segments),
            ApiOf::Own => segments,
        };
        self.paths
            .iter()
            .find_map(|pattern| self.names_of(pattern, inner))
    }

    fn names_of(&self, pattern: &str, segments: &[String]) -> Option<Vec<String>> {
        let mut parts = pattern.split('/').filter(|part| !part.is_empty());
        let mut names = Vec::new();
        for segment in segments {
            match parts.next()? {
                "{id}" => names.push(segment.clone()),
                part if part.starts_with('{') => {
                    let is_right = match self.names {
                        Names::Plain => !segment.starts_with('_'),
                        Names::OrAll => !segment.starts_with('_') || segment == "_all",
                        Names::Any => true,
                    };
                    names.push(is_right.then(|| segment.clone())?);
                }
                part if part == segment => {}
                _ => return None,
            }
        }
        parts.next().is_none().then_some(names)
    }
}

impl BodyBound {
    /// Most bytes, of a server that takes documents of so many.
    pub(in crate::commands::serve) fn max_bytes(self, max_write_bytes: usize) -> usize {
        match self {
            Self::Documents => max_write_bytes,
            Self::Mapping => MAX_MAPPING_BYTES.min(max_write_bytes),
            Self::Unused => MAX_UNREAD_BYTES.min(max_write_bytes),
        }
    }

    /// In the words of `/openapi.json`.
    pub(in crate::commands::serve) fn words(self) -> String {
        match self {
            Self::Documents => "The body has at most `--max-write-bytes`.".to_owned(),
            Self::Mapping => format!("The body has at most {MAX_MAPPING_BYTES} bytes."),
            Self::Unused => "A body is not used.".to_owned(),
        }
    }
}

/// All rows. The first one that fits a request is its own.
pub(in crate::commands::serve) fn rows() -> impl Iterator<Item = &'static ChangeRoute> {
    documents::ROWS.iter().chain(indexes::ROWS)
}

/// The row of a request; none if it only reads.
pub(in crate::commands::serve) fn matching(method: &Method, uri: &Uri) -> Option<Matched> {
    let segments: Vec<String> = uri
        .path()
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
        .collect();
    let of_verb = rows().filter(|row| row.verbs.contains(&method.as_str()));
    let (route, names) = of_verb
        .filter_map(|row| Some((row, row.names_in(&segments)?)))
        .next()?;
    let query = uri.query().unwrap_or_default();
    // A value that is none is refused later.
    let is_set = |flag: &str| {
        let mut params = form_urlencoded::parse(query.as_bytes());
        params.any(|(name, value)| name == flag && value != "false")
    };
    let more = route.rights_of_flags.iter();
    let more = more.filter(|(flag, _)| is_set(flag));
    let rights = route.rights.iter().chain(more.map(|(_, right)| right));
    Some(Matched {
        route,
        names,
        rights: rights.copied().collect(),
    })
}
