//! Requests to a store through Fastly's backends: `send_async` sends them, and `select` waits for
//! the next answer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use canter_edge_io::{Call, Landed, Platform, Reception};
use fastly::backend::Backend;
use fastly::compute_runtime::elapsed_vcpu_ms;
use fastly::http::request::{PendingRequest, select};
use fastly::{Request, Response};
use http::header::RANGE;
use url::Url;

/// Maximum time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time to wait for an answer and for its next bytes.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of body bytes that are read at once.
const READ_LEN: usize = 64 << 10;

/// Clock and backends of Fastly.
#[derive(Debug)]
pub(crate) struct Fastly {
    started: Instant,
    /// Backend of all indexes. Without it, each host becomes a dynamic backend.
    backend: Option<String>,
    dynamic: BTreeMap<String, Backend>,
}

/// Running call. `select` returns the finished request, by which its call is found.
pub(crate) struct Flight {
    call: Call,
    pending: PendingRequest,
}

impl Fastly {
    pub(crate) fn new(backend: Option<String>) -> Self {
        Self {
            started: Instant::now(),
            backend,
            dynamic: BTreeMap::new(),
        }
    }

    fn backend_of(&mut self, url: &Url) -> Result<Backend, String> {
        if let Some(name) = &self.backend {
            let missing = |error| format!("the backend {name:?} cannot be used: {error}");
            return Backend::from_name(name).map_err(missing);
        }
        let host = url.host_str().unwrap_or_default();
        // A signature may cover the host with a port that is not the scheme's default.
        let host_header = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let authority = match url.port_or_known_default() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let is_secure = url.scheme() == "https";
        let name = format!("{}-{authority}", url.scheme());
        if let Some(backend) = self.dynamic.get(&name) {
            return Ok(backend.clone());
        }
        let builder = Backend::builder(&name, &authority)
            .override_host(&host_header)
            .connect_timeout(CONNECT_TIMEOUT)
            .first_byte_timeout(READ_TIMEOUT)
            .between_bytes_timeout(READ_TIMEOUT);
        let builder = match is_secure {
            true => builder
                .enable_ssl()
                .sni_hostname(host)
                .check_certificate(host),
            false => builder.disable_ssl(),
        };
        let backend = builder.finish().map_err(|error| {
            format!(
                "no backend can be made for {authority}: {error}; let the service make dynamic \
                 backends, or name one of its own in CANTER_BACKEND"
            )
        })?;
        self.dynamic.insert(name, backend.clone());
        Ok(backend)
    }
}

impl Platform for Fastly {
    type Flight = Flight;

    fn now_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn unix_ms(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }

    fn cpu_ms(&self) -> Option<u64> {
        elapsed_vcpu_ms().ok()
    }

    /// The platform has no timer.
    fn can_pause(&self) -> bool {
        false
    }

    fn send(&mut self, call: Call) -> Result<Flight, Landed> {
        let backend = self.backend_of(&call.url);
        let backend = backend.map_err(|why| call.unreachable(&why))?;
        // Bypasses the cache of responses, which does not keep ranges. Blocks are cached
        // separately.
        let mut request = Request::get(call.url.as_str()).with_pass(true);
        for (name, value) in call.headers() {
            request.append_header(name, value);
        }
        match request.send_async(backend) {
            Ok(pending) => Ok(Flight { call, pending }),
            Err(error) => Err(call.unreachable(&error.root_cause().to_string())),
        }
    }

    /// Waits for a flight without a time limit: each flight has its own timeouts, and the time is
    /// checked between them.
    fn wait(&mut self, flights: &mut Vec<Flight>, _until_us: Option<u64>) -> Option<Landed> {
        if flights.is_empty() {
            return None;
        }
        let mut calls = Vec::with_capacity(flights.len());
        let mut pending = Vec::with_capacity(flights.len());
        for flight in flights.drain(..) {
            calls.push(flight.call);
            pending.push(flight.pending);
        }
        let (result, rest) = select(pending);
        for pending in rest {
            if let Some(call) = take(&mut calls, pending.sent_req()) {
                flights.push(Flight { call, pending });
            }
        }
        // The remaining call is the one that `select` did not return.
        let call = calls.pop()?;
        Some(match result {
            Ok(response) => receive(call, response),
            Err(error) => call.unreachable(&error.root_cause().to_string()),
        })
    }
}

/// Removes and returns the call of a request. No two calls of a wave request the same range of the
/// same object.
fn take(calls: &mut Vec<Call>, request: &Request) -> Option<Call> {
    let range = request.get_header(RANGE);
    let is_sent_for = |call: &Call| {
        let asked = call.headers().into_iter().find(|(name, _)| name == RANGE);
        asked.as_ref().map(|(_, value)| value) == range && &call.url == request.get_url()
    };
    let place = calls.iter().position(is_sent_for)?;
    Some(calls.swap_remove(place))
}

/// Reads an answer, while the other requests continue.
fn receive(call: Call, mut response: Response) -> Landed {
    let headers = response.get_headers();
    let headers = headers.map(|(name, value)| (name.clone(), value.clone()));
    let headers = headers.collect();
    let status = response.get_status().as_u16();
    let mut reception = match Reception::begin(call, status, &headers) {
        Ok(reception) => reception,
        Err(landed) => return landed,
    };
    let mut body = response.take_body();
    for part in body.read_chunks(READ_LEN) {
        let Ok(part) = part else {
            return reception.broken();
        };
        if let Err(landed) = reception.take(&part) {
            return landed;
        }
    }
    reception.end()
}
