//! Matching of requests with rows.

use axum::http::{Method, Uri};
use canter_access::Right;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::table::{ChangeRoute, Does};
use super::{documents, indexes, pipelines};
use crate::managing::Manage;
use crate::writing::Write;

/// The change that a request makes.
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
    /// Returns the change; `None` only for a row that takes more names than its path has.
    pub(crate) fn change(&self) -> Option<Change<'_>> {
        match self.route.does {
            Does::Documents(write) => write(&self.names).map(Change::Documents),
            Does::Indexes(manage) => manage(&self.names).map(Change::Indexes),
        }
    }

    /// Returns the rights that a token must grant.
    pub(crate) fn rights(&self) -> &[Right] {
        &self.rights
    }
}

/// Returns all rows. The first one that matches a request applies.
pub(crate) fn rows() -> impl Iterator<Item = &'static ChangeRoute> {
    let managing = pipelines::ROWS.iter().chain(indexes::ROWS);
    documents::ROWS.iter().chain(managing)
}

/// Returns the row of a request; `None` if it only reads.
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
    // An invalid value is refused later.
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
