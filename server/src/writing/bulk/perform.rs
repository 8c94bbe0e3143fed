//! Performs the actions on one index, and records the outcome of each.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use canter_intake::{Acknowledge, Lane, Operation, Refusal, Taken, Verb};
use canter_names::FilterPath;

use super::asked::{self, Asked, no_ids, no_routing};
use super::items::Items;
use super::update;
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Problem, refused_document};

/// Performs actions on one index, and records the outcome of each.
///
/// # Errors
/// If none of them could be performed, because the index is gone or cannot be read.
pub(super) async fn add_each(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    lane: &Lane,
    items: &Mutex<Items>,
    group: &[Asked<'_>],
    how: (Acknowledge, Option<&FilterPath>),
) -> Result<(), Problem> {
    let turn = writers.turn_to_read().await?;
    // Analysis takes milliseconds of CPU, and the config may have to be read.
    let checked = tokio::task::block_in_place(|| {
        let id_field = lane.id_field();
        let id_field = id_field.map_err(|refusal| Problem::refused(&refusal))?;
        let good = good_of(lane, items, group, id_field.as_deref())?;
        Ok::<_, Problem>((id_field, good))
    });
    let (id_field, good) = checked?;
    drop(turn);
    let id_field = id_field.as_deref();
    for actions in in_turns(good).chunk_by(|one, other| one.reads_first() == other.reads_first()) {
        match actions.first() {
            Some(first) if first.reads_first() => {
                update_each(request, lane, items, (actions, id_field), how).await;
            }
            _ => perform_each(lane, items, (actions, id_field), how.0).await?,
        }
    }
    Ok(())
}

/// Returns actions so that those that read their documents first come last: they are performed one by one, and the others at
/// once. Where one of them is followed by another action on its document, all stay in their order.
fn in_turns<'g, 'b>(mut actions: Vec<&'g Asked<'b>>) -> Vec<&'g Asked<'b>> {
    let mut read: HashSet<&str> = HashSet::new();
    let is_followed = actions.iter().any(|asked| {
        let id = asked.id.as_deref().unwrap_or_default();
        match asked.reads_first() {
            true => {
                read.insert(id);
                false
            }
            false => asked.id.is_some() && read.contains(id),
        }
    });
    if !is_followed {
        actions.sort_by_key(|asked| asked.reads_first());
    }
    actions
}

/// Performs actions that need not read their documents, at once.
///
/// # Errors
/// The index is gone.
async fn perform_each(
    lane: &Lane,
    items: &Mutex<Items>,
    (actions, id_field): (&[&Asked<'_>], Option<&str>),
    acknowledge: Acknowledge,
) -> Result<(), Problem> {
    let operations: Vec<Operation<'_>> = actions.iter().map(|asked| asked.operation()).collect();
    match lane.perform(&operations, id_field, acknowledge).await {
        Ok(taken) => has_taken(items, actions, id_field, &taken),
        Err(Refusal::Gone) => return Err(Problem::refused(&Refusal::Gone)),
        Err(refusal) => {
            let ords = actions.iter().map(|asked| asked.ord);
            lock(items).all_failed(ords, Problem::refused(&refusal));
        }
    }
    Ok(())
}

/// Performs actions that read their documents first, one by one.
async fn update_each(
    request: &ChangeRequest<'_>,
    lane: &Lane,
    items: &Mutex<Items>,
    (actions, id_field): (&[&Asked<'_>], Option<&str>),
    how: (Acknowledge, Option<&FilterPath>),
) {
    let id_field = id_field.unwrap_or_default();
    for asked in actions {
        let name = lock(items).name(asked.index);
        let updated = match asked.verb {
            Verb::Delete => update::delete(request, lane, (&name, id_field), asked, how.0).await,
            _ => update::update(request, lane, (&name, id_field), asked, how).await,
        };
        let mut items = lock(items);
        match updated {
            Ok(updated) => {
                items.done(asked.ord, updated.done, updated.seq_no);
                if let Some(source) = updated.source {
                    items.shows(asked.ord, source);
                }
            }
            Err(problem) => items.failed(asked.ord, problem),
        }
    }
}

/// Records the outcomes of operations.
fn has_taken(items: &Mutex<Items>, good: &[&Asked<'_>], id_field: Option<&str>, taken: &Taken) {
    let mut items = lock(items);
    if let Some(first) = good.first() {
        items.has_ids(first.index, taken.ids);
    }
    for (place, asked) in good.iter().enumerate() {
        let outcome = taken.outcomes.get(place);
        if asked.id.is_none() {
            let own = id_field.and_then(|name| asked.own_id(name));
            let of_place = || Some(taken.ids?.nth(place as u64)).filter(|_| outcome.is_some());
            let Some(id) = own.or_else(of_place) else {
                items.added(asked.ord, place);
                continue;
            };
            items.has_id(asked.ord, id.into());
        }
        match asked::done(asked, outcome) {
            Ok((done, seq_no)) => items.done(asked.ord, done, seq_no),
            Err(problem) => items.failed(asked.ord, problem),
        }
    }
}

/// Returns the actions that can be performed, in order, and records what is wrong with the others.
fn good_of<'g, 'b>(
    lane: &Lane,
    items: &Mutex<Items>,
    group: &'g [Asked<'b>],
    id_field: Option<&str>,
) -> Result<Vec<&'g Asked<'b>>, Problem> {
    let mut possible = Vec::with_capacity(group.len());
    let is_routed = group.iter().any(|asked| asked.routing.is_some());
    let refuses_routing = match is_routed {
        true => !lane
            .keeps_routing()
            .map_err(|refusal| Problem::refused(&refusal))?,
        false => false,
    };
    for asked in group {
        let problem = match id_field {
            _ if refuses_routing && asked.routing.is_some() => {
                Some(no_routing(&lock(items).name(asked.index)))
            }
            None if asked.needs_ids() => Some(no_ids(&lock(items).name(asked.index))),
            // What a change makes of a document is checked then.
            Some(id_field) if asked.verb != Verb::Update => asked.problem(id_field),
            _ => None,
        };
        match problem {
            Some(problem) => lock(items).failed(asked.ord, problem),
            None => possible.push(asked),
        }
    }
    let is_document = |asked: &&Asked<'b>| asked.verb != Verb::Update && asked.body.is_some();
    let documents = possible.iter().copied().filter(|asked| is_document(asked));
    let mut bad: BTreeSet<u32> = BTreeSet::new();
    let mut checked = documents.clone();
    let mut note = |problem: Option<canter_index_builder::DocumentProblem>| {
        let (Some(asked), problem) = (checked.next(), problem) else {
            return;
        };
        if let Some(problem) = problem {
            let problem = refused_document(problem);
            lock(items).failed(asked.ord, problem);
            bad.insert(asked.ord);
        }
    };
    let all = documents.filter_map(|asked| asked.body());
    let told = lane.check_each(all, &mut note);
    told.map_err(|refusal| Problem::refused(&refusal))?;
    possible.retain(|asked| !bad.contains(&asked.ord));
    Ok(possible)
}

pub(super) fn lock(items: &Mutex<Items>) -> MutexGuard<'_, Items> {
    items.lock().unwrap_or_else(PoisonError::into_inner)
}
