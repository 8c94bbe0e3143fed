//! What a server is made of: plain data, and what whoever starts it has opened already.

use std::sync::Arc;
use std::time::Duration;

use canter_access::AccessSettings;
use canter_runtime::{Limits, Metrics, Searcher};

use crate::connections::{ConnectionLimits, Identity};
use crate::http::{FollowTrace, Origins};
use crate::indexes::{RootSettings, Writers};

/// What a server is made of.
pub struct ServerSettings {
    /// Searches the indexes, by their names.
    pub searcher: Arc<Searcher>,
    /// Counts what the searcher does.
    pub metrics: Arc<Metrics>,
    /// Takes documents and deletions; the server only searches if absent.
    pub writers: Option<Writers>,
    /// Names of the indexes that are always served.
    pub index_names: Vec<String>,
    /// Indexes that come and go, if any do.
    pub root: Option<RootSettings>,
    /// What one search may take.
    pub limits: Limits,
    /// Query that every hit must match, where no tokens are asked for.
    pub forced_filter: Option<String>,
    /// Where tokens are known from; nobody needs one if absent.
    pub access: Option<AccessSettings>,
    /// Address that the server listens on, as `host:port`: its host is answered for.
    pub listen: String,
    /// Further hosts that are answered for; `*` is any.
    pub allowed_hosts: Vec<String>,
    /// Whose pages may ask.
    pub origins: Origins,
    /// Certificate and key; the server speaks no TLS if absent.
    pub identity: Option<Arc<Identity>>,
    /// What connections may take.
    pub connections: ConnectionLimits,
    /// What bodies of requests may take.
    pub bodies: BodyLimits,
    /// Maximum number of requests that run or wait for a guest.
    pub max_in_line: usize,
    /// Makes the span of a request part of the trace that its headers name.
    pub follow_trace: FollowTrace,
}

/// What bodies of requests may take.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Maximum size of a body.
    pub max_bytes: u64,
    /// Time limit for a body.
    pub timeout: Duration,
    /// Maximum size of all bodies in memory.
    pub max_held_bytes: u64,
}
