//! The host's mirror of the protocol in `wit/canter-search.wit`.
//!
//! The same types stand in the guest; these differ only in that bytes are [`Bytes`], so that a range
//! cut out of a larger answer or out of the cache is not copied before it enters the guest.

use bytes::Bytes;

pub use canter_stores::ByteClass;

use crate::fetch::FetchErrorKind;
use crate::{Api, Budget};

/// One byte range of one object, to be fetched together with all others of its demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Names this request in the [`Supply`] that answers it; unique within a session.
    pub id: u64,
    /// Object name relative to the index's URI.
    pub object: String,
    /// First byte, from the start of the object.
    pub offset: u64,
    /// Number of bytes; `None` asks for everything from `offset` to the end of the object.
    pub len: Option<u64>,
    /// What the range holds.
    pub class: ByteClass,
}

/// A question to the cache, under a key that only the guest understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheLookup {
    /// Names this lookup in the [`Supply`] that answers it.
    pub id: u64,
    /// The key, opaque to the host.
    pub key: String,
    /// What the entry holds.
    pub class: ByteClass,
}

/// An entry for the cache. The host may drop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStore {
    /// The key, opaque to the host.
    pub key: String,
    /// The entry.
    pub bytes: Bytes,
    /// What the entry holds.
    pub class: ByteClass,
}

/// Everything one step needs. Every read and every lookup is answered by one [`Supply`]. It may be empty:
/// the session then only wants the next report of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Ranges to fetch, all at once.
    pub reads: Vec<ReadRequest>,
    /// Cache entries to look up.
    pub lookups: Vec<CacheLookup>,
    /// Cache entries to keep, fire and forget.
    pub stores: Vec<CacheStore>,
}

/// What the host gives for one read or lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupplyResult {
    /// The bytes asked for: all of them.
    Bytes(Bytes),
    /// A cache lookup found nothing.
    Miss,
    /// The range could not be had.
    Failed {
        /// Why.
        kind: FetchErrorKind,
        /// What happened, for the person who reads the answer.
        message: String,
    },
}

/// The answer to one read or lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// The id of the [`ReadRequest`] or [`CacheLookup`].
    pub id: u64,
    /// What came of it.
    pub outcome: SupplyResult,
}

/// What only the host knows of the search so far. The answer says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    /// Microseconds since the request came in.
    pub elapsed_us: u64,
    /// Whether reads were given up because the time was up.
    pub timed_out: bool,
    /// The limit of the budget that was reached first, by name.
    pub budget_exhausted: Option<String>,
}

/// What a request asks its host to keep to; a host takes the lower of this and its own limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestBudget {
    /// What the search may ask of the store.
    pub budget: Budget,
    /// Time from the request to its answer, in milliseconds.
    pub deadline_ms: Option<u64>,
}

/// A request to the search API, as it came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// In upper case: `GET`, `POST`.
    pub method: String,
    /// The path of the URL, percent-encoded as it came.
    pub path: String,
    /// What follows the `?`, percent-encoded as it came; empty without one.
    pub query: String,
    /// The body; empty without one.
    pub body: Vec<u8>,
}

/// The search API's answer. A host adds headers of its own and changes nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// What a host answers itself, without asking the guest: a message and nothing else, in the form of the API that was
    /// asked.
    pub fn refusal(api: Api, status: u16, message: &str) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let body = api.error(status, Api::kind_of(status), message);
        Self {
            status,
            headers: api.headers().map(owned).collect(),
            body: body.to_string().into_bytes(),
        }
    }
}

/// Which session to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRequest {
    /// A whole search in one session.
    Search {
        /// The search request, a JSON object.
        request: String,
        /// The guest's limits, a JSON object.
        limits: String,
    },
    /// Reads the manifest and cuts the search into leaf requests.
    Plan {
        /// The search request, a JSON object.
        request: String,
        /// The guest's limits, a JSON object.
        limits: String,
        /// At most this many leaf requests.
        max_leaves: u32,
    },
    /// Answers one request to the search API.
    Http {
        /// The request.
        request: HttpRequest,
        /// The guest's settings, a JSON object.
        settings: String,
        /// At most this many leaf requests, if it ends with a plan.
        max_leaves: u32,
    },
    /// Searches the splits of one leaf request (opaque, from a plan).
    Leaf(Vec<u8>),
    /// Merges partial results and fetches the documents of the hits.
    Root {
        /// What the plan gave for the root, opaque.
        root: Vec<u8>,
        /// One partial result per leaf, in the plan's order.
        partials: Vec<Vec<u8>>,
    },
}

/// What a plan session ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPlan {
    /// One opaque request per leaf session.
    pub leaves: Vec<Vec<u8>>,
    /// What the root session needs, opaque.
    pub root: Vec<u8>,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The answer of a search or root session: one JSON object.
    Response(String),
    /// The answer of a plan session.
    Plan(QueryPlan),
    /// The answer of a leaf session, opaque.
    Partial(Vec<u8>),
    /// The answer of an HTTP session, and of the root session of its plan.
    Http(HttpResponse),
}

/// What one step comes to. A session that fails is an `Err` of the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The session needs these bytes before it can go on.
    Pending(Demand),
    /// The session is over.
    Done(Outcome),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_form_of_the_api_that_was_asked() {
        let plain = HttpResponse::refusal(Api::Quickwit, 403, "no");
        assert_eq!(plain.status, 403);
        assert_eq!(plain.body, b"{\"message\":\"no\"}");
        let elastic = HttpResponse::refusal(Api::Elasticsearch, 403, "no");
        assert_eq!(elastic.status, 403);
        let body: serde_json::Value = serde_json::from_slice(&elastic.body).unwrap();
        assert_eq!(body["status"], 403);
        assert_eq!(body["error"]["type"], "security_exception");
        let product = ("x-elastic-product".to_owned(), "Elasticsearch".to_owned());
        assert!(elastic.headers.contains(&product));
    }
}
