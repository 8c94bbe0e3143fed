//! Writes the documents of a page, as a script and pipelines make them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use canter_index_builder::LiveVersion;
use canter_intake::{Acknowledge, Condition, Lane, LineOutcome, Operation, Verb};
use canter_pipelines::Metadata;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::adding::{Absent, add_to};
use super::super::bulk::{Piping, no_deleting};
use super::super::declaring::declare;
use super::super::scripts::{Seen, Use, Wanted};
use super::what::{Copying, Counts};
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Problem, refused_document};

/// Size of a page's documents, of which pipelines make a multiple at most.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// Maximum number of indexes that a script or a pipeline writes documents of a page into.
const MAX_INDEXES: usize = 64;

/// Document of a page, as it is written.
struct Hit {
    index: String,
    id: String,
    routing: Option<String>,
    /// The document; it is deleted if absent.
    source: Option<Box<RawValue>>,
    seq_no: Option<u64>,
}

/// Returns what is written of a document that was found; nothing if it stays as it is.
///
/// # Errors
/// The script fails, or asks for what cannot be done.
fn hit_of(
    request: &ChangeRequest<'_>,
    copying: &Copying,
    found: &Value,
) -> Result<Option<Hit>, Problem> {
    let text = |key: &str| found[key].as_str().map(str::to_owned);
    let seen = Seen {
        index: text("_index").unwrap_or_default(),
        id: text("_id").unwrap_or_default(),
        routing: text("_routing"),
        version: found["_version"].as_u64(),
    };
    let to = copying.to.clone().unwrap_or_else(|| seen.index.clone());
    let raw = |source: String| RawValue::from_string(source).ok();
    let mut hit = Hit {
        index: to,
        id: seen.id.clone(),
        routing: seen.routing.clone(),
        source: None,
        seq_no: found["_seq_no"].as_u64(),
    };
    let Some(script) = &copying.script else {
        hit.source = raw(found["_source"].to_string());
        return Ok(Some(hit));
    };
    let source = found["_source"].as_object().cloned().unwrap_or_default();
    let of = match copying.to {
        Some(_) => Use::Copy,
        None => Use::ByQuery,
    };
    let made = script.run(source, &seen, of)?;
    if made.seen.index != seen.index {
        hit.index = request.target(&made.seen.index, false)?.into_owned();
    }
    (hit.id, hit.routing) = (made.seen.id, made.seen.routing);
    match made.wanted {
        Wanted::Unchanged => return Ok(None),
        Wanted::Deleted if !request.may_delete => return Err(no_deleting()),
        Wanted::Deleted => {}
        Wanted::Written => hit.source = raw(Value::Object(made.source).to_string()),
    }
    Ok(Some(hit))
}

/// Lets a document pass its pipelines; nothing is written of one that is dropped.
fn piped(
    request: &ChangeRequest<'_>,
    copying: &Copying,
    piping: &mut Piping<'_>,
    hit: Hit,
) -> Result<Option<Hit>, Problem> {
    let Some(source) = &hit.source else {
        return Ok(Some(hit));
    };
    let meta = Metadata {
        index: hit.index.clone(),
        id: Some(hit.id.clone()),
        routing: hit.routing.clone(),
    };
    let body = source.get().as_bytes();
    let asked = copying.pipeline.as_deref();
    let passed = tokio::task::block_in_place(|| piping.passed(asked, (Verb::Index, meta), body))?;
    let Some(passed) = passed else {
        return Ok(None);
    };
    let text = String::from_utf8(passed.document.into_owned());
    let text = text.map_err(|error| Problem::internal(error.to_string()))?;
    let index = request.target(&passed.meta.index, false)?.into_owned();
    if copying.to.is_none() && (index != hit.index || passed.meta.id.as_ref() != Some(&hit.id)) {
        return Err(Problem::illegal(
            "a pipeline cannot give documents that are updated another index or id",
        ));
    }
    Ok(Some(Hit {
        index,
        id: passed.meta.id.unwrap_or(hit.id),
        routing: passed.meta.routing,
        source: RawValue::from_string(text).ok(),
        seq_no: hit.seq_no,
    }))
}

pub(super) async fn write(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    (copying, mut piping): (&Copying, Option<&mut Piping<'_>>),
    hits: &[Value],
    counts: &mut Counts,
) -> Result<(), Problem> {
    let mut by_index: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
    if let Some(piping) = &mut piping {
        piping.begin(MAX_PAGE_BYTES);
    }
    for found in hits {
        let hit = hit_of(request, copying, found)?;
        let hit = match (hit, piping.as_deref_mut()) {
            (Some(hit), Some(piping)) => piped(request, copying, piping, hit)?,
            (hit, _) => hit,
        };
        match hit {
            Some(hit) => by_index.entry(hit.index.clone()).or_default().push(hit),
            None => counts.num_unchanged += 1,
        }
    }
    let may_be_others = copying.script.is_some() || piping.is_some();
    if may_be_others && by_index.len() > MAX_INDEXES {
        return Err(Problem::illegal(format!(
            "the documents go into more than {MAX_INDEXES} indexes at once"
        )));
    }
    for (index, page) in &by_index {
        if let Some(problem) = request.root.and_then(|root| root.block_on_writes(index)) {
            return Err(problem);
        }
        let page = page.as_slice();
        let source_of = |hit: &'_ Hit| {
            let source = hit.source.as_ref()?;
            Some(Cow::Owned(source.get().as_bytes().to_vec()))
        };
        let sources = || page.iter().map(source_of).collect();
        let target = (index.as_str(), Absent::MadeForCopies);
        let problems = declare(writers, request, target, &sources).await?;
        if let Some(problem) = problems.into_iter().flatten().next() {
            return Err(problem);
        }
        let add = |lane: Arc<Lane>| async move { add_page(writers, &lane, copying, page).await };
        for outcome in add_to(writers, request, index, Absent::MadeForCopies, add).await? {
            match outcome {
                LineOutcome::Added(_) | LineOutcome::Created(_) => counts.num_created += 1,
                LineOutcome::Updated(_) => counts.num_updated += 1,
                LineOutcome::Conflict(_) => counts.num_conflicts += 1,
                LineOutcome::Deleted(_) => counts.num_deleted += 1,
                LineOutcome::NotFound(_) => {}
            }
        }
    }
    Ok(())
}

/// Writes documents into an index, all or none of a page.
async fn add_page(
    writers: &Writers,
    lane: &Lane,
    copying: &Copying,
    page: &[Hit],
) -> Result<Vec<LineOutcome>, Problem> {
    let turn = writers.turn_to_read().await?;
    let checked = tokio::task::block_in_place(|| {
        let id_field = lane
            .id_field()
            .map_err(|refusal| Problem::refused(&refusal))?;
        let mut problem = None;
        let documents = page.iter().filter_map(|hit| hit.source.as_ref());
        let documents = documents.map(|source| source.get().as_bytes());
        let told = lane.check_each(documents, &mut |found| problem = problem.take().or(found));
        told.map_err(|refusal| Problem::refused(&refusal))?;
        let keeps_routing = lane
            .keeps_routing()
            .map_err(|refusal| Problem::refused(&refusal))?;
        match problem {
            Some(problem) => Err(refused_document(problem)),
            None => Ok((id_field, keeps_routing)),
        }
    });
    let (id_field, keeps_routing) = checked?;
    drop(turn);
    let changes_ids = copying.to.is_none() || page.iter().any(|hit| hit.source.is_none());
    if id_field.is_none() && changes_ids {
        return Err(Problem::illegal(
            "documents are written again by their ids, and this index takes none: its config has no id_field",
        ));
    }
    let has_ids = id_field.is_some();
    let operations: Vec<Operation<'_>> = page
        .iter()
        .map(|hit| {
            let condition = match (copying.creates, &copying.to, hit.seq_no) {
                (true, ..) => Some(Condition::Absent),
                (false, None, Some(seq_no)) => Some(Condition::SeqNo(seq_no)),
                _ => None,
            };
            Operation {
                id: has_ids.then_some(hit.id.as_str()),
                document: hit.source.as_ref().map(|source| source.get().as_bytes()),
                routing: hit.routing.as_deref().filter(|_| keeps_routing),
                condition: condition.filter(|_| has_ids),
            }
        })
        .collect();
    let taken = lane
        .perform(&operations, id_field.as_deref(), Acknowledge::PublishedNow)
        .await;
    let taken = taken.map_err(|refusal| Problem::refused(&refusal))?;
    match taken.outcomes.is_empty() {
        true => {
            let first = LiveVersion {
                version: 1,
                seq_no: None,
            };
            Ok(vec![LineOutcome::Added(first); page.len()])
        }
        false => Ok(taken.outcomes),
    }
}
