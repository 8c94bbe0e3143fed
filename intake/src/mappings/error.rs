//! Errors in mappings, settings and templates.

/// Reason for which a mapping, a setting or a template was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct MappingError {
    /// Elasticsearch's name for this kind of error.
    pub kind: &'static str,
    /// Description of the problem, with advice.
    pub reason: String,
}

impl MappingError {
    /// Creates an error about a field or a mapping.
    pub(super) fn mapper(reason: impl Into<String>) -> Self {
        Self {
            kind: "mapper_parsing_exception",
            reason: reason.into(),
        }
    }

    /// Creates an error about a setting or an argument.
    pub(super) fn illegal(reason: impl Into<String>) -> Self {
        Self {
            kind: "illegal_argument_exception",
            reason: reason.into(),
        }
    }

    /// Creates an error about the shape of the body.
    pub(super) fn parse(reason: impl Into<String>) -> Self {
        Self {
            kind: "parse_exception",
            reason: reason.into(),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, MappingError>;
