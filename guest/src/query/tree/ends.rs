//! Ends of ranges, with the time that `now` stands for.

use canter_aggregations::resolve_date;

use super::leaf::{End, Given};
use crate::SearchError;

const MILLISECOND_NS: i64 = 1_000_000;

/// Options for parsing the ends of a range.
pub(in crate::query) struct Ends<'a> {
    pub(in crate::query) now_ms: Option<i64>,
    pub(in crate::query) format: Option<&'a str>,
    pub(in crate::query) time_zone: Option<&'a str>,
}

impl Ends<'_> {
    /// Refuses an unknown zone, whether or not an end needs it.
    pub(in crate::query) fn check_zone(&self, path: &str) -> Result<(), SearchError> {
        match resolve_date("now", None, self.time_zone, 0, false) {
            Ok(_) => Ok(()),
            Err(what) => Err(wrong(path, format!("time_zone: {what}"))),
        }
    }

    /// Returns an end of a range on the field `name`.
    ///
    /// # Errors
    /// If it is date arithmetic from `now` on that is invalid, or the time is not known.
    pub(in crate::query) fn end(
        &self,
        path: &str,
        name: &str,
        given: Given,
        is_included: bool,
        is_lower: bool,
    ) -> Result<End, SearchError> {
        let path = format!("{path}.{name}");
        let from_now_ns = match is_from_now(&given.text) {
            false => None,
            true => {
                let now_ms = self.now_ms.ok_or_else(|| {
                    wrong(
                        &path,
                        "the host does not say what time it is, which now stands for",
                    )
                })?;
                let now_ns = now_ms.saturating_mul(MILLISECOND_NS);
                let round_up = is_lower != is_included;
                let time = resolve_date(&given.text, self.format, self.time_zone, now_ns, round_up);
                Some(time.map_err(|what| wrong(&path, what))?)
            }
        };
        Ok(End {
            given,
            is_included,
            from_now_ns,
        })
    }
}

/// Returns whether a text is date arithmetic based on `now` instead of a text that happens to begin so.
fn is_from_now(text: &str) -> bool {
    let steps = text.strip_prefix("now");
    steps.is_some_and(|steps| steps.is_empty() || steps.starts_with(['+', '-', '/']))
}

fn wrong(path: &str, what: impl std::fmt::Display) -> SearchError {
    SearchError::invalid(format!("{path}: {what}"))
}
