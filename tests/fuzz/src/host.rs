//! Single-threaded host over objects in memory: answers every demand of a session at once.

use std::collections::BTreeMap;

use bytes::Bytes;
use canter_guest::{SearchError, Session};
use canter_protocol::{
    Demand, FetchErrorKind, HostReport, HttpRequest, Outcome, Progress, Supply, SupplyResult,
};
use serde_json::Value;

/// Maximum number of steps: more than any search of a small index takes, so the session is stuck.
const MAX_STEPS: usize = 1_000;

/// Objects by name.
pub(crate) type Objects = BTreeMap<String, Vec<u8>>;

/// Opens a search of the only index within the guest's `limits`, in at most `max_leaves` leaves.
pub(crate) fn search(
    request: &Value,
    limits: &str,
    max_leaves: u32,
) -> Result<Session, SearchError> {
    let request = HttpRequest {
        body: request.to_string().into_bytes(),
        ..HttpRequest::default()
    };
    let settings = format!(r#"{{"indexes": [], "is_of_host": true, "limits": {limits}}}"#);
    Session::http(&request, &settings, max_leaves)
}

/// Returns the answer that a session ended with.
pub(crate) fn answer_of(end: &Result<Outcome, SearchError>) -> Option<Value> {
    match end {
        Ok(Outcome::Http(response)) if response.status == 200 => {
            Some(serde_json::from_slice(&response.body).expect("an answer is JSON"))
        }
        _ => None,
    }
}

/// Runs a session to its end. `cache` answers look-ups.
pub(crate) fn run(
    mut session: Session,
    objects: &Objects,
    cache: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<Outcome, SearchError> {
    let mut supplies = Vec::new();
    for _ in 0..MAX_STEPS {
        match session.step(std::mem::take(&mut supplies), HostReport::default())? {
            Progress::Pending(demand) => supplies = answer(&demand, objects, cache),
            Progress::Done(outcome) => return Ok(outcome),
        }
    }
    panic!("the session does not come to an end");
}

fn answer(
    demand: &Demand,
    objects: &Objects,
    cache: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Vec<Supply> {
    let reads = demand.reads.iter().map(|read| Supply {
        id: read.id,
        outcome: range(objects, &read.object, read.offset, read.len),
    });
    let lookups = demand.lookups.iter().map(|lookup| Supply {
        id: lookup.id,
        outcome: cache(&lookup.key).map_or(SupplyResult::Miss, |bytes| {
            SupplyResult::Bytes(bytes.into())
        }),
    });
    reads.chain(lookups).collect()
}

fn range(objects: &Objects, name: &str, offset: u64, len: Option<u64>) -> SupplyResult {
    let failed = |kind, message: &str| SupplyResult::Failed {
        kind,
        message: message.to_owned(),
    };
    let Some(object) = objects.get(name) else {
        return failed(FetchErrorKind::NotFound, "there is no such object");
    };
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let end = match len {
        None => object.len(),
        Some(len) => start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)),
    };
    match object.get(start..end) {
        Some(bytes) => SupplyResult::Bytes(Bytes::copy_from_slice(bytes)),
        None => failed(
            FetchErrorKind::Truncated,
            "the object ends before the range does",
        ),
    }
}
