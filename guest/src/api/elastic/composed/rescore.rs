//! `rescore`: second queries for the best hits.
//!
//! See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/rescore-search-results>.

use serde_json::{Map, Value};

use super::wanted::{Rescore, ScoreMode};
use crate::SearchError;
use crate::api::elastic::given::body::{Body, wrong};
use crate::api::settings::ApiSettings;
use crate::request::GivenQuery;

/// Default number of hits whose scores change.
const DEFAULT_WINDOW: u64 = 10;
/// Maximum number of second queries.
const MAX_RESCORES: usize = 10;

/// Takes the second queries for the best hits.
///
/// # Errors
/// If one is invalid, or the search is one whose hits have another order than that of their scores.
pub(in crate::api::elastic) fn read_rescores(
    body: &mut Body,
    is_scroll: bool,
    settings: &ApiSettings,
) -> Result<Vec<Rescore>, SearchError> {
    let list = match body.take("rescore") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
    };
    if list.is_empty() {
        return Ok(Vec::new());
    }
    if list.len() > MAX_RESCORES {
        return Err(wrong(
            "rescore",
            format!("there may be {MAX_RESCORES} of these"),
        ));
    }
    if body
        .map
        .get("collapse")
        .is_some_and(|collapse| !collapse.is_null())
    {
        return Err(SearchError::invalid(
            "cannot use `collapse` in conjunction with `rescore`",
        ));
    }
    if is_scroll {
        return Err(SearchError::invalid(
            "using [rescore] is not allowed in a scroll context",
        ));
    }
    list.into_iter()
        .map(|rescore| match rescore {
            Value::Object(rescore) => read_rescore(rescore, settings),
            _ => Err(wrong(
                "rescore",
                "this must be an object, or a list of objects",
            )),
        })
        .collect()
}

fn read_rescore(
    mut rescore: Map<String, Value>,
    settings: &ApiSettings,
) -> Result<Rescore, SearchError> {
    let window_size = match rescore.shift_remove("window_size") {
        None => DEFAULT_WINDOW,
        Some(size) => size
            .as_u64()
            .filter(|size| *size > 0)
            .ok_or_else(|| wrong("rescore.window_size", "this must be a whole number above 0"))?,
    };
    let most = settings.limits.max_hits;
    if window_size > most {
        return Err(SearchError::invalid(format!(
            "Rescore window [{window_size}] is too large. It must be less than [{most}]. This prevents allocating \
             massive heaps for storing the results to be rescored: ask for less, or raise the limit max_hits"
        )));
    }
    let query = rescore.shift_remove("query");
    if let Some(key) = rescore.keys().next() {
        return Err(wrong(
            "rescore",
            format!("{key:?} is not known or not supported; there are query, window_size"),
        ));
    }
    let Some(Value::Object(mut query)) = query else {
        return Err(wrong(
            "rescore.query",
            "this must be an object with a rescore_query",
        ));
    };
    let second = query.shift_remove("rescore_query").unwrap_or_default();
    let second = GivenQuery::of(&second)?.parse(settings.now_ms, &settings.limits)?;
    let query_weight = weight(&mut query, "query_weight")?;
    let rescore_query_weight = weight(&mut query, "rescore_query_weight")?;
    let mode = match query.shift_remove("score_mode") {
        None => ScoreMode::Total,
        Some(mode) => match mode.as_str() {
            Some("total") => ScoreMode::Total,
            Some("multiply") => ScoreMode::Multiply,
            Some("avg") => ScoreMode::Average,
            Some("max") => ScoreMode::Max,
            Some("min") => ScoreMode::Min,
            _ => {
                let what = "this must be total, multiply, avg, max or min";
                return Err(wrong("rescore.query.score_mode", what));
            }
        },
    };
    if let Some(key) = query.keys().next() {
        return Err(wrong(
            "rescore.query",
            format!(
                "{key:?} is not known or not supported; there are query_weight, rescore_query, rescore_query_weight, \
                 score_mode"
            ),
        ));
    }
    Ok(Rescore {
        window_size: usize::try_from(window_size).unwrap_or(usize::MAX),
        query: second,
        query_weight,
        rescore_query_weight,
        mode,
    })
}

fn weight(query: &mut Map<String, Value>, key: &str) -> Result<f32, SearchError> {
    let Some(weight) = query.shift_remove(key) else {
        return Ok(1.0);
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "scores have the precision of f32"
    )]
    let weight = weight.as_f64().map(|weight| weight as f32);
    let weight = weight.filter(|weight| weight.is_finite());
    weight.ok_or_else(|| wrong(&format!("rescore.query.{key}"), "this must be a number"))
}
