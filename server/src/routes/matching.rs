//! How a request finds its row.

use axum::http::{Method, Uri};
use canter_access::Right;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::table::{ChangeRoute, Does};
use super::{documents, indexes};
use crate::managing::Manage;
use crate::writing::Write;

/// What a request wants to change.
pub(crate) enum Change<'p> {
    Documents(Write<'p>),
    Indexes(Manage),
}

/// A request's row.
pub(crate) struct Matched {
    pub(crate) route: &'static ChangeRoute,
    names: Vec<String>,
    rights: Vec<Right>,
}

impl Matched {
    /// What is to be done; absent only for a row that takes more names than its path has.
    pub(crate) fn change(&self) -> Option<Change<'_>> {
        match self.route.does {
            Does::Documents(write) => write(&self.names).map(Change::Documents),
            Does::Indexes(manage) => manage(&self.names).map(Change::Indexes),
        }
    }

    /// What a token must allow.
    pub(crate) fn rights(&self) -> &[Right] {
        &self.rights
    }
}

/// All rows. The first one that fits a request is its own.
pub(crate) fn rows() -> impl Iterator<Item = &'static ChangeRoute> {
    documents::ROWS.iter().chain(indexes::ROWS)
}

/// The row of a request; none if it only reads.
pub(crate) fn matching(method: &Method, uri: &Uri) -> Option<Matched> {
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
