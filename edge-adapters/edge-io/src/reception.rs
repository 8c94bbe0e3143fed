//! Reception of an answer: checks the headers before the body is read, and counts the body.

use canter_protocol::FetchErrorKind;
use canter_stores::{
    Answer, Misbehaviour, StoreFault, check_answer, is_same_host, past_the_end, redirect_of,
};
use http::StatusCode;
use http::header::{ETAG, HeaderMap, LOCATION};

use crate::{Call, FetchError, Landed, Outcome};

/// Maximum initial capacity for a body, regardless of its announced length.
const MAX_FIRST_ROOM: u64 = 16 << 20;

/// Answer with valid headers.
#[derive(Debug)]
pub struct Reception {
    call: Call,
    answer: Answer,
    etag: Option<String>,
    max_bytes: u64,
    body: Vec<u8>,
}

impl Call {
    /// Finishes the call with an error: the store could not be reached, or did not answer in time.
    pub fn unreachable(&self, why: &str) -> Landed {
        self.failed(FetchErrorKind::Unavailable, why)
    }

    fn failed(&self, kind: FetchErrorKind, why: &str) -> Landed {
        self.over(Outcome::Failed(FetchError::new(
            kind,
            &self.object,
            self.range,
            why,
        )))
    }

    fn misbehaved(&self, what: &Misbehaviour) -> Landed {
        self.over(Outcome::Failed(FetchError::misbehaved(
            &self.object,
            self.range,
            what,
        )))
    }

    fn over(&self, outcome: Outcome) -> Landed {
        Landed {
            id: self.id,
            outcome,
        }
    }
}

impl Reception {
    /// Checks the headers of an answer.
    ///
    /// # Errors
    /// The call is finished and its body must not be read: the request was refused, the answer does
    /// not match it, or nothing has changed.
    pub fn begin(call: Call, status: u16, headers: &HeaderMap) -> Result<Self, Landed> {
        let Ok(status) = StatusCode::from_u16(status) else {
            return Err(call.failed(FetchErrorKind::Protocol, "the answer has no status"));
        };
        if status == StatusCode::NOT_MODIFIED && call.known_etag.is_some() {
            return Err(call.over(Outcome::Unchanged));
        }
        if let Some(moved) = moved(&call, status, headers) {
            return Err(call.over(moved));
        }
        if status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Err(call.misbehaved(&past_the_end(headers)));
        }
        if let Some(kind) = refusal_of(status) {
            return Err(call.failed(kind, &format!("the server answered {status}")));
        }
        let answer =
            check_answer(call.range, status, headers).map_err(|fault| call.misbehaved(&fault))?;
        let etag = headers.get(ETAG).and_then(|etag| etag.to_str().ok());
        // A server without support for If-None-Match sends the same version again.
        if call.known_etag.is_some() && etag == call.known_etag.as_deref() {
            return Err(call.over(Outcome::Unchanged));
        }
        let max_bytes = call.range.and_then(|range| range.len);
        let max_bytes = max_bytes.unwrap_or(call.max_bytes);
        if answer.body_len.is_some_and(|len| len > max_bytes) {
            return Err(too_large(&call, max_bytes));
        }
        let room = answer.body_len.unwrap_or(0).min(MAX_FIRST_ROOM);
        Ok(Self {
            etag: etag.map(str::to_owned),
            body: Vec::with_capacity(usize::try_from(room).unwrap_or(0)),
            call,
            answer,
            max_bytes,
        })
    }

    /// Receives the next part of the body.
    ///
    /// # Errors
    /// The body is too long: the call is finished.
    pub fn take(&mut self, part: &[u8]) -> Result<(), Landed> {
        let num_bytes = (self.body.len() + part.len()) as u64;
        if num_bytes <= self.answer.body_len.unwrap_or(self.max_bytes) {
            self.body.extend_from_slice(part);
            return Ok(());
        }
        Err(match self.answer.body_len {
            Some(len) => {
                let seen = format!("more bytes came than the {len} that were announced");
                let fault = Misbehaviour::new(StoreFault::LongBody, seen);
                self.call.misbehaved(&fault)
            }
            None => too_large(&self.call, self.max_bytes),
        })
    }

    /// Finishes the call at the end of the body.
    pub fn end(self) -> Landed {
        let num_bytes = self.body.len() as u64;
        if self.answer.body_len.is_some_and(|len| num_bytes < len) {
            return self.broken();
        }
        let object_len = match self.call.range {
            None => Some(num_bytes),
            Some(_) => self.answer.object_len,
        };
        self.call.over(Outcome::Bytes {
            bytes: self.body.into(),
            etag: self.etag,
            object_len,
        })
    }

    /// Finishes the call with an error: the rest of the body did not arrive in time.
    pub fn unreachable(self, why: &str) -> Landed {
        self.call.unreachable(why)
    }

    /// Finishes the call with an error: the connection ended in the middle of the body.
    pub fn broken(self) -> Landed {
        let expected = self.answer.body_len;
        let expected = expected.map_or("more".to_owned(), |len| len.to_string());
        let seen = format!("only {} of {expected} bytes came", self.body.len());
        let fault = Misbehaviour::new(StoreFault::ShortBody, seen);
        self.call.misbehaved(&fault)
    }
}

fn too_large(call: &Call, max_bytes: u64) -> Landed {
    let what = format!("the object is longer than the {max_bytes} bytes a whole read may have");
    call.failed(FetchErrorKind::Budget, &what)
}

/// Returns the outcome of a redirect. Only redirects to the same host are followed.
fn moved(call: &Call, status: StatusCode, headers: &HeaderMap) -> Option<Outcome> {
    let fault = redirect_of(&call.url, status, headers)?;
    let target = headers.get(LOCATION)?.to_str().ok();
    let target = target.and_then(|target| call.url.join(target).ok());
    Some(match target.filter(|to| is_same_host(&call.url, to)) {
        Some(to) => Outcome::Moved {
            to: Box::new(to),
            fault,
        },
        None => Outcome::Failed(FetchError::misbehaved(&call.object, call.range, &fault)),
    })
}

/// Returns the kind of error of a status that is not an answer to a request for bytes.
fn refusal_of(status: StatusCode) -> Option<FetchErrorKind> {
    Some(match status {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT => return None,
        StatusCode::NOT_FOUND | StatusCode::GONE => FetchErrorKind::NotFound,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => FetchErrorKind::Denied,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => FetchErrorKind::Unavailable,
        status if status.is_server_error() => FetchErrorKind::Unavailable,
        _ => FetchErrorKind::Protocol,
    })
}
