//! `explain_cost`: the reads of a search, without running it.

use std::collections::BTreeMap;

use canter_runtime::{Explanation, Limits};
use serde_json::{Value, json};

use super::super::answer::{Answer, Spent};
use super::super::app::{App, Failure};
use super::super::shorten::Payload;
use super::arguments::{DEFAULT_MAX_HITS, SearchArguments, SearchCall};
use crate::prices::usage_of;
use crate::prices::{Prices, Usage, prices_json};

/// Maximum number of splits that are listed individually.
const MAX_SPLITS: usize = 50;

/// Plans a search.
pub(in crate::commands::mcp) async fn explain(
    app: &App,
    arguments: SearchArguments,
) -> Result<Value, Failure> {
    let asked = arguments.asked(app, DEFAULT_MAX_HITS)?;
    let SearchCall {
        request,
        time_range,
        limits,
        start_offset: _,
    } = asked;
    let started = std::time::Instant::now();
    let explained = app.explain(&arguments.index, request, &limits).await?;
    let mut spent = Spent::default();
    spent.add(&explained.profile, started.elapsed());
    let mut answer = Answer::new(spent.to_json(app.is_filtered()));
    let usage = usage_of(&explained);
    answer.note(
        "This is what a search takes at least. The splits' documents are not read yet: dictionaries may lead to further \
         waves, and each of its hits may take a request more, up to `max_documents`.",
    );
    note_limits(&mut answer, &usage, &limits);
    for (key, time) in time_range {
        answer.put(key, time);
    }
    answer.put(
        "at_least",
        json!({
            "num_waves": usage.num_waves,
            "num_requests": usage.num_requests,
            "num_bytes": usage.num_bytes,
        }),
    );
    answer.put("max_documents", usage.max_documents);
    answer.put("reads_next", reads_by_class(&explained));
    put_splits_by_decision(&mut answer, &explained.plan);
    // A test ensures that the built-in table is valid.
    if let Ok(prices) = Prices::read(None) {
        answer.put("prices_as_of", prices.as_of.as_str());
        answer.put("prices", prices_json(&prices.of(&usage)));
    }
    let splits = explained.plan["splits"].as_array();
    let splits = splits.map_or(&[][..], Vec::as_slice);
    if splits.len() > MAX_SPLITS {
        answer.note(format!(
            "`splits` shows the first {MAX_SPLITS} of {}; `num_splits_by_decision` counts all.",
            splits.len()
        ));
    }
    let shown = splits.iter().take(MAX_SPLITS).cloned().collect();
    let advice = "narrow the time range.";
    answer.finish("splits", Payload::List(shown), app.max_answer_bytes, advice)
}

/// Notes the limits of the call that the search will certainly reach.
fn note_limits(answer: &mut Answer, usage: &Usage, limits: &Limits) {
    for (limit, max, needed) in [
        (
            "max_requests",
            limits.budget.max_requests,
            usage.num_requests,
        ),
        ("max_bytes", limits.budget.max_bytes, usage.num_bytes),
        ("max_waves", limits.budget.max_waves, usage.num_waves),
    ] {
        if let Some(max) = max.filter(|max| needed > *max) {
            answer.note(format!(
                "The search needs more than its budget: {limit} is {max}, and it takes {needed} at least. It would be answered \
                 in part."
            ));
        }
    }
}

/// Returns the requests of the next wave by class.
fn reads_by_class(explained: &Explanation) -> Value {
    let mut classes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for read in &explained.planned {
        let (num_requests, num_bytes) = classes.entry(read.class.as_str()).or_default();
        *num_requests += 1;
        *num_bytes += read.length;
    }
    let classes = classes.into_iter().map(|(class, (num_requests, num_bytes))| {
        json!({"class": class, "num_requests": num_requests, "num_bytes": num_bytes})
    });
    classes.collect()
}

/// Adds the numbers of splits by decision. A row of the plan may stand for all splits of a page.
fn put_splits_by_decision(answer: &mut Answer, plan: &Value) {
    let mut decisions: BTreeMap<&str, u64> = BTreeMap::new();
    for split in plan["splits"].as_array().into_iter().flatten() {
        let decision = split["decision"].as_str().unwrap_or("unknown");
        *decisions.entry(decision).or_default() += split["num_splits"].as_u64().unwrap_or(1);
    }
    if let Some(num) = decisions.get("failed") {
        answer.lacks(format!(
            "{num} splits could not be looked at: `splits` says why."
        ));
    }
    answer.put("num_splits", plan["num_splits"].clone());
    answer.put("num_splits_by_decision", json!(decisions));
}
