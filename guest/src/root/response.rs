//! The answer as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_aggregations::{Backgrounds, Partial};
use canter_protocol::HostReport;
use canter_split_format::ListedSplit;
use serde::{Deserialize, Serialize};

use super::elastic::{self, HitWriter, NestedPlace};
use super::fetch_docs::{Document, fetch_docs};
use super::merge::Merged;
use super::pretty::pretty;
use super::profile::Profile;
use super::snippets::{Snippeter, Snippets};
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::{FailedSplit, HitOrder, PartialHit, PartialResult};
use crate::request::{AnswerForm, ElasticHits, Question, Resolved, ScrollState, SealedPlace};
use crate::split::partial_cache::{look_up, store};
use crate::split::{HeadSource, Indexes, OpenSplit, SearchedIndex};

/// Facts from the plan, for the profile and the order of hits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlanFacts {
    pub(crate) num_splits: u64,
    pub(crate) num_pruned_by_time: u64,
    pub(crate) num_pruned_by_tags: u64,
    pub(crate) num_pruned_by_filter: u64,
    pub(crate) timestamp_field: Option<String>,
    pub(crate) indexes: Vec<SearchedIndex>,
    /// Untyped fields whose values are keys in aggregations.
    pub(crate) untyped_keys: Vec<String>,
    /// Fields whose unsigned numbers are keys in aggregations.
    pub(crate) unsigned_keys: Vec<String>,
    /// Date fields of aggregations with the format of their mapping.
    pub(crate) own_formats: Vec<(String, String)>,
    /// The cache key of the answer, if the host caches answers.
    pub(crate) answer_key: Option<String>,
}

/// An answer in the host's cache: hits and their number as JSON, and aggregations as separate JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CachedAnswer(String, Option<String>);

/// The part of an answer that concerns documents.
#[derive(Serialize, Deserialize)]
struct Body {
    /// Each as JSON text: a document's numbers need not fit any type.
    hits: Vec<String>,
    num_hits: u64,
    /// `gte` if there may be more hits than were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    num_hits_relation: Option<String>,
    /// One for each hit, if the request names fields for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snippets: Option<Vec<Snippets>>,
    /// The best score of the hits, where scores are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_score: Option<f64>,
    /// The position where the next page of a scroll continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scroll_id: Option<String>,
    /// The matching documents, if the request asks for a list. Such an answer is not cached.
    #[serde(skip)]
    listed: Option<Vec<ListedSplit>>,
    /// JSON, which may be long: it is kept separately and written verbatim.
    #[serde(skip)]
    aggregations: Option<String>,
}

/// The keys from `hits`, which comes first, up to `aggregations`. The keys of an answer are documented: all are always
/// present except `num_hits_relation`, `snippets`, `aggregations`, `profile`, and `listed_splits`, which only a builder
/// requests.
#[derive(Serialize)]
struct Beginning<'a> {
    num_hits: u64,
    /// Only where it is a lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_hits_relation: Option<&'a str>,
    elapsed_time_micros: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippets: Option<&'a [Snippets]>,
}

/// The keys after `aggregations`.
#[derive(Serialize)]
struct Rest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    listed_splits: Option<&'a [ListedSplit]>,
    /// Messages of the splits that could not be searched.
    errors: Vec<&'a str>,
    /// Splits that could not be searched.
    failed_splits: &'a [FailedSplit],
    /// Splits that were not searched because a budget was used up.
    skipped_splits: &'a [FailedSplit],
    timed_out: bool,
    budget_exhausted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
}

/// Splits that are missing from an answer.
#[derive(Default)]
struct Missing {
    failed: Vec<FailedSplit>,
    skipped: Vec<FailedSplit>,
}

/// Writes an answer in the form that the question asks for, with the host's latest report on the search.
fn write_answer(
    body: &Body,
    missing: &Missing,
    profile: Profile,
    question: &Question,
    facts: &PlanFacts,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let report = exchange.report();
    let json = match &question.elastic {
        Some(shown) => write_elastic(body, missing, &profile, (question, shown, facts), &report),
        None => write_quickwit(body, missing, profile, question.form, report)?,
    };
    Ok(match question.form.is_pretty {
        true => pretty(&json),
        false => json,
    })
}

/// Writes an answer in Elasticsearch's form.
fn write_elastic(
    body: &Body,
    missing: &Missing,
    profile: &Profile,
    (question, shown, facts): (&Question, &ElasticHits, &PlanFacts),
    report: &HostReport,
) -> String {
    let missing: Vec<_> = missing.failed.iter().chain(&missing.skipped).collect();
    // The number of splits would reveal the number of documents.
    let (num_splits, num_pruned) = match question.is_filtered() {
        true => (missing.len().max(1) as u64, 0),
        false => (profile.num_splits, profile.num_splits_pruned),
    };
    let asked = question.aggregations.as_ref();
    let asked = asked.zip(body.aggregations.as_deref());
    let named = asked.and_then(|(asked, answer)| {
        let unsigned = shown
            .has_typed_keys
            .then_some(facts.unsigned_keys.as_slice());
        elastic::named(answer, asked.given(), unsigned)
    });
    let search = elastic::Search {
        took_us: report.elapsed_us,
        timed_out: report.timed_out,
        num_splits,
        num_pruned,
        missing,
        num_hits: body.num_hits,
        is_lower_bound: body.num_hits_relation.is_some(),
        max_score: body.max_score,
        aggregations: named.as_deref().or(body.aggregations.as_deref()),
        scroll_id: body.scroll_id.as_deref(),
        profile: shown
            .profiles
            .then(|| elastic::profiled(&question.query, report.elapsed_us, profile)),
    };
    let json = elastic::write_search(shown, &search, &body.hits);
    match &shown.filter_path {
        Some(filter) => filter.apply_to_text(&json),
        None => json,
    }
}

/// Writes an answer in Quickwit's form.
fn write_quickwit(
    body: &Body,
    missing: &Missing,
    profile: Profile,
    form: AnswerForm,
    report: HostReport,
) -> Result<String, SearchError> {
    let beginning = Beginning {
        num_hits: body.num_hits,
        num_hits_relation: body.num_hits_relation.as_deref(),
        elapsed_time_micros: report.elapsed_us,
        snippets: body.snippets.as_deref(),
    };
    let rest = Rest {
        listed_splits: body.listed.as_deref(),
        errors: missing.failed.iter().map(FailedSplit::message).collect(),
        failed_splits: &missing.failed,
        skipped_splits: &missing.skipped,
        timed_out: report.timed_out,
        budget_exhausted: report.budget_exhausted,
        profile: form.has_profile.then_some(profile),
    };
    let (beginning, rest) = (to_json(&beginning, false)?, to_json(&rest, false)?);
    let hits = body.hits.join(",");
    let parts = [
        "{\"hits\":[",
        &hits,
        "],",
        inner(&beginning),
        body.aggregations
            .as_ref()
            .map_or("", |_| ",\"aggregations\":"),
        body.aggregations.as_deref().unwrap_or_default(),
        ",",
        inner(&rest),
        "}",
    ];
    Ok(parts.concat())
}

/// Returns the text between the braces of an object.
fn inner(json: &str) -> &str {
    let json = json.strip_prefix('{').unwrap_or(json);
    json.strip_suffix('}').unwrap_or(json)
}

/// Returns the cached answer, if the host has one. `num_splits` splits were planned.
pub(crate) async fn answer_from_cache(
    facts: &PlanFacts,
    num_splits: u64,
    question: &Question,
    exchange: &Exchange,
) -> Option<String> {
    let CachedAnswer(body, aggregations) = look_up(exchange, facts.answer_key.as_deref()?).await?;
    let result = PartialResult {
        num_splits_from_cache: num_splits,
        ..PartialResult::default()
    };
    let body = Body {
        aggregations,
        ..serde_json::from_str(&body).ok()?
    };
    let profile = Profile::new(facts, &result, question);
    write_answer(
        &body,
        &Missing::default(),
        profile,
        question,
        facts,
        exchange,
    )
    .ok()
}

/// Inputs of an answer besides the results of leaves.
pub(crate) struct RootSearch<'a> {
    pub(crate) question: &'a Question,
    pub(crate) resolved: &'a Resolved,
    pub(crate) facts: &'a PlanFacts,
    /// Sources of the splits of hits, by their place in the plan.
    pub(crate) sources: &'a BTreeMap<u32, HeadSource>,
    pub(crate) exchange: &'a Exchange,
}

/// Hits in the form of an answer.
#[derive(Default)]
pub(super) struct Written {
    /// JSON of each hit; `None` for one whose document could not be fetched.
    pub(super) hits: Vec<Option<String>>,
    snippets: Vec<Snippets>,
    max_score: Option<f64>,
    /// Splits with a document that could not be fetched.
    pub(super) failed: Vec<(u32, SearchError)>,
}

impl RootSearch<'_> {
    /// Builds the answer: selects the hits, fetches their documents, finishes aggregations. Offers a complete answer to
    /// the host's cache.
    ///
    /// # Errors
    /// If aggregations are larger than the limits allow.
    pub(crate) async fn answer(
        &self,
        mut merged: Merged,
        aggregations: Option<Partial>,
        backgrounds: &Backgrounds,
        opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    ) -> Result<String, SearchError> {
        let (question, facts, exchange) = (self.question, self.facts, self.exchange);
        let timestamp_field = facts.timestamp_field.as_deref();
        let order = HitOrder::of(question, self.resolved.mixes_times, timestamp_field);
        let to_usize = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        merged.select(
            &order,
            to_usize(question.start_offset),
            to_usize(question.max_hits),
        );
        let Merged { mut result, .. } = merged;
        let written = self.write_hits(&result.hits, &[], &order, opened).await?;
        let mut unfetched = written.failed;
        let aggregations = match self.final_aggregations(aggregations.as_ref(), backgrounds)? {
            Some(answer) => {
                let (json, failed) = self.fill_buckets(answer, opened).await?;
                unfetched.extend(failed);
                Some(json)
            }
            None => None,
        };
        let failed_splits = std::mem::take(&mut result.failed_splits);
        let missing = self.missing(failed_splits, unfetched);
        let counted = (result.num_hits, result.num_splits_not_needed > 0);
        let scrolled = question.scroll().and_then(|scroll| scroll.total);
        let (num_hits, is_lower_bound) = scrolled.unwrap_or(counted);
        let has_snippets = !question.snippet_fields.is_empty() && question.elastic.is_none();
        let body = Body {
            hits: written.hits.into_iter().flatten().collect(),
            num_hits,
            num_hits_relation: is_lower_bound.then(|| "gte".to_owned()),
            snippets: has_snippets.then_some(written.snippets),
            max_score: written.max_score,
            scroll_id: self.scroll_id(&result.hits, (num_hits, is_lower_bound)),
            listed: question
                .list_documents
                .then(|| std::mem::take(&mut result.listed)),
            aggregations,
        };
        if let Some(key) = &facts.answer_key
            && missing.failed.is_empty()
            && missing.skipped.is_empty()
        {
            let kept = CachedAnswer(to_json(&body, false)?, body.aggregations.clone());
            store(exchange, key, &kept);
        }
        // The answer says how long the search took, and what it was made without.
        exchange.yield_to_host().await;
        let profile = Profile::new(facts, &result, question);
        write_answer(&body, &missing, profile, question, facts, exchange)
    }

    /// Fetches the documents of hits and writes them. Hits with an object in `objects` show that instead.
    pub(super) async fn write_hits(
        &self,
        hits: &[PartialHit],
        objects: &[Option<NestedPlace>],
        order: &HitOrder,
        opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    ) -> Result<Written, SearchError> {
        let (question, exchange) = (self.question, self.exchange);
        let indexes = Indexes::new(&self.facts.indexes, exchange);
        let is_elastic = question.elastic.is_some();
        let documents =
            fetch_docs(hits, self.sources, opened, &indexes, exchange, is_elastic).await?;
        let mut snippeter = Snippeter::of_question(question, &self.resolved.query);
        let writer = question.elastic.as_ref().map(|shown| HitWriter {
            question,
            shown,
            order,
        });
        let mut written = Written::default();
        for (nth, (hit, document)) in hits.iter().zip(documents).enumerate() {
            let found = match document {
                Ok(found) => found,
                Err(error) => {
                    written.failed.push((hit.split_ord, error));
                    written.hits.push(None);
                    continue;
                }
            };
            let Document {
                split, document, ..
            } = &found;
            let passages = snippeter.as_mut();
            let passages = passages
                .map(|snippeter| snippeter.snippets(hit.split_ord, split, document))
                .transpose()?;
            match &writer {
                Some(writer) => {
                    let passages = passages.unwrap_or_default().into_iter();
                    let passages = passages.filter(|(_, passages)| !passages.is_empty());
                    let highlight = passages.map(|(name, found)| (name, found.into()));
                    let highlight = highlight.collect();
                    let place = self.place_of(hit, objects.get(nth).and_then(Option::as_ref))?;
                    let json = writer.write(hit, place, &found, Some(&highlight))?;
                    written.hits.push(Some(json));
                    let scores = written.max_score.into_iter().chain(writer.score(hit));
                    written.max_score = scores.reduce(f64::max);
                }
                None => {
                    let json = split.mapper.doc_to_json_text(document);
                    written.hits.push(Some(json));
                    written.snippets.extend(passages);
                }
            }
        }
        Ok(written)
    }

    /// Returns the splits that are missing from the answer: those that failed in leaves, and those with a document that
    /// could not be fetched.
    fn missing(
        &self,
        mut failed_splits: Vec<FailedSplit>,
        unfetched: Vec<(u32, SearchError)>,
    ) -> Missing {
        for (split_ord, error) in unfetched {
            let source = self.sources.get(&split_ord);
            let split_id = source.map_or("", |source| &source.entry.id);
            let mut known = failed_splits.iter();
            if !known.any(|failed| failed.split_id == split_id) {
                failed_splits.push(FailedSplit::new(split_id, error));
            }
        }
        if self.question.is_filtered() {
            failed_splits = FailedSplit::without_places(failed_splits);
        }
        canter_sorting::sort_by(&mut failed_splits, |left, right| {
            left.split_id.cmp(&right.split_id)
        });
        let (skipped, failed) = failed_splits.into_iter().partition(FailedSplit::is_skipped);
        Missing { failed, skipped }
    }

    /// Returns the position of the next page of a scroll: after the last hit of this one, with the `total` of all
    /// pages.
    fn scroll_id(&self, hits: &[PartialHit], total: (u64, bool)) -> Option<String> {
        let mut scroll = self.question.scroll()?.clone();
        if !self.resolved.pinned.is_empty() {
            scroll.pinned.clone_from(&self.resolved.pinned);
        }
        scroll.turn_page(self.exchange.report().elapsed_us, total);
        if let Some(last) = hits.last() {
            if self.question.scroll.is_some() {
                let source = self.sources.get(&last.split_ord)?;
                let index = self.facts.indexes.get(source.index)?.name();
                scroll.after = Some(SealedPlace::of(index, &source.entry, last.doc));
            }
            scroll.keys.clone_from(&last.keys);
        }
        let state = ScrollState::Continues(scroll.last_page());
        let of_host = self.exchange.with_prefix("");
        store(&of_host, &scroll.key_of_state(), &state);
        Some(scroll.to_id())
    }
}

/// Serializes a value as JSON, in one line or indented.
///
/// # Errors
/// If the value cannot be represented in JSON.
pub(crate) fn to_json<T: Serialize>(value: &T, is_pretty: bool) -> Result<String, SearchError> {
    let json = serde_json::to_string(value)
        .map_err(|error| SearchError::internal(format!("response: {error}")))?;
    Ok(match is_pretty {
        true => pretty(&json),
        false => json,
    })
}
