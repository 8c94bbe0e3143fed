//! The form of the table's rows. `matching` finds the row of a request.

use canter_access::Right;

use super::param::{ELASTIC_PREFIX, Param};
use crate::managing::{MAX_MAPPING_BYTES, Manage};
use crate::writing::Write;

/// Maximum size of an unused body: clients send `{}` with requests of any kind.
const MAX_UNREAD_BYTES: usize = 64 << 10;

/// A route of `--writable` or `--indexes-in`.
pub(crate) struct ChangeRoute {
    /// `PUT`, `POST` and the like.
    pub(crate) verbs: &'static [&'static str],
    /// Patterns in which `{index}`, `{name}` and `{id}` stand for a segment of a path.
    pub(crate) paths: &'static [&'static str],
    pub(crate) api: ApiOf,
    /// Valid values of `{index}` or `{name}`.
    pub(super) names: Names,
    pub(super) does: Does,
    /// Rights that a token must grant.
    pub(super) rights: &'static [Right],
    /// Flags in the URL that require further rights.
    pub(super) rights_of_flags: &'static [(&'static str, Right)],
    pub(crate) cross_site: CrossSite,
    pub(crate) body: BodyBound,
    /// Contents of `/openapi.json`; absent for routes that are always refused, with a reason.
    pub(crate) doc: Option<Doc>,
}

/// The API of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiOf {
    /// At the root, and below `/api/v1/_elastic`.
    Elasticsearch,
    /// Quickwit's and OpenTelemetry's: only at its path.
    Own,
}

/// Valid values of a name in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// A name without a leading `_`, which would be a route of its own.
    Plain,
    /// A plain name, or `_all`.
    OrAll,
    Any,
}

/// Permission of pages of other origins to send such requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrossSite {
    /// Only those in `--cors-write-origin`.
    Refused,
    /// It changes nothing. `--cors-origin` decides whether a page may read the answer.
    Answered,
}

/// Maximum size of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyBound {
    /// `--max-write-bytes`.
    Documents,
    /// A mapping or a template, and at most `--max-write-bytes`.
    Mapping,
    /// The body is not used.
    Unused,
}

/// Documentation of a route.
pub(crate) struct Doc {
    pub(crate) about: &'static str,
    pub(crate) params: &'static [&'static [Param]],
    /// Content type and an example.
    pub(crate) body: Option<(&'static str, &'static str)>,
}

/// Conversion of the names in a path to a change.
#[derive(Clone, Copy)]
pub(super) enum Does {
    Documents(fn(&[String]) -> Option<Write<'_>>),
    Indexes(fn(&[String]) -> Option<Manage>),
}

impl ChangeRoute {
    /// Returns the rights of every request of this row, and those that a flag in the URL additionally requires.
    pub(crate) fn all_rights(&self) -> (&'static [Right], &'static [(&'static str, Right)]) {
        (self.rights, self.rights_of_flags)
    }

    /// Returns the names in a path at the placeholders of this row's patterns.
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
    /// Returns the maximum size in bytes, given that of documents.
    pub(crate) fn max_bytes(self, max_write_bytes: usize) -> usize {
        match self {
            Self::Documents => max_write_bytes,
            Self::Mapping => MAX_MAPPING_BYTES.min(max_write_bytes),
            Self::Unused => MAX_UNREAD_BYTES.min(max_write_bytes),
        }
    }

    /// Returns the description for `/openapi.json`.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Documents => "The body has at most `--max-write-bytes`.".to_owned(),
            Self::Mapping => format!("The body has at most {MAX_MAPPING_BYTES} bytes."),
            Self::Unused => "A body is not used.".to_owned(),
        }
    }
}
