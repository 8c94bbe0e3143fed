//! Answers to requests that manage indexes.

use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;

use super::answered::Answered;
use super::routes::Manage;
use super::{aliases, cluster, data_streams, indexes, pipelines, quickwit, templates};
use crate::http::{Bodies, Refuse};
use crate::indexes::Root;
use crate::requests::{ChangeRequest, Params, Problem, fail, respond};

/// Maximum size of a mapping or template: one with thousands of fields has some hundreds of kilobytes.
pub(crate) const MAX_MAPPING_BYTES: usize = 4 << 20;

/// Carries out a request.
pub(crate) async fn answer(
    manage: &Manage,
    request: &ChangeRequest<'_>,
    bodies: &Bodies,
    body: Body,
) -> Response {
    let Some(root) = request.root else {
        let message =
            "this server has no place for indexes that come and go: start it with --indexes-in";
        let status = StatusCode::BAD_REQUEST;
        return request.api.last_refusal(status, message);
    };
    if manage.is_about_all() && request.allowed.is_some() {
        let message = "templates and lists of data streams are about indexes of any name: they need a token for all indexes";
        let status = StatusCode::FORBIDDEN;
        return request.api.last_refusal(status, message);
    }
    let body = match bodies
        .read_up_to(request.headers, body, request.max_body_bytes)
        .await
    {
        Ok(body) => body,
        Err(unread) => return bodies.answer_to(&unread, request.api),
    };
    let mut params = match Params::of(request.query) {
        Ok(params) => params,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    match answered(root, manage, request, &mut params, &body.bytes).await {
        Ok((status, answer)) => respond(request, &params, status, answer),
        Err(problem) => fail(request, &problem),
    }
}

async fn answered(
    root: &Arc<Root>,
    manage: &Manage,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    body: &[u8],
) -> Answered {
    // There is only one node, so there is no master to wait for.
    params.text("master_timeout");
    match manage {
        Manage::Create(name) => indexes::create(root, request, params, name, body).await,
        Manage::PutMapping(name) => indexes::put_mapping(root, request, params, name, body).await,
        Manage::PutSettings(name) => indexes::put_settings(root, request, params, name, body).await,
        Manage::Delete(names) => indexes::delete(root, request, params, names).await,
        Manage::PutAlias(index, name) => {
            let names = (index.as_deref(), name.as_deref());
            aliases::put(root, request, params, names, body).await
        }
        Manage::DeleteAlias(indexes, names) => {
            aliases::delete(root, request, params, (indexes, names)).await
        }
        Manage::UpdateAliases => aliases::update(root, request, params, body).await,
        Manage::RollOver(name) => Err(Problem::illegal(format!(
            "[{name}] cannot be rolled over: an index keeps its splits small itself, and [retention] of its config deletes \
             old documents; use a date in the name, such as <{name}-{{now/d}}>, for an index for each day"
        ))),
        Manage::PutTemplate(kind, name) => templates::put(root, params, *kind, name, body).await,
        Manage::Templates(kind, names) => {
            templates::show(root, params, *kind, names.as_deref()).await
        }
        Manage::DeleteTemplates(kind, names) => templates::delete(root, params, *kind, names).await,
        Manage::Simulate(name) => templates::simulate(root, params, name).await,
        Manage::SimulatePipeline(name) => {
            pipelines::simulate(root, params, name.as_deref(), body).await
        }
        Manage::Patterns => pipelines::patterns(params),
        Manage::Block(names, block) => indexes::block(root, request, params, (names, block)).await,
        Manage::PutClusterSettings => cluster::put_settings(params, body),
        Manage::PutDataStream(name) => data_streams::create(root, request, params, name).await,
        Manage::DataStreams(names) => data_streams::show(root, params, names.as_deref()).await,
        Manage::DeleteDataStreams(names) => {
            data_streams::delete(root, request, params, names).await
        }
        Manage::CreateFromConfig => quickwit::create(root, request, params, body).await,
        Manage::DeleteOne(name) => quickwit::delete(root, request, params, name).await,
        Manage::Clear(name) => quickwit::clear(root, request, params, name).await,
    }
}
