//! Fields that documents bring and that dynamic templates, formats of dates or objects map otherwise than others: they
//! become part of the mapping before the documents are added.

use std::borrow::Cow;
use std::sync::Arc;

use canter_intake::{Lane, Undeclared, with_mapping};
use serde_json::{Map, Value, json};

use super::adding::{Absent, add_to};
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Problem};

/// Adds the fields of documents to the mapping of an index, if it has fields that are mapped by their names. Returns the
/// problem of each document that has one; nothing if none has.
///
/// # Errors
/// The index does not exist, or cannot have these fields.
pub(super) async fn declare<'d>(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    (index, absent): (&str, Absent),
    documents: &(dyn Fn() -> Vec<Option<Cow<'d, [u8]>>> + Sync),
) -> Result<Vec<Option<Problem>>, Problem> {
    let look = |lane: Arc<Lane>| async move {
        let _turn = writers.turn_to_read().await?;
        let found = tokio::task::block_in_place(|| {
            // Most indexes have no such fields, and then nothing is read of the documents.
            if !lane.has_arising()? {
                return Ok(None);
            }
            let documents = documents();
            lane.arising(documents.iter().map(Option::as_deref))
        });
        found.map_err(|refusal| Problem::refused(&refusal))
    };
    let found = add_to(writers, request, index, absent, look).await?;
    let Some((added, undeclared)) = found else {
        return Ok(Vec::new());
    };
    if !added.is_empty() {
        add_to_mapping(request, index, added).await?;
    }
    let problems = undeclared.into_iter();
    Ok(problems.map(|found| found.map(refused)).collect())
}

async fn add_to_mapping(
    request: &ChangeRequest<'_>,
    index: &str,
    added: Map<String, Value>,
) -> Result<(), Problem> {
    let Some(root) = request.root else {
        let names: Vec<&String> = added.keys().collect();
        return Err(Problem::illegal(format!(
            "the documents have fields that the mapping of [{index}] names by a pattern, such as {names:?}, and this index was \
             named with --index: only those under --indexes-in can be changed here"
        )));
    };
    let index = index.to_owned();
    let mapping = json!({"properties": added});
    root.work(move |root| root.change_config(&index, &|config| with_mapping(config, &mapping)))
        .await
}

fn refused(undeclared: Undeclared) -> Problem {
    Problem::invalid(
        "strict_dynamic_mapping_exception",
        format!(
            "mapping set to strict, dynamic introduction of [{}] within [{}] is not allowed",
            undeclared.field, undeclared.within
        ),
    )
}
