//! The form of the table's rows. How a request finds its row is in `matching`.

use canter_access::Right;

use super::param::{ELASTIC_PREFIX, Param};
use crate::managing::{MAX_MAPPING_BYTES, Manage};
use crate::writing::Write;

/// Longest body where none is needed: clients send `{}` with requests of any kind.
const MAX_UNREAD_BYTES: usize = 64 << 10;

/// A route of `--writable` or `--indexes-in`.
pub(crate) struct ChangeRoute {
    /// `PUT`, `POST` and the like.
    pub(crate) verbs: &'static [&'static str],
    /// Patterns in which `{index}`, `{name}` and `{id}` stand for a part of a path.
    pub(crate) paths: &'static [&'static str],
    pub(crate) api: ApiOf,
    /// What `{index}` or `{name}` may be.
    pub(super) names: Names,
    pub(super) does: Does,
    /// What a token must allow.
    pub(super) rights: &'static [Right],
    /// Flags in the URL with which a token must allow more.
    pub(super) rights_of_flags: &'static [(&'static str, Right)],
    pub(crate) cross_site: CrossSite,
    pub(crate) body: BodyBound,
    /// What `/openapi.json` says; absent for what is always refused, with a reason.
    pub(crate) doc: Option<Doc>,
}

/// Whose API a route is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiOf {
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
pub(crate) enum CrossSite {
    /// Only those that `--cors-write-origin` names.
    Refused,
    /// It changes nothing. What a page may read of the answer, `--cors-origin` says.
    Answered,
}

/// The longest body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyBound {
    /// `--max-write-bytes`.
    Documents,
    /// A mapping or a template, and never more than `--max-write-bytes`.
    Mapping,
    /// Nothing of it is used.
    Unused,
}

/// What a route is for.
pub(crate) struct Doc {
    pub(crate) about: &'static str,
    pub(crate) params: &'static [&'static [Param]],
    /// Content type and an example.
    pub(crate) body: Option<(&'static str, &'static str)>,
}

/// From the names in a path to what is to be done.
#[derive(Clone, Copy)]
pub(super) enum Does {
    Documents(fn(&[String]) -> Option<Write<'_>>),
    Indexes(fn(&[String]) -> Option<Manage>),
}

impl ChangeRoute {
    /// The rights of every request of this row, and those that a flag in the URL needs besides.
    pub(crate) fn all_rights(&self) -> (&'static [Right], &'static [(&'static str, Right)]) {
        (self.rights, self.rights_of_flags)
    }

    /// The names that a path has where a pattern of this row has placeholders.
    pub(super) fn names_in(&self, segments: &[String]) -> Option<Vec<String>> {
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
    pub(crate) fn max_bytes(self, max_write_bytes: usize) -> usize {
        match self {
            Self::Documents => max_write_bytes,
            Self::Mapping => MAX_MAPPING_BYTES.min(max_write_bytes),
            Self::Unused => MAX_UNREAD_BYTES.min(max_write_bytes),
        }
    }

    /// In the words of `/openapi.json`.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Documents => "The body has at most `--max-write-bytes`.".to_owned(),
            Self::Mapping => format!("The body has at most {MAX_MAPPING_BYTES} bytes."),
            Self::Unused => "A body is not used.".to_owned(),
        }
    }
}
