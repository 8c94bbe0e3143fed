//! Store in memory with a simulated clock that answers like a web server, or misbehaves on request.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::{CONTENT_RANGE, ETAG, HeaderValue, LOCATION};

use crate::{BlobStore, Call, Landed, Platform, Reception};

/// Fault of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Status 503 for this number of calls.
    Unavailable(usize),
    /// Incomplete body for this number of calls.
    ShortBody(usize),
    /// Body that is too long.
    LongBody,
    /// Status 200 and the whole object.
    WholeObject,
    /// Another range.
    OtherRange,
    /// New version with each answer.
    NewVersions,
    /// Status 302 to another path for this number of calls.
    Moves(usize),
    /// Status 302 to another host.
    MovesAway,
    /// No answer at all.
    Silence,
}

/// Running call, with the time at which its answer arrives.
pub(super) struct Flight {
    call: Call,
    at_us: u64,
}

/// Store in memory.
#[derive(Default)]
pub(super) struct MemoryStore {
    pub(super) objects: BTreeMap<String, Vec<u8>>,
    pub(super) fault: Option<Fault>,
    pub(super) now_us: u64,
    pub(super) num_calls: usize,
    pub(super) most_at_once: usize,
    pub(super) num_underway: usize,
    pub(super) num_unchanged: usize,
}

impl MemoryStore {
    fn answer(&mut self, call: Call) -> Landed {
        let num_calls = self.num_calls;
        let name = call.url.path().rsplit("moved/").next().unwrap_or_default();
        let name = name.trim_start_matches('/').to_owned();
        let Some(object) = self.objects.get(&name) else {
            return landed(Reception::begin(call, 404, &HeaderMap::new()), &[]);
        };
        let mut headers = HeaderMap::new();
        let version = match self.fault {
            Some(Fault::NewVersions) => format!("\"{num_calls}\""),
            _ => format!("\"{}\"", object.len()),
        };
        headers.insert(ETAG, HeaderValue::from_str(&version).unwrap());
        if call.known_etag.as_deref() == Some(&version) {
            self.num_unchanged += 1;
            return landed(Reception::begin(call, 304, &headers), &[]);
        }
        let (first, last) = match call.range {
            None => (0, object.len()),
            Some(range) => {
                let first = usize::try_from(range.first).unwrap();
                let len = range.len.map_or(usize::MAX, |len| len as usize);
                (first, first.saturating_add(len).min(object.len()))
            }
        };
        if first >= object.len() {
            let size = format!("bytes */{}", object.len());
            headers.insert(CONTENT_RANGE, HeaderValue::from_str(&size).unwrap());
            return landed(Reception::begin(call, 416, &headers), &[]);
        }
        let mut body = object[first..last].to_vec();
        let mut status = if call.range.is_some() { 206 } else { 200 };
        let mut said = format!("bytes {first}-{}/{}", last - 1, object.len());
        match self.fault {
            Some(Fault::Unavailable(times)) if num_calls <= times => status = 503,
            Some(Fault::ShortBody(times)) if num_calls <= times => {
                body.pop();
            }
            Some(Fault::LongBody) => body.push(0),
            Some(Fault::WholeObject) => {
                status = 200;
                body.clone_from(object);
            }
            Some(Fault::OtherRange) => said = format!("bytes {}-{last}/*", first + 1),
            Some(Fault::Moves(times)) if num_calls <= times => {
                status = 302;
                let to = format!("/moved/{name}");
                headers.insert(LOCATION, HeaderValue::from_str(&to).unwrap());
            }
            Some(Fault::MovesAway) => {
                status = 302;
                let to = HeaderValue::from_static("http://elsewhere.example/x");
                headers.insert(LOCATION, to);
            }
            _ => {}
        }
        headers.insert(CONTENT_RANGE, HeaderValue::from_str(&said).unwrap());
        landed(Reception::begin(call, status, &headers), &body)
    }
}

/// Receives a body in small parts.
fn landed(reception: Result<Reception, Landed>, body: &[u8]) -> Landed {
    let mut reception = match reception {
        Ok(reception) => reception,
        Err(landed) => return landed,
    };
    for part in body.chunks(1000) {
        if let Err(landed) = reception.take(part) {
            return landed;
        }
    }
    reception.end()
}

impl Platform for MemoryStore {
    type Flight = Flight;

    fn now_us(&self) -> u64 {
        self.now_us
    }

    fn unix_ms(&self) -> u64 {
        1_700_000_000_000 + self.now_us / 1000
    }

    fn can_pause(&self) -> bool {
        true
    }

    fn send(&mut self, call: Call) -> Result<Flight, Landed> {
        self.num_calls += 1;
        self.num_underway += 1;
        self.most_at_once = self.most_at_once.max(self.num_underway);
        // Later calls can be faster than earlier ones.
        let took_us = 1000 + (call.id.wrapping_mul(2_654_435_761) % 7) * 500;
        let at_us = match self.fault {
            Some(Fault::Silence) => u64::MAX,
            _ => self.now_us + took_us,
        };
        Ok(Flight { call, at_us })
    }

    fn wait(&mut self, flights: &mut Vec<Flight>, until_us: Option<u64>) -> Option<Landed> {
        let next = (0..flights.len()).min_by_key(|ord| flights[*ord].at_us);
        let at_us = next.map(|ord| flights[ord].at_us);
        let until_us = until_us.unwrap_or(u64::MAX);
        match (next, at_us) {
            (Some(ord), Some(at_us)) if at_us <= until_us => {
                self.now_us = self.now_us.max(at_us);
                self.num_underway -= 1;
                let flight = flights.swap_remove(ord);
                Some(self.answer(flight.call))
            }
            _ => {
                assert!(until_us < u64::MAX, "waits for ever");
                self.now_us = self.now_us.max(until_us);
                None
            }
        }
    }
}

/// Blobs in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryBlobs(pub(super) BTreeMap<String, Vec<u8>>);

impl BlobStore for MemoryBlobs {
    fn get(&mut self, key: &str) -> Option<Vec<u8>> {
        self.0.get(key).cloned()
    }

    fn put(&mut self, key: &str, value: Vec<u8>) {
        self.0.insert(key.to_owned(), value);
    }
}
