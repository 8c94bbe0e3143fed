//! `--verify`: remains of deleted documents, in the index and in the store.

use anyhow::{Result, bail};
use canter_index_builder::{IndexStore, Problem, stored_splits};
use serde::Serialize;

use super::lister::Lister;
use super::run::{DeleteArgs, num_docs, show};
use crate::render::{Screen, numbers};

/// The remains.
#[derive(Debug, Serialize)]
struct Remains {
    /// Number of documents that searches still find.
    num_matching_docs: u64,
    /// Number of documents in objects of the store, whether searches find them or not.
    num_stored_docs: u64,
    /// Number of searched objects.
    num_objects: u64,
    /// The objects that still contain documents.
    objects: Vec<StoredIn>,
    /// Objects that could not be searched.
    problems: Vec<Problem>,
}

/// An object that still contains documents.
#[derive(Debug, Serialize)]
struct StoredIn {
    object: String,
    num_docs: u64,
    /// True if the object is part of the index.
    is_live: bool,
}

/// Searches the index, then every split in the store; fails if searches still find documents, or if an
/// object could not be searched.
pub(super) fn run(
    args: &DeleteArgs,
    store: &IndexStore,
    lister: &Lister,
    screen: &Screen,
) -> Result<()> {
    let num_matching_docs = num_docs(&lister.list()?);
    let stored = stored_splits(store)?;
    let mut remains = Remains {
        num_matching_docs,
        num_stored_docs: 0,
        num_objects: stored.num_objects,
        objects: Vec::new(),
        problems: stored.problems,
    };
    for manifest in stored.manifests {
        for split in lister.list_with(manifest)? {
            remains.num_stored_docs += split.num_listed;
            remains.objects.push(StoredIn {
                object: canter_split_format::split_object(&split.split_id),
                num_docs: split.num_listed,
                is_live: stored.live.contains(&split.split_id),
            });
        }
    }
    let json = serde_json::to_string(&remains)?;
    show(args, screen, &json, &text_of(&remains))?;
    match (remains.num_matching_docs, remains.problems.len() as u64) {
        (0, 0) => Ok(()),
        (0, num) => bail!(
            "{} could not be searched, and may hold documents that match",
            numbers::counted(num, "object")
        ),
        (num, _) => bail!(
            "the query still finds {}: run the same without --verify to delete them",
            numbers::counted(num, "document")
        ),
    }
}

fn text_of(remains: &Remains) -> String {
    let mut text = match remains.num_matching_docs {
        0 => "the query finds nothing in the index\n".to_owned(),
        num => format!(
            "the query finds {} in the index\n",
            numbers::counted(num, "document")
        ),
    };
    if remains.objects.is_empty() {
        text.push_str(&format!(
            "none of {} in the store holds a document that matches\n",
            numbers::counted(remains.num_objects, "split")
        ));
    } else {
        text.push_str(&format!(
            "{} still in {} of {} in the store:\n",
            numbers::counted(remains.num_stored_docs, "document"),
            numbers::count(remains.objects.len() as u64),
            numbers::counted(remains.num_objects, "split")
        ));
    }
    for stored in &remains.objects {
        let advice = match stored.is_live {
            true => "until `canter index merge --rewrite-deleted` writes it anew",
            false => "until `canter index gc` removes it",
        };
        let num = numbers::counted(stored.num_docs, "document");
        text.push_str(&format!("{}: {num}, {advice}\n", stored.object));
    }
    for problem in &remains.problems {
        text.push_str(&format!("{}: {}\n", problem.object, problem.problem));
    }
    text
}
