//! Why there can be no such index.

/// Why a mapping, a setting or a template was not taken. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct MappingError {
    /// What Elasticsearch calls this kind of error.
    pub kind: &'static str,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl MappingError {
    /// A field or a mapping is wrong.
    pub(super) fn mapper(reason: impl Into<String>) -> Self {
        Self {
            kind: "mapper_parsing_exception",
            reason: reason.into(),
        }
    }

    /// A setting or an argument is wrong.
    pub(super) fn illegal(reason: impl Into<String>) -> Self {
        Self {
            kind: "illegal_argument_exception",
            reason: reason.into(),
        }
    }

    /// The body has another shape.
    pub(super) fn parse(reason: impl Into<String>) -> Self {
        Self {
            kind: "parse_exception",
            reason: reason.into(),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, MappingError>;
