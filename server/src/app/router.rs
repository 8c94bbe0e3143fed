//! Router: converts axum's requests for the searcher, and its answers.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use canter_access::Right;
use canter_index_builder::Aliases;
use canter_intake::FailingIndex;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, HttpAnswer};
use serde_json::{Value, json};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use url::form_urlencoded;

use super::state::App;
use crate::access::{Shut, caller_of, is_unbounded};
use crate::http::{
    AllowedHosts, Api, FollowTrace, Refuse, check_host, identify, page, speak_as_asked,
};
use crate::indexes::{Writers, resolved, with_aliases, with_settings};
use crate::managing::{self, Asking};
use crate::requests::{
    ChangeRequest, Problem, Stored, Written, may_be_stored, with_parts, written,
};
use crate::routes::{Change, CrossSite, Matched, document, matching};
use crate::settings::CompatibleWith;
use crate::writing::{self, Write};

/// Parameter of whether an answer waits for what is asked for.
const WAITS: &str = "wait_for_completion";

/// Minimum size of compressed answers: a shorter one fits into one packet anyway.
const MIN_COMPRESSED_BYTES: u16 = 1024;

/// Builds the router of the API and the other paths. All paths of the API except one go to the guest, which implements
/// them.
pub(super) fn router(app: Arc<App>, hosts: AllowedHosts, follow_trace: FollowTrace) -> Router {
    let router = Router::new()
        // An index may have this name: only what Prometheus asks for is not the API's.
        .route("/metrics", get(metrics).head(search).fallback(search))
        .route("/openapi.json", get(openapi))
        .merge(page::routes())
        .fallback(search)
        .with_state(Arc::clone(&app))
        .layer(from_fn(speak_as_asked));
    app.origins
        .share(router)
        // A page that uses a forbidden host name is refused everything.
        .layer(from_fn_with_state(Arc::new(hosts), check_host))
        .layer(compression())
        .layer(from_fn_with_state(follow_trace, identify))
}

/// Compresses answers if the client accepts it, at the cost of about 10 ms of one core per megabyte.
fn compression() -> CompressionLayer<impl Predicate> {
    let is_worth_it = SizeAbove::new(MIN_COMPRESSED_BYTES).and(NotForContentType::IMAGES);
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(is_worth_it)
}

async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    let headers = request.headers().clone();
    if asks_for_json(&headers) {
        return search(State(app), request).await;
    }
    if let Some(gate) = &app.gate {
        // Metrics cover all indexes and all clients.
        let shut = match gate.reader(&headers).await {
            Ok(grant) if is_unbounded(&grant) => None,
            Ok(_) => Some(Shut::Forbidden),
            Err(shut) => Some(shut),
        };
        if let Some(shut) = shut {
            return shut.answer(Api::Quickwit, &headers);
        }
    }
    if let Some(writers) = &app.writers {
        let (num_failures, failing) = writers.upkeep();
        app.metrics.set_upkeep(num_failures, failing.len());
    }
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, content_type)], app.metrics.encode()).into_response()
}

/// Returns whether a client reads JSON only, as Elasticsearch's do. Prometheus asks for texts.
fn asks_for_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("json") && !accepted.contains("text/"))
}

/// Needs no token and may be requested often, so it is built once.
async fn openapi() -> impl IntoResponse {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}

/// Dropped when the client disconnects, which cancels the search.
async fn search(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(page) = page::answer(parts.uri.path(), &parts.headers) {
        return page;
    }
    // Monitoring must be answered even by a busy server: these requests are cheap.
    let is_counted = !matches!(parts.uri.path(), "/health/livez" | "/health/readyz");
    let api = Api::of(parts.uri.path());
    if let Some(matched) = matching(&parts.method, &parts.uri) {
        if let Some(action) = in_background(&matched, &parts) {
            return self::begin(&app, (matched, action), api, (parts, body)).await;
        }
        return self::change(&app, &matched, api, &parts, body).await;
    }
    // The liveness check needs no token: it reads nothing and names nothing.
    let caller = match &app.gate {
        Some(gate) if parts.uri.path() != "/health/livez" => {
            match gate.reader(&parts.headers).await {
                Ok(grant) => caller_of(grant, &app.searcher.index_names()),
                Err(shut) => return shut.answer(api, &parts.headers),
            }
        }
        _ => app.caller.clone(),
    };
    let aliases = app
        .root
        .as_ref()
        .map(|root| root.aliases())
        .unwrap_or_default();
    if let Some(answer) = managing::shown(&parts, api, &aliases, || visible(&app, &caller)) {
        return answer;
    }
    if is_counted && app.line.available_permits() == 0 {
        return api.last_refusal(StatusCode::TOO_MANY_REQUESTS, NO_ROOM);
    }
    // No body is buffered for it: the client has shown no token.
    let body = match parts.uri.path() {
        "/health/livez" => Body::empty(),
        _ => body,
    };
    let body = match app.bodies.read(&parts.headers, body).await {
        Ok(body) => body,
        Err(unread) => return app.bodies.answer_to(&unread, api),
    };
    let _place = match is_counted.then(|| app.line.try_acquire()) {
        None => None,
        Some(Ok(place)) => Some(place),
        Some(Err(_)) => return api.refusal(StatusCode::TOO_MANY_REQUESTS, NO_ROOM),
    };
    let request = HttpRequest {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        body: body.bytes,
    };
    let stored = match stored(&app, &request).await {
        Ok(stored) => stored,
        Err(problem) => return api.refusal_of(problem.status, problem.kind, &problem.reason),
    };
    let request = match written(with_parts(request), &stored) {
        Ok(Written::Request(request)) => request,
        Ok(Written::Answer(answer)) => return api.answer(StatusCode::OK, &answer, false),
        Err(problem) => return api.refusal_of(problem.status, problem.kind, &problem.reason),
    };
    searched(&app, api, (&parts, request), (&caller, &aliases)).await
}

/// Returns the stored templates of searches, if a request may name one.
async fn stored(app: &App, request: &HttpRequest) -> Result<Stored, Problem> {
    match &app.root {
        Some(root) if may_be_stored(request) => {
            let templates = root.work(|root| root.catalog.templates().map_err(Problem::from));
            Ok(templates.await?.searches)
        }
        _ => Ok(Stored::new()),
    }
}

/// Lets the guest answer a request, with indexes in place of aliases.
async fn searched(
    app: &App,
    api: Api,
    (parts, request): (&Parts, HttpRequest),
    (caller, aliases): (&Caller, &Aliases),
) -> Response {
    if app.compatible_with == CompatibleWith::OpenSearch && is_root(parts) {
        return api.answer(StatusCode::OK, &open_search(), false);
    }
    let asking = Asking {
        parts,
        api,
        searcher: &app.searcher,
        limits: &app.limits,
        caller,
        aliases,
        root: app.root.as_ref(),
        tasks: &app.tasks,
        indexes: &|| visible(app, caller),
        is_gated: app.gate.is_some(),
    };
    if let Some(answer) = managing::told(&asking).await {
        return answer;
    }
    let is_ready = parts.uri.path() == "/health/readyz";
    let request = match resolved(request, aliases, || visible(app, caller)) {
        Ok(request) => request,
        Err(problem) => return api.refusal_of(problem.status, problem.kind, &problem.reason),
    };
    let (method, path) = (request.method.clone(), request.path.clone());
    let query = request.query.clone();
    let mut answer = app.searcher.http(request, caller, &app.limits).await;
    if answer.response.status == 200
        && let Some(body) = with_aliases(&method, &path, &answer.response.body, aliases)
    {
        answer.response.body = body;
    }
    if answer.response.status == 200
        && let Some(root) = &app.root
        && let about = (method.as_str(), path.as_str(), query.as_str())
        && let Some(body) = with_settings(about, &answer.response.body, || root.entries())
    {
        answer.response.body = body;
    }
    if let (true, 200, Some(writers)) = (is_ready, answer.response.status, &app.writers)
        && let Some(body) = readiness(&writers.upkeep().1, caller)
    {
        answer.response.body = body;
    }
    respond(answer)
}

/// Returns the names of the indexes that a caller may know of.
fn visible(app: &App, caller: &Caller) -> Vec<String> {
    let allowed = caller.indexes.clone();
    allowed.unwrap_or_else(|| app.searcher.index_names())
}

/// Returns whether a request asks who is there.
fn is_root(parts: &Parts) -> bool {
    parts.method == Method::GET
        && matches!(
            parts.uri.path(),
            "/" | "/api/v1/_elastic" | "/api/v1/_elastic/"
        )
}

/// Returns what OpenSearch's clients look for at the root: the version of the API, not of this program.
fn open_search() -> Value {
    json!({
        "name": "canter", "cluster_name": "canter", "cluster_uuid": "canter",
        "version": {
            "distribution": "opensearch", "number": "3.1.0", "build_type": "canter",
            "build_hash": env!("CARGO_PKG_VERSION"), "build_date": "1970-01-01T00:00:00Z", "build_snapshot": false,
            "lucene_version": "10.2.1", "minimum_wire_compatibility_version": "2.19.0",
            "minimum_index_compatibility_version": "2.0.0",
        },
        "tagline": "The OpenSearch Project: https://opensearch.org/",
    })
}

/// Returns the body of a readiness answer that lists the caller's indexes with failing upkeep; `None` if there are
/// none. Searches of these still work, so taking the server out of service would not help.
fn readiness(failing: &[(String, FailingIndex)], caller: &Caller) -> Option<Vec<u8>> {
    let may_know = |name: &String| {
        let allowed = caller.indexes.as_ref();
        allowed.is_none_or(|allowed| allowed.contains(name))
    };
    let failing = failing.iter().filter(|(name, _)| may_know(name));
    let failing = failing.map(|(name, index)| {
        json!({
            "index": name,
            "failed_merges": index.num_failed_merges,
            "failed_collections": index.num_failed_collections,
        })
    });
    let failing: Vec<Value> = failing.collect();
    let body = json!({ "ready": true, "failing_upkeep": failing });
    (!failing.is_empty()).then(|| body.to_string().into_bytes())
}

/// Returns the name of a change that is to go on behind its answer: one of many documents, with
/// `wait_for_completion=false`.
fn in_background(matched: &Matched, parts: &Parts) -> Option<&'static str> {
    let action = match matched.change()? {
        Change::Documents(Write::DeleteByQuery(_)) => "indices:data/write/delete/byquery",
        Change::Documents(Write::UpdateByQuery(_)) => "indices:data/write/update/byquery",
        Change::Documents(Write::Reindex) => "indices:data/write/reindex",
        _ => return None,
    };
    let query = parts.uri.query().unwrap_or_default();
    let mut params = form_urlencoded::parse(query.as_bytes());
    let is_asked = |(name, value): (_, _)| name == WAITS && value == "false";
    params.any(is_asked).then_some(action)
}

/// Returns the writers of a server that may make a change, or the refusal of one that may not, and of a page that may not.
fn writers_for<'a>(
    app: &'a App,
    matched: &Matched,
    api: Api,
    parts: &Parts,
) -> Result<&'a Arc<Writers>, Box<Response>> {
    let Some(writers) = &app.writers else {
        let message = "this server only searches: start it with --writable to send it documents";
        return Err(Box::new(api.last_refusal(StatusCode::FORBIDDEN, message)));
    };
    // Before tokens: the tokens of a page that may not write are the browser's, which sends them automatically.
    match matched.route.cross_site {
        CrossSite::Refused => {
            let checked = app.origins.check_write(parts);
            checked.map_err(|foreign| Box::new(foreign.answer(api)))?;
        }
        CrossSite::Answered => {}
    }
    Ok(writers)
}

/// Begins a change and answers with its task. Its body is read before, and who may not make it is refused.
async fn begin(
    app: &Arc<App>,
    (matched, action): (Matched, &'static str),
    api: Api,
    (mut parts, body): (Parts, Body),
) -> Response {
    if let Err(refusal) = writers_for(app, &matched, api, &parts) {
        return *refusal;
    }
    if let Some(gate) = &app.gate
        && let Err(shut) = gate.holder_of(matched.rights(), &parts.headers).await
    {
        return shut.answer(api, &parts.headers);
    }
    let body = match app.bodies.read(&parts.headers, body).await {
        Ok(body) => body,
        Err(unread) => return app.bodies.answer_to(&unread, api),
    };
    parts.headers.remove(CONTENT_ENCODING);
    parts.headers.remove(CONTENT_LENGTH);
    let mut left = form_urlencoded::Serializer::new(String::new());
    let query = parts.uri.query().unwrap_or_default();
    let others = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != WAITS);
    left.extend_pairs(others);
    match format!("{}?{}", parts.uri.path(), left.finish()).parse() {
        Ok(uri) => parts.uri = uri,
        Err(_) => return api.refusal(StatusCode::BAD_REQUEST, "the URL cannot be read"),
    }
    let task = match app.tasks.begin(action) {
        Ok(task) => task,
        Err(problem) => return api.refusal_of(problem.status, problem.kind, &problem.reason),
    };
    let answer = json!({ "task": task.id() });
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let response = change(&app, &matched, api, &parts, Body::from(body.bytes)).await;
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await;
        task.end(status, &body.unwrap_or_default());
    });
    api.answer(StatusCode::OK, &answer, false)
}

/// Adds or deletes documents, or indexes.
async fn change(app: &App, matched: &Matched, api: Api, parts: &Parts, body: Body) -> Response {
    let writers = match writers_for(app, matched, api, parts) {
        Ok(writers) => writers,
        Err(refusal) => return *refusal,
    };
    let Some(change) = matched.change() else {
        return api.last_refusal(StatusCode::NOT_FOUND, "there is no such path");
    };
    let (caller, allowed, may_delete) = match &app.gate {
        None => (app.caller.clone(), None, true),
        Some(gate) => match gate.holder_of(matched.rights(), &parts.headers).await {
            Ok(grant) => {
                let allowed = grant.indexes.clone();
                let may_delete = grant.rights.contains(&Right::Delete);
                let caller = caller_of(grant, &app.searcher.index_names());
                (caller, allowed, may_delete)
            }
            Err(shut) => return shut.answer(api, &parts.headers),
        },
    };
    // A filter restricts deletions. It cannot restrict additions, because new documents are not matched with queries.
    let heeds_filter = matches!(change, Change::Documents(Write::DeleteByQuery(_)));
    if caller.forced_filter.is_some() && !heeds_filter {
        let message =
            "a client with a filter can search and delete matching documents, but not add any";
        return api.last_refusal(StatusCode::FORBIDDEN, message);
    }
    let request = ChangeRequest {
        api,
        query: parts.uri.query().unwrap_or_default(),
        headers: &parts.headers,
        max_body_bytes: matched.route.body.max_bytes(writers.bodies().max_bytes()),
        caller: &caller,
        may_delete,
        searcher: &app.searcher,
        limits: &app.limits,
        allowed: allowed.as_deref(),
        root: app.root.as_ref(),
    };
    match change {
        Change::Documents(write) => writing::answer(writers, write, request, body).await,
        Change::Indexes(manage) => {
            managing::answer(&manage, &request, writers.bodies(), body).await
        }
    }
}

const NO_ROOM: &str = "all guests are busy and as many requests wait as may: try again, or raise \
                       --max-instances or --max-waiting";

/// Returns the guest's response, with this host's headers about the search.
fn respond(answer: HttpAnswer) -> Response {
    let cost = answer.cost_headers();
    let HttpAnswer { response, .. } = answer;
    let mut headers = response.headers;
    headers.extend(
        cost.into_iter()
            .map(|(name, value)| (name.to_owned(), value)),
    );
    let mut http = Response::new(Body::from(response.body));
    *http.status_mut() =
        StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (
            HeaderName::try_from(name.as_str()),
            HeaderValue::try_from(value),
        ) {
            http.headers_mut().insert(name, value);
        }
    }
    http
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_names_the_callers_indexes_that_are_not_kept_in_order() {
        let failing = ["logs", "traces"].map(|name| {
            let index = FailingIndex {
                uri: format!("/{name}"),
                num_failed_merges: 3,
                num_failed_collections: 0,
            };
            (name.to_owned(), index)
        });
        let check = |allowed: Option<&[&str]>, expected: Option<Value>| {
            let caller = Caller {
                indexes: allowed.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
                forced_filter: None,
            };
            let body = readiness(&failing, &caller);
            let body = body.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
            assert_eq!(body, expected);
        };
        let of = |name: &str| json!({ "index": name, "failed_merges": 3, "failed_collections": 0 });
        check(
            None,
            Some(json!({ "ready": true, "failing_upkeep": [of("logs"), of("traces")] })),
        );
        check(
            Some(&["logs"]),
            Some(json!({ "ready": true, "failing_upkeep": [of("logs")] })),
        );
        check(Some(&["other"]), None);
        assert_eq!(readiness(&[], &Caller::default()), None);
    }
}
