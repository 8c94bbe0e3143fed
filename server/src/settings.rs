//! Settings and parts of a server: plain data, and components that the caller has opened.

use std::sync::Arc;
use std::time::Duration;

use canter_access::AccessSettings;
use canter_runtime::{Limits, Metrics, Searcher};

use crate::connections::{ConnectionLimits, Identity};
use crate::http::{FollowTrace, Origins};
use crate::indexes::{RootSettings, Writers};

/// Settings and parts of a server.
pub struct ServerSettings {
    /// Searches the indexes, by their names.
    pub searcher: Arc<Searcher>,
    /// Counts the searcher's work.
    pub metrics: Arc<Metrics>,
    /// Takes documents and deletions; if absent, the server only searches.
    pub writers: Option<Writers>,
    /// Names of the indexes that are always served.
    pub index_names: Vec<String>,
    /// Managed indexes, which clients create and delete, if enabled.
    pub root: Option<RootSettings>,
    /// Limits of one search.
    pub limits: Limits,
    /// Query that every hit must match, if no tokens are required.
    pub forced_filter: Option<String>,
    /// Sources of tokens; if absent, none is required.
    pub access: Option<AccessSettings>,
    /// Address that the server listens on, as `host:port`: requests for its host are answered.
    pub listen: String,
    /// Further hosts whose requests are answered; `*` is any.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may send requests.
    pub origins: Origins,
    /// Certificate and key; without them, the server does not use TLS.
    pub identity: Option<Arc<Identity>>,
    /// Limits on connections.
    pub connections: ConnectionLimits,
    /// Limits on the bodies of requests.
    pub bodies: BodyLimits,
    /// Maximum number of requests that run or wait for a guest.
    pub max_in_line: usize,
    /// Product that the server claims to be at `GET /`.
    pub compatible_with: CompatibleWith,
    /// Makes the span of a request part of the trace in its headers.
    pub follow_trace: FollowTrace,
}

/// Product whose clients a server expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompatibleWith {
    /// Elasticsearch.
    #[default]
    Elasticsearch,
    /// OpenSearch, whose clients look for its name.
    OpenSearch,
}

/// Limits on the bodies of requests.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Maximum size of a body.
    pub max_bytes: u64,
    /// Time limit for a body.
    pub timeout: Duration,
    /// Maximum size of all bodies in memory.
    pub max_held_bytes: u64,
}
