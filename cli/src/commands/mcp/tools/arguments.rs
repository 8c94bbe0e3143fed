//! The arguments of a call, and the resulting request to the search API.

use canter_doc_mapper::parse_seconds;
use canter_index_builder::unix_time;
use canter_runtime::Limits;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::app::{App, Failure};
use crate::render::dates::date_of;

/// Default number of hits that a call shows.
pub(in crate::commands::mcp) const DEFAULT_MAX_HITS: u64 = 10;

/// Default number of fields that a call lists.
pub(in crate::commands::mcp) const DEFAULT_MAX_FIELDS: u64 = 200;

/// Arguments of `list_indexes`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands::mcp) struct ListArguments {
    #[serde(default)]
    pub(in crate::commands::mcp) budget: BudgetArgument,
}

/// Arguments of `describe_fields`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands::mcp) struct DescribeArguments {
    pub(in crate::commands::mcp) index: String,
    #[serde(default = "everything")]
    pub(in crate::commands::mcp) pattern: String,
    pub(in crate::commands::mcp) max_fields: Option<u64>,
    #[serde(default)]
    pub(in crate::commands::mcp) budget: BudgetArgument,
}

/// Arguments of `search`, `aggregate` and `explain_cost`. The schema of each tool permits only some of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands::mcp) struct SearchArguments {
    pub(in crate::commands::mcp) index: String,
    #[serde(default = "everything")]
    query: String,
    start_timestamp: Option<String>,
    end_timestamp: Option<String>,
    #[serde(default)]
    search_fields: Vec<String>,
    max_hits: Option<u64>,
    start_offset: Option<u64>,
    #[serde(default)]
    pub(in crate::commands::mcp) fields: Vec<String>,
    sort_by: Option<String>,
    count_up_to: Option<u64>,
    aggs: Option<Value>,
    #[serde(default)]
    pub(in crate::commands::mcp) budget: BudgetArgument,
}

/// Requested limits of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands::mcp) struct BudgetArgument {
    max_requests: Option<u64>,
    max_bytes: Option<u64>,
    max_waves: Option<u64>,
    deadline_ms: Option<u64>,
}

fn everything() -> String {
    "*".to_owned()
}

impl BudgetArgument {
    /// Returns the limits of the call; the schema has ensured that they do not exceed the server's.
    pub(in crate::commands::mcp) fn lower(&self, limits: &Limits) -> Limits {
        let mut limits = limits.clone();
        let budget = &mut limits.budget;
        budget.max_requests = self.max_requests.or(budget.max_requests);
        budget.max_bytes = self.max_bytes.or(budget.max_bytes);
        budget.max_waves = self.max_waves.or(budget.max_waves);
        budget.deadline_ms = self.deadline_ms.or(budget.deadline_ms);
        limits
    }
}

/// A search in the form of the search API.
pub(in crate::commands::mcp) struct SearchCall {
    pub(in crate::commands::mcp) request: Map<String, Value>,
    /// The time range, as it was parsed.
    pub(in crate::commands::mcp) time_range: Vec<(&'static str, String)>,
    pub(in crate::commands::mcp) limits: Limits,
    pub(in crate::commands::mcp) start_offset: u64,
}

impl SearchArguments {
    /// Builds the request to the search API. `max_hits` is the default number of hits.
    ///
    /// # Errors
    /// If the index does not exist, or a time is invalid.
    pub(in crate::commands::mcp) fn asked(
        &self,
        app: &App,
        max_hits: u64,
    ) -> Result<SearchCall, Failure> {
        app.check_index(&self.index)?;
        let mut request = Map::new();
        let mut put = |key: &str, value: Value| request.insert(key.to_owned(), value);
        put("query", self.query.as_str().into());
        let max_hits = self.max_hits.unwrap_or(max_hits.min(app.max_hits));
        put("max_hits", max_hits.into());
        let mut time_range = Vec::new();
        let now_s = unix_seconds();
        for (key, bound) in [
            ("start_timestamp", &self.start_timestamp),
            ("end_timestamp", &self.end_timestamp),
        ] {
            let Some(text) = bound else {
                continue;
            };
            let seconds = time_of(text, now_s)
                .map_err(|error| Failure::new(&format!("{key}: {text:?} is {error}")))?;
            put(key, seconds.into());
            time_range.push((key, date_of(seconds.saturating_mul(1_000_000_000))));
        }
        if let Some(start_offset) = self.start_offset {
            put("start_offset", start_offset.into());
        }
        if !self.search_fields.is_empty() {
            put("search_field", self.search_fields.clone().into());
        }
        if let Some(sort_by) = &self.sort_by {
            put("sort_by", sort_by.as_str().into());
        }
        if let Some(most) = self.count_up_to {
            put("track_total_hits", most.into());
        }
        if let Some(aggs) = &self.aggs {
            put("aggs", aggs.clone());
        }
        Ok(SearchCall {
            request,
            time_range,
            limits: self.budget.lower(&app.limits),
            start_offset: self.start_offset.unwrap_or(0),
        })
    }
}

fn unix_seconds() -> i64 {
    i64::try_from(unix_time().as_secs()).unwrap_or(i64::MAX)
}

/// Parses `now`, `now-15m` and the like, or a time as on the command line; returns Unix seconds.
fn time_of(text: &str, now_s: i64) -> Result<i64, String> {
    let Some(offset) = text.trim().strip_prefix("now") else {
        return parse_seconds(text.trim()).map_err(|error| {
            format!("{error}, nor relative to now, such as now-15m (units: s, m, h, d, w)")
        });
    };
    if offset.is_empty() {
        return Ok(now_s);
    }
    seconds_of(offset)
        .and_then(|offset| now_s.checked_add(offset))
        .ok_or_else(|| {
            "no time relative to now, such as now-15m, now-24h or now-7d (units: s, m, h, d, w)"
                .to_owned()
        })
}

/// Parses an offset such as `-15m` or `+1h`.
fn seconds_of(offset: &str) -> Option<i64> {
    let (sign, length) = match offset.split_at_checked(1)? {
        ("-", length) => (-1, length),
        ("+", length) => (1, length),
        _ => return None,
    };
    let (number, unit) = length.split_at_checked(length.len().checked_sub(1)?)?;
    let unit_s = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = number.parse().ok()?;
    number.checked_mul(unit_s * sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_or_relative_to_now() {
        const NOW_S: i64 = 1_000_000;
        for (text, expect) in [
            ("now", Some(NOW_S)),
            ("now-15m", Some(NOW_S - 900)),
            ("now-24h", Some(NOW_S - 86_400)),
            ("now-2w", Some(NOW_S - 1_209_600)),
            ("now+1d", Some(NOW_S + 86_400)),
            (" now-5s ", Some(NOW_S - 5)),
            ("1460505600", Some(1_460_505_600)),
            ("2016-04-13", Some(1_460_505_600)),
            ("2016-04-13T01:00:00Z", Some(1_460_509_200)),
            ("now-", None),
            ("now-h", None),
            ("now--1h", None),
            ("now-1.5h", None),
            ("now-1h/d", None),
            ("now-1ä", None),
            ("now-99999999999999999w", None),
            ("yesterday", None),
            ("", None),
        ] {
            let found = time_of(text, NOW_S);
            assert_eq!(found.clone().ok(), expect, "{text}");
            if let Err(error) = found {
                assert!(error.contains("now-15m"), "{error}");
            }
        }
    }

    #[test]
    fn a_call_lowers_the_limits() {
        let mut most = Limits::default();
        most.budget.max_requests = Some(500);
        let asked = BudgetArgument {
            max_bytes: Some(7),
            deadline_ms: Some(10),
            ..BudgetArgument::default()
        };
        let limits = asked.lower(&most);
        assert_eq!(limits.budget.max_requests, Some(500));
        assert_eq!(limits.budget.max_bytes, Some(7));
        assert_eq!(limits.budget.deadline_ms, Some(10));
    }
}
