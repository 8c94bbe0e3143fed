//! Runs a search and those that it needs besides, and joins their answers.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Hit};
use super::scores::scores_of;
use super::suggest::suggest;
use super::wanted::Composed;
use crate::SearchError;
use crate::api::elastic::search::read::Search;
use crate::api::elastic::search::run::search_both;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, GivenQuery, Question};
use crate::root::pretty;
use crate::search::run_search;

/// Number of searches for groups that run at once; each may use its share of the memory.
const AT_ONCE: usize = 16;

/// Runs a whole search in this session.
///
/// # Errors
/// As a search.
pub(in crate::api::elastic) async fn run_whole(
    search: Search,
    indexes: AskedIndexes,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let Search {
        mut question,
        aggregated,
        composed,
        ..
    } = search;
    let is_composed = !composed.is_empty();
    let (mut filter_path, mut is_pretty) = (None, false);
    if is_composed {
        is_pretty = std::mem::take(&mut question.form.is_pretty);
        let shown = question.elastic.as_mut();
        filter_path = shown.and_then(|shown| shown.filter_path.take());
    }
    let of = is_composed.then(|| question.clone());
    let first = match aggregated.is_empty() {
        true => run_search(question, indexes.clone(), exchange.clone()).await,
        false => search_both(question, aggregated, indexes.clone(), exchange.clone()).await,
    };
    let Some(of) = of else {
        return first;
    };
    let mut answer = Answer::parse(&first?)?;
    rescore(&mut answer, &composed, &of, &indexes, exchange).await?;
    show_named(&mut answer.hits, &composed, &of, &indexes, exchange).await?;
    show_groups(&mut answer.hits, &composed, &indexes, exchange).await?;
    if !composed.suggestions.is_empty() {
        let suggested = suggest(&composed.suggestions, &of, &indexes, exchange).await?;
        answer.put("suggest", suggested.to_string());
    }
    let json = answer.write();
    let json = match filter_path {
        Some(filter) => filter.apply_to_text(&json),
        None => json,
    };
    Ok(match is_pretty {
        true => pretty(&json),
        false => json,
    })
}

/// Gives the best hits the scores of second queries, and leaves those that are shown.
async fn rescore(
    answer: &mut Answer,
    composed: &Composed,
    of: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<(), SearchError> {
    if composed.rescores.is_empty() {
        return Ok(());
    }
    let explains = of.elastic.as_ref().is_some_and(|shown| shown.explains);
    let mut scored: Vec<(f32, Hit)> = answer
        .hits
        .drain(..)
        .map(|hit| (hit.score(), hit))
        .collect();
    for wanted in &composed.rescores {
        let window: Vec<Hit> = scored
            .iter()
            .take(wanted.window_size)
            .map(|(_, hit)| hit.clone())
            .collect();
        let scores = scores_of(&wanted.query, &window, of, indexes, exchange).await?;
        for (place, (score, hit)) in scored.iter_mut().enumerate() {
            let second = match place < wanted.window_size {
                true => scores.get(&hit.place()).copied(),
                // As a hit in the window that does not match.
                false => None,
            };
            *score = wanted.combined(*score, second);
        }
        canter_sorting::sort_by(&mut scored, |(left, _), (right, _)| right.total_cmp(left));
    }
    let (skipped, shown) = composed.window;
    let scored = scored.into_iter().skip(skipped).take(shown);
    for (score, mut hit) in scored {
        let score = f64::from(score);
        hit.put("_score", json!(score).to_string());
        if explains {
            let explanation =
                json!({"value": score, "description": "score of all queries", "details": []});
            hit.put("_explanation", explanation.to_string());
        }
        answer.hits.push(hit);
    }
    let best = answer.hits.first().map(|hit| f64::from(hit.score()));
    answer.set_max_score(best);
    Ok(())
}

/// Shows the score of each named clause that a hit matches.
async fn show_named(
    hits: &mut [Hit],
    composed: &Composed,
    of: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<(), SearchError> {
    if composed.named.is_empty() {
        return Ok(());
    }
    let mut by_name = Vec::with_capacity(composed.named.len());
    for some in composed.named.chunks(AT_ONCE) {
        let some = some.iter();
        let searches = some.map(|(_, query)| scores_of(query, hits, of, indexes, exchange));
        for scores in join_all(searches).await {
            by_name.push(scores?);
        }
    }
    for hit in hits {
        let place = hit.place();
        let mut matched = Map::new();
        for ((name, _), scores) in composed.named.iter().zip(&by_name) {
            if let Some(score) = scores.get(&place) {
                matched.insert(name.clone(), f64::from(*score).into());
            }
        }
        match matched.is_empty() {
            true => hit.remove("matched_queries"),
            false => hit.put("matched_queries", Value::Object(matched).to_string()),
        }
    }
    Ok(())
}

/// Shows further hits of the group of each hit.
async fn show_groups(
    hits: &mut [Hit],
    composed: &Composed,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<(), SearchError> {
    let mut wanted = Vec::new();
    for (place, hit) in hits.iter().enumerate() {
        for group in &composed.groups {
            let value = hit.value("fields");
            let value = value.get(&group.field).and_then(|values| values.get(0));
            let filter = match value.filter(|value| !value.is_null()) {
                Some(value) => json!({"term": {&group.field: {"value": value}}}),
                None => json!({"bool": {"must_not": {"exists": {"field": &group.field}}}}),
            };
            let mut question = group.question.clone();
            let (now_ms, limits) = (None, &question.limits);
            let filter = GivenQuery::of(&filter)?.parse(now_ms, limits)?;
            question.query = question.query.and_filter(filter);
            question.limits.max_resident_bytes /= AT_ONCE as u64;
            wanted.push((place, group.name.as_str(), question));
        }
    }
    let mut wanted = wanted.into_iter().peekable();
    let mut shown: Vec<Vec<String>> = vec![Vec::new(); hits.len()];
    while wanted.peek().is_some() {
        let some = wanted.by_ref().take(AT_ONCE);
        let searches = some.map(|(place, name, question)| async move {
            let answer = run_search(question, indexes.clone(), exchange.clone()).await?;
            let hits = Answer::parse(&answer)?.hits_object();
            let json = format!("{}:{{\"hits\":{hits}}}", Value::from(name));
            Ok::<_, SearchError>((place, json))
        });
        for found in join_all(searches).await {
            let (place, json) = found?;
            if let Some(list) = shown.get_mut(place) {
                list.push(json);
            }
        }
    }
    for (hit, shown) in hits.iter_mut().zip(shown) {
        if !shown.is_empty() {
            hit.put("inner_hits", format!("{{{}}}", shown.join(",")));
        }
    }
    Ok(())
}
