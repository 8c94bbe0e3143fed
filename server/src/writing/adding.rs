//! The lane for documents: that of an existing index, or of one created for them. If another server has just deleted
//! the index, it is the lane of the new index with that name.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_access::matches_any;
use canter_intake::Lane;

use crate::indexes::{Writer, Writers};
use crate::requests::{ChangeRequest, Problem};

/// Treatment of documents for a missing index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// The index is created, if a template or the server's settings say so.
    MadeForDocuments,
    /// The index is created, because the request names it as what it copies into.
    MadeForCopies,
    /// The index is created for OpenTelemetry's logs.
    MadeForLogs,
    /// The index is not created.
    Left,
}

/// Adds documents to an index with `add`, and once more if the index is gone by then, in which case none of them was
/// added.
///
/// # Errors
/// If there is no such index, and errors of `add`.
pub(super) async fn add_to<T, F>(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    index: &str,
    absent: Absent,
    add: impl Fn(Arc<Lane>) -> F,
) -> Result<T, Problem>
where
    F: Future<Output = Result<T, Problem>>,
{
    let lane = lane_of(writers, request, index, absent).await?;
    let gone = match add(lane).await {
        Err(problem) if problem.is_no_index() => problem,
        added => return added,
    };
    let Some(root) = request.root else {
        return Err(gone);
    };
    // Another server has deleted it, and perhaps created it again.
    root.refresh().await?;
    let lane = lane_of(writers, request, index, absent).await?;
    add(lane).await
}

/// Returns the lane of an index. Another server may have just created that.
async fn lane_of(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    index: &str,
    absent: Absent,
) -> Result<Arc<Lane>, Problem> {
    if let Some(writer) = request.writer(writers, index) {
        return Ok(writer.lane);
    }
    if let Some(root) = request.root.filter(|_| request.allows(index)) {
        match absent {
            Absent::MadeForDocuments => root.make_for_documents(index).await?,
            Absent::MadeForCopies => root.make_for_copies(index).await?,
            Absent::MadeForLogs => root.make_for_logs(index).await?,
            Absent::Left => root.refresh().await?,
        }
    }
    let writer = request.writer(writers, index);
    let lane = writer.map(|writer| writer.lane);
    lane.ok_or_else(|| Problem::no_index(index))
}

/// Returns the indexes that match a list of names and patterns, among those that the caller may know of.
pub(super) fn lanes_of(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    names: &str,
) -> Result<Vec<(String, Writer)>, Problem> {
    let known = writers.names();
    let names = request.expanded(names, &known)?.names;
    let mut found: BTreeMap<String, Writer> = BTreeMap::new();
    for pattern in names.split(',') {
        let pattern = if pattern == "_all" { "*" } else { pattern };
        // As in searches, it excludes indexes found so far.
        if let Some(excluded) = pattern.strip_prefix('-')
            && !found.is_empty()
        {
            let excluded = [excluded.to_owned()];
            found.retain(|name, _| !matches_any(&excluded, name));
            continue;
        }
        let patterns = [pattern.to_owned()];
        let mut is_any = pattern.contains('*');
        for name in known.iter().filter(|name| matches_any(&patterns, name)) {
            if let Some(writer) = request.writer(writers, name) {
                is_any = true;
                found.insert(name.clone(), writer);
            }
        }
        if !is_any {
            return Err(Problem::no_index(pattern));
        }
    }
    Ok(found.into_iter().collect())
}
