//! A session: one query, resumed step by step.

pub mod protocol;

use crate::SearchError;
use protocol::{Progress, Supply};

/// One query being answered, step by step.
pub struct Session {}

impl Session {
    /// A whole search in one session. `request` and `limits` are JSON objects.
    pub fn search(_request: &str, _limits: &str) -> Result<Session, SearchError> {
        Err(SearchError::internal("not built yet"))
    }

    /// Reads the manifest, prunes splits and cuts the rest into at most `max_leaves` leaf requests.
    pub fn plan(_request: &str, _limits: &str, _max_leaves: u32) -> Result<Session, SearchError> {
        Err(SearchError::internal("not built yet"))
    }

    /// Searches the splits of one leaf request.
    pub fn leaf(_leaf_request: &[u8]) -> Result<Session, SearchError> {
        Err(SearchError::internal("not built yet"))
    }

    /// Merges the partial results (in the plan's order) and fetches the documents of the hits.
    pub fn root(_root: &[u8], _partials: &[Vec<u8>]) -> Result<Session, SearchError> {
        Err(SearchError::internal("not built yet"))
    }

    /// Resumes with what has arrived. The first call passes nothing.
    pub fn step(&mut self, _supplies: Vec<Supply>) -> Progress {
        Progress::Failed(SearchError::internal("not built yet"))
    }
}
