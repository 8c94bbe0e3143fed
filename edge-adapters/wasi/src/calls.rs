//! Concurrent requests to a store through `wasi:http`: one `poll` waits for all of them.

use canter_edge_io::{Call, Landed, Platform, Reception};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, OutgoingRequest,
    RequestOptions, Scheme, http_error_code,
};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{InputStream, StreamError};

const SECOND_NS: u64 = 1_000_000_000;
/// Maximum time to connect.
const CONNECT_TIMEOUT_NS: u64 = 10 * SECOND_NS;
/// Maximum time to wait for the next bytes of an answer.
const READ_TIMEOUT_NS: u64 = 30 * SECOND_NS;
/// Maximum number of bytes of one read of a body.
const READ_LEN: u64 = 256 << 10;

/// Clocks and HTTP client of WASI.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wasi;

/// Running call.
pub(crate) enum Flight {
    /// Nothing has arrived yet.
    Head(Awaited, Call),
    /// The body is arriving.
    Body(Incoming, Reception),
}

/// Answer that has not begun. Fields are dropped in order: the pollable must be dropped before its
/// resource, as WASI requires.
pub(crate) struct Awaited {
    pollable: Pollable,
    future: FutureIncomingResponse,
}

/// Answer whose body is arriving. The order of the fields matters here, too.
pub(crate) struct Incoming {
    pollable: Pollable,
    stream: InputStream,
    _body: IncomingBody,
    _response: IncomingResponse,
}

/// State of a flight after a step.
enum Step {
    Goes(Flight),
    Over(Landed),
}

impl Platform for Wasi {
    type Flight = Flight;

    fn now_us(&self) -> u64 {
        monotonic_clock::now() / 1000
    }

    fn unix_ms(&self) -> u64 {
        let now = wall_clock::now();
        now.seconds * 1000 + u64::from(now.nanoseconds) / 1_000_000
    }

    fn can_pause(&self) -> bool {
        true
    }

    fn send(&mut self, call: Call) -> Result<Flight, Landed> {
        let future = request_of(&call)
            .and_then(|request| {
                outgoing_handler::handle(request, Some(timeouts())).map_err(|code| text_of(&code))
            })
            .map_err(|why| call.unreachable(&why))?;
        let pollable = future.subscribe();
        Ok(Flight::Head(Awaited { pollable, future }, call))
    }

    fn wait(&mut self, flights: &mut Vec<Flight>, until_us: Option<u64>) -> Option<Landed> {
        let timer =
            until_us.map(|until| monotonic_clock::subscribe_instant(until.saturating_mul(1000)));
        loop {
            let pollables = flights.iter().map(Flight::pollable);
            let pollables: Vec<&Pollable> = pollables.chain(&timer).collect();
            if pollables.is_empty() {
                return None;
            }
            let mut ready = poll(&pollables);
            let is_time_up = timer.is_some() && ready.contains(&(flights.len() as u32));
            // Ready flights come in any order. They are processed from the last one, so that the
            // positions of the others stay valid.
            ready.sort_unstable_by(|a, b| b.cmp(a));
            for place in ready {
                let place = place as usize;
                if place >= flights.len() {
                    continue;
                }
                match flights.swap_remove(place).step() {
                    Step::Over(landed) => return Some(landed),
                    // The flight is appended and swapped back to its position.
                    Step::Goes(flight) => {
                        flights.push(flight);
                        let last = flights.len() - 1;
                        flights.swap(place, last);
                    }
                }
            }
            if is_time_up {
                return None;
            }
        }
    }
}

impl Flight {
    fn pollable(&self) -> &Pollable {
        match self {
            Flight::Head(awaited, _) => &awaited.pollable,
            Flight::Body(incoming, _) => &incoming.pollable,
        }
    }

    /// Processes the data that is available.
    fn step(self) -> Step {
        match self {
            Flight::Head(awaited, call) => match awaited.future.get() {
                None => Step::Goes(Flight::Head(awaited, call)),
                Some(Ok(Ok(response))) => begin(call, response),
                Some(Ok(Err(code))) => Step::Over(call.unreachable(&text_of(&code))),
                Some(Err(())) => Step::Over(call.unreachable("the answer was taken twice")),
            },
            Flight::Body(incoming, reception) => receive(incoming, reception),
        }
    }
}

fn begin(call: Call, response: IncomingResponse) -> Step {
    let mut headers = HeaderMap::new();
    for (name, value) in response.headers().entries() {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value)) {
            headers.append(name, value);
        }
    }
    let unreachable = call.unreachable("the answer has no body");
    let reception = match Reception::begin(call, response.status(), &headers) {
        Ok(reception) => reception,
        Err(landed) => return Step::Over(landed),
    };
    let incoming = response.consume().and_then(|body| {
        let stream = body.stream()?;
        Ok(Incoming {
            pollable: stream.subscribe(),
            stream,
            _body: body,
            _response: response,
        })
    });
    match incoming {
        Ok(incoming) => receive(incoming, reception),
        Err(()) => Step::Over(unreachable),
    }
}

/// Reads the available part of a body.
fn receive(incoming: Incoming, mut reception: Reception) -> Step {
    loop {
        match incoming.stream.read(READ_LEN) {
            Ok(part) if part.is_empty() => return Step::Goes(Flight::Body(incoming, reception)),
            Ok(part) => {
                if let Err(landed) = reception.take(&part) {
                    return Step::Over(landed);
                }
            }
            Err(StreamError::Closed) => return Step::Over(reception.end()),
            Err(StreamError::LastOperationFailed(error)) => {
                return Step::Over(match http_error_code(&error) {
                    Some(
                        code @ (ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout),
                    ) => reception.unreachable(&text_of(&code)),
                    _ => reception.broken(),
                });
            }
        }
    }
}

fn request_of(call: &Call) -> Result<OutgoingRequest, String> {
    let fields = Fields::new();
    for (name, value) in call.headers() {
        fields
            .append(name.as_str(), value.as_bytes())
            .map_err(|error| format!("the header {name} is refused here: {error}"))?;
    }
    let request = OutgoingRequest::new(fields);
    let url = &call.url;
    let scheme = match url.scheme() {
        "https" => Scheme::Https,
        _ => Scheme::Http,
    };
    let host = url.host_str().unwrap_or_default();
    let authority = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let is_set = request.set_scheme(Some(&scheme)).is_ok()
        && request.set_authority(Some(&authority)).is_ok()
        && request.set_path_with_query(Some(&path)).is_ok();
    match is_set {
        true => Ok(request),
        false => Err(format!("{authority} cannot be asked for {path}")),
    }
}

/// Returns the timeouts. A host that does not support them uses its own.
fn timeouts() -> RequestOptions {
    let options = RequestOptions::new();
    let _ = options.set_connect_timeout(Some(CONNECT_TIMEOUT_NS));
    let _ = options.set_first_byte_timeout(Some(READ_TIMEOUT_NS));
    let _ = options.set_between_bytes_timeout(Some(READ_TIMEOUT_NS));
    options
}

/// Returns a description of the error.
fn text_of(code: &ErrorCode) -> String {
    let what = match code {
        ErrorCode::ConnectionRefused => "the connection was refused",
        ErrorCode::ConnectionTimeout => "no connection in time",
        ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout => "no answer in time",
        ErrorCode::ConnectionTerminated => "the connection was closed before an answer came",
        ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
            "the name of the host is not known"
        }
        ErrorCode::HttpRequestDenied => {
            "the runtime does not allow this request; allow it where the component is started"
        }
        other => return format!("the request failed: {other:?}"),
    };
    what.to_owned()
}
