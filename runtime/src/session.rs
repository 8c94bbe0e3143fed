//! Sessions as an engine opens and steps them: the protocol's types, and which session to open.

pub use canter_protocol::{
    Budget, ByteClass, CacheLookup, CacheStore, Demand, HostReport, HttpRequest, HttpResponse,
    Outcome, Progress, QueryPlan, ReadRequest, Supply, SupplyResult,
};

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
