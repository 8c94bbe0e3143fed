//! `wasi:http/incoming-handler`: the search API over HTTP, configured by the environment.

use std::collections::BTreeMap;

use canter_edge_io::{FolderCache, Host, Options, parse_bytes, parse_indexes};
use canter_guest::http_refusal;
use canter_protocol::{HttpRequest, HttpResponse};
use wasip2::cli::environment::get_environment;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam,
};
use wasip2::io::streams::{OutputStream, StreamError};

use crate::calls::Wasi;
use crate::store;

/// Maximum length of a request body: 1 MiB.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Answers a request, and then writes to the cache.
pub(crate) fn handle(request: IncomingRequest, out: ResponseOutparam) {
    let origin = environment().remove("CANTER_CORS_ORIGIN");
    let allowed = origin.filter(|origin| !origin.is_empty());
    let (mut response, host) = match (is_preflight(&request), &allowed) {
        (true, Some(_)) => (preflight(), None),
        _ => answer(request),
    };
    if let Some(origin) = allowed {
        let name = "access-control-allow-origin".to_owned();
        response.headers.push((name, origin));
    }
    let response = match OutgoingResponse::new(fields_of(&response)) {
        outgoing if outgoing.set_status_code(response.status).is_ok() => Ok((outgoing, response)),
        _ => Err(ErrorCode::InternalError(Some("no such status".to_owned()))),
    };
    let sent = match response {
        Ok((outgoing, response)) => send(out, outgoing, &response.body),
        Err(code) => {
            ResponseOutparam::set(out, Err(code));
            Ok(())
        }
    };
    if let Err(message) = sent {
        eprintln!("the answer could not be sent: {message}");
    }
    if let Some(mut host) = host {
        host.settle();
    }
}

const UNUSABLE_SETTINGS: &str = "the settings of this service cannot be used; its log says why";

type WasiHost = Host<Wasi, Option<FolderCache>>;

fn answer(request: IncomingRequest) -> (HttpResponse, Option<WasiHost>) {
    let target = request.path_with_query().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut host = match host() {
        Ok(host) => host,
        Err(message) => {
            // This goes to the operator's log, since it may contain secrets of a store.
            eprintln!("error: {message}");
            return (http_refusal(path, 500, UNUSABLE_SETTINGS), None);
        }
    };
    let body = match read_body(&request, path) {
        Ok(body) => body,
        Err(response) => return (response, None),
    };
    let request = HttpRequest {
        method: method_of(&request.method()),
        path: path.to_owned(),
        query: query.to_owned(),
        body,
    };
    let answer = host.answer(&request);
    let costs = answer.cost_headers();
    let mut response = answer.response;
    let costs = costs.into_iter();
    let costs = costs.map(|(name, value)| (name.to_owned(), value));
    response.headers.extend(costs);
    (response, Some(host))
}

fn environment() -> BTreeMap<String, String> {
    get_environment().into_iter().collect()
}

/// Returns a host with the settings of the environment.
fn host() -> Result<WasiHost, String> {
    let environment = environment();
    let setting = |name: &str| environment.get(name).cloned();
    let indexes = setting("CANTER_INDEXES").unwrap_or_default();
    let indexes = parse_indexes(&indexes).map_err(|error| {
        format!("CANTER_INDEXES: {error} (such as --env CANTER_INDEXES=logs=https://host/logs)")
    })?;
    let cache_bytes = match setting("CANTER_CACHE_BYTES").filter(|value| !value.is_empty()) {
        Some(value) => {
            parse_bytes(&value).map_err(|error| format!("CANTER_CACHE_BYTES: {error}"))?
        }
        None => store::MAX_CACHE_BYTES,
    };
    let options = Options::default().with_settings(|name| Ok(setting(name)))?;
    let cache = store::open(cache_bytes).map_err(|error| format!("CANTER_CACHE_BYTES: {error}"))?;
    Ok(Host::new(Wasi, cache, options, indexes))
}

fn method_of(method: &Method) -> String {
    let name = match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => name,
    };
    name.to_owned()
}

/// Returns the body of a request for `path`, or a refusal in the form of the API that the client
/// uses.
fn read_body(request: &IncomingRequest, path: &str) -> Result<Vec<u8>, HttpResponse> {
    let broken = |()| http_refusal(path, 400, "the request's body broke off");
    let body = request.consume().map_err(broken)?;
    let stream = body.stream().map_err(broken)?;
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(64 << 10) {
            Ok(part) => bytes.extend_from_slice(&part),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(_)) => return Err(broken(())),
        }
        if bytes.len() > MAX_BODY_BYTES {
            let message = format!("the body has more than {MAX_BODY_BYTES} bytes");
            return Err(http_refusal(path, 413, &message));
        }
    }
}

fn is_preflight(request: &IncomingRequest) -> bool {
    let asks = request.headers().has("access-control-request-method");
    asks && matches!(request.method(), Method::Options)
}

/// Returns the answer to a browser's preflight request.
fn preflight() -> HttpResponse {
    let headers = [
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-allow-headers", "content-type"),
        ("access-control-max-age", "86400"),
    ];
    HttpResponse {
        status: 204,
        headers: headers
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        body: Vec::new(),
    }
}

fn fields_of(response: &HttpResponse) -> Fields {
    let fields = Fields::new();
    for (name, value) in &response.headers {
        if fields.append(name, value.as_bytes()).is_err() {
            eprintln!("the header {name} is refused here");
        }
    }
    let len = response.body.len().to_string();
    let _ = fields.append("content-length", len.as_bytes());
    fields
}

fn send(out: ResponseOutparam, response: OutgoingResponse, bytes: &[u8]) -> Result<(), String> {
    let body = response.body();
    ResponseOutparam::set(out, Ok(response));
    let body = body.map_err(|()| "its body was taken twice".to_owned())?;
    {
        let stream = body
            .write()
            .map_err(|()| "its body was taken twice".to_owned())?;
        write_all(&stream, bytes).map_err(|error| error.to_string())?;
    }
    OutgoingBody::finish(body, None).map_err(|code| format!("{code:?}"))
}

fn write_all(stream: &OutputStream, mut bytes: &[u8]) -> Result<(), StreamError> {
    let ready = stream.subscribe();
    while !bytes.is_empty() {
        let room = usize::try_from(stream.check_write()?).unwrap_or(usize::MAX);
        if room == 0 {
            ready.block();
            continue;
        }
        let (part, rest) = bytes.split_at(room.min(bytes.len()));
        stream.write(part)?;
        bytes = rest;
    }
    stream.flush()?;
    ready.block();
    stream.check_write().map(drop)
}
