//! Processing of a client's request.

use canter_guest::http_refusal;
use canter_protocol::{HttpRequest, HttpResponse};
use fastly::compute_runtime::{elapsed_vcpu_ms, heap_memory_snapshot_mib};
use fastly::http::StatusCode;
use fastly::{Request, Response};

use crate::config::{Config, FastlyHost};

const UNUSABLE_SETTINGS: &str = "the settings of this service cannot be used; its log says why";

/// Maximum length of a request body: 1 MiB.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Answers one request, and then writes to the cache.
pub(crate) fn run() {
    let request = Request::from_client();
    let config = Config::open();
    let origin = config.get("CANTER_CORS_ORIGIN").ok().flatten();
    let is_preflight = request.get_method_str() == "OPTIONS"
        && request.contains_header("access-control-request-method");
    let (mut response, host) = match is_preflight && origin.is_some() {
        true => (preflight(), None),
        false => answer(request, &config),
    };
    if let Some(origin) = origin {
        response.set_header("access-control-allow-origin", origin);
    }
    response.send_to_client();
    if let Some(mut host) = host {
        host.settle();
    }
}

fn answer(request: Request, config: &Config) -> (Response, Option<FastlyHost>) {
    let mut host = match config.host() {
        Ok(host) => host,
        Err(message) => {
            // This goes to the operator's log, since it may contain secrets of a store.
            eprintln!("error: {message}");
            return (refusal(request.get_path(), 500, UNUSABLE_SETTINGS), None);
        }
    };
    let request = match read(request) {
        Ok(request) => request,
        Err(response) => return (response, None),
    };
    let answer = host.answer(&request);
    let costs = answer.cost_headers();
    let shows_cost = answer.shows_cost;
    let mut response = to_fastly(answer.response);
    for (name, value) in costs {
        response.set_header(name, value);
    }
    if !shows_cost {
        return (response, Some(host));
    }
    // These are the resources that the platform limits: processor time, and the heap, which never
    // shrinks during a request.
    if let Ok(cpu_ms) = elapsed_vcpu_ms() {
        response.set_header("x-canter-cpu-ms", cpu_ms.to_string());
    }
    if let Ok(heap_mib) = heap_memory_snapshot_mib() {
        response.set_header("x-canter-heap-mib", heap_mib.to_string());
    }
    (response, Some(host))
}

fn read(mut request: Request) -> Result<HttpRequest, Response> {
    let mut body = Vec::new();
    let path = request.get_path().to_owned();
    for part in request.take_body().read_chunks(64 << 10) {
        let part = part.map_err(|_| refusal(&path, 400, "the request's body broke off"))?;
        body.extend_from_slice(&part);
        if body.len() > MAX_BODY_BYTES {
            let message = format!("the body has more than {MAX_BODY_BYTES} bytes");
            return Err(refusal(&path, 413, &message));
        }
    }
    Ok(HttpRequest {
        method: request.get_method_str().to_owned(),
        path,
        query: request.get_query_str().unwrap_or_default().to_owned(),
        body,
    })
}

fn to_fastly(response: HttpResponse) -> Response {
    let status = StatusCode::from_u16(response.status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut fastly = Response::from_status(status).with_body(response.body);
    for (name, value) in response.headers {
        fastly.append_header(name, value);
    }
    fastly
}

/// Returns the answer to a browser's preflight request.
fn preflight() -> Response {
    Response::from_status(StatusCode::NO_CONTENT)
        .with_header("access-control-allow-methods", "GET, POST")
        .with_header("access-control-allow-headers", "content-type")
        .with_header("access-control-max-age", "86400")
}

/// Returns a refusal of a request for `path` when there is no host, in the form of the API that the
/// client uses.
fn refusal(path: &str, status: u16, message: &str) -> Response {
    to_fastly(http_refusal(path, status, message))
}
