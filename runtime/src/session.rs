//! Requests for sessions, beside the protocol's types: the kind of session to open.

pub use canter_protocol::{
    Budget, ByteClass, CacheLookup, CacheStore, Demand, HostReport, HttpRequest, HttpResponse,
    Outcome, Progress, QueryPlan, ReadRequest, Supply, SupplyResult,
};

/// A session to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRequest {
    /// Answers one request to the search API, or of the host itself.
    Http {
        /// The request.
        request: HttpRequest,
        /// The guest's settings, a JSON object.
        settings: String,
        /// Maximum number of leaf requests, if the session ends with a plan.
        max_leaves: u32,
    },
    /// Searches the splits of one leaf request (opaque, from a plan).
    Leaf(Vec<u8>),
    /// Merges partial results and fetches the documents of the hits.
    Root {
        /// The plan's data for the root, opaque.
        root: Vec<u8>,
        /// One partial result per leaf, in the plan's order.
        partials: Vec<Vec<u8>>,
    },
}
