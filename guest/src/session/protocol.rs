//! What crosses the border between guest and host, as plain Rust data.
//!
//! The same types stand in `wit/canter-search.wit`; the two change together. Nothing here knows
//! what a split is, and nothing here performs I/O.

pub use tantivy_common::OwnedBytes;

pub use super::shared::shared;

/// What a range holds: lets a host give each class its own cache budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ByteClass {
    /// The index's manifest: the only mutable object.
    Manifest,
    /// A split's head: file table, hotcache, checksums.
    Head,
    /// Blocks of a term dictionary.
    Dictionary,
    /// Posting lists and positions.
    Postings,
    /// Fast field columns and field norms.
    FastField,
    /// Blocks of stored documents.
    DocStore,
    /// A leaf's partial result.
    PartialResult,
}

/// One byte range of one object, to be fetched together with all others of its demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Names this request in the [`Supply`] that answers it; unique within a session.
    pub id: u64,
    /// Object name relative to the index's URI, for example `splits/<id>.split`.
    pub object: String,
    /// First byte, from the start of the object.
    pub offset: u64,
    /// Number of bytes; `None` asks for everything from `offset` to the end of the object.
    pub len: Option<u64>,
    /// What the range holds.
    pub class: ByteClass,
}

/// A question to the host's cache, under a key that only the guest understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheLookup {
    /// Names this lookup in the [`Supply`] that answers it.
    pub id: u64,
    /// The key, opaque to the host.
    pub key: String,
    /// What the entry holds.
    pub class: ByteClass,
}

/// An entry for the host's cache. The host may drop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStore {
    /// The key, opaque to the host.
    pub key: String,
    /// The entry.
    pub bytes: Vec<u8>,
    /// What the entry holds.
    pub class: ByteClass,
}

/// Everything one step needs. Every read and every lookup must be answered by a [`Supply`]. It may be
/// empty: the session then only wants the next report of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Ranges to fetch, all at once.
    pub reads: Vec<ReadRequest>,
    /// Cache entries to look up.
    pub lookups: Vec<CacheLookup>,
    /// Cache entries to keep, fire and forget.
    pub stores: Vec<CacheStore>,
}

/// Why a host could not supply a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchErrorKind {
    /// The object does not exist.
    NotFound,
    /// The object is shorter than the range, or the answer was cut short.
    Truncated,
    /// The store refused the credentials.
    Denied,
    /// The store answered with something that is not the range asked for.
    Protocol,
    /// The store did not answer, or not in time.
    Unavailable,
    /// The budget of the search (requests, bytes, waves, time) does not allow this read. Splits that
    /// lack it are skipped and named in the answer.
    Budget,
}

/// What the host gives for one read or lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupplyResult {
    /// The bytes asked for: all of them. Those of a host in the same program are [`shared`].
    Bytes(OwnedBytes),
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Most requests to the store.
    pub max_requests: Option<u64>,
    /// Most bytes read.
    pub max_bytes: Option<u64>,
    /// Most dependent rounds of requests.
    pub max_waves: Option<u64>,
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

/// The API's answer. A host adds headers of its own and changes nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
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
    /// The answer of a leaf session: an opaque partial result for the root.
    Partial(Vec<u8>),
    /// The answer of an HTTP session, and of the root session of its plan.
    Http(HttpResponse),
}

/// What one step comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The session needs these bytes before it can go on.
    Pending(Demand),
    /// The session is over.
    Done(Outcome),
    /// The session is over without an answer.
    Failed(crate::SearchError),
}
