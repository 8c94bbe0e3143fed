//! A parameter of a request, as `/openapi.json` describes it, and the names that all tables of routes share.

/// The content type of most bodies.
pub(super) const JSON: &str = "application/json";

/// Prefix of Elasticsearch's API besides the root.
pub(super) const ELASTIC_PREFIX: &str = "/api/v1/_elastic";

/// A parameter in the URL.
pub(crate) struct Param {
    pub(super) name: &'static str,
    pub(super) example: Example,
    pub(super) about: &'static str,
}

/// A valid value of a parameter.
pub(super) enum Example {
    Text(&'static str),
    Number(i64),
    Flag(bool),
}

pub(crate) const fn text(name: &'static str, example: &'static str, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Text(example),
        about,
    }
}

pub(crate) const fn number(name: &'static str, example: i64, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Number(example),
        about,
    }
}

pub(crate) const fn flag(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Flag(true),
        about,
    }
}

/// Returns a flag that may only be false.
pub(crate) const fn unset(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Flag(false),
        about,
    }
}
