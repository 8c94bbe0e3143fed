//! Which lane takes documents: that of an index that is there, or of one that is made for them. If another server has deleted the
//! index a moment ago, it is the lane of the one that has its name by then.

use std::sync::Arc;

use canter_intake::Lane;

use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Problem};

/// What becomes of an index that there is not, when it is sent documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// It is made, if a template or the server's settings say so.
    MadeForDocuments,
    /// The same, for OpenTelemetry's logs.
    MadeForLogs,
    /// Nothing.
    Left,
}

/// Adds documents to an index by `add`, and once more if the index is gone by then: none of them is in it.
///
/// # Errors
/// If there is no such index, and as `add`.
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
    // Another server has deleted it, and perhaps made it anew.
    root.refresh().await?;
    let lane = lane_of(writers, request, index, absent).await?;
    add(lane).await
}

/// The lane of an index. Another server may have made that a moment ago.
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
            Absent::MadeForLogs => root.make_for_logs(index).await?,
            Absent::Left => root.refresh().await?,
        }
    }
    let writer = request.writer(writers, index);
    let lane = writer.map(|writer| writer.lane);
    lane.ok_or_else(|| Problem::no_index(index))
}
