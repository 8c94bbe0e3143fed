//! Answers to requests that write.

use axum::body::Body;
use axum::response::Response;
use canter_intake::Verb;

use super::adding::lanes_of;
use super::routes::Write;
use super::{bulk, copying, delete, lines, logs};
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Problem, fail};

/// Carries out a request.
pub(crate) async fn answer(
    writers: &Writers,
    write: Write<'_>,
    request: ChangeRequest<'_>,
    body: Body,
) -> Response {
    let headers = request.headers;
    let body = match writers
        .bodies()
        .read_up_to(headers, body, request.max_body_bytes)
        .await
    {
        Ok(body) => body,
        Err(unread) => return writers.bodies().answer_to(&unread, request.api),
    };
    let bytes = body.bytes.as_slice();
    match write {
        Write::Bulk(index) => bulk::bulk(writers, &request, index, body).await,
        Write::Document(index, id) => {
            bulk::document(writers, &request, (Verb::Index, index, id), bytes).await
        }
        Write::Create(index, id) => {
            bulk::document(writers, &request, (Verb::Create, index, Some(id)), bytes).await
        }
        Write::Delete(index, id) => {
            bulk::document(writers, &request, (Verb::Delete, index, Some(id)), bytes).await
        }
        Write::Update(index, id) => {
            bulk::document(writers, &request, (Verb::Update, index, Some(id)), bytes).await
        }
        Write::Refresh(indexes) => bulk::refresh(writers, &request, indexes).await,
        Write::Lines(index) => lines::ingest(writers, &request, index, bytes).await,
        Write::Logs => logs::logs(writers, &request, bytes).await,
        Write::UpdateByQuery(indexes) => {
            copying::update_by_query(writers, &request, indexes, bytes).await
        }
        Write::Reindex => copying::reindex(writers, &request, bytes).await,
        Write::DeleteByQuery(indexes) => match blocked(writers, &request, indexes) {
            Some(problem) => fail(&request, &problem),
            None => delete::delete(writers, &request, indexes, bytes).await,
        },
    }
}

/// Returns why documents of one of these indexes cannot be changed, if that is so.
fn blocked(writers: &Writers, request: &ChangeRequest<'_>, indexes: &str) -> Option<Problem> {
    let root = request.root?;
    // Names that there are not are refused later.
    let lanes = lanes_of(writers, request, indexes).unwrap_or_default();
    lanes
        .iter()
        .find_map(|(name, _)| root.block_on_writes(name))
}
