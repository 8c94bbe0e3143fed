//! Cost estimate of a search: the plan's reads are executed, the others only listed.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{Caller, SearchEnd, Searcher};
use crate::cache::MemoryCache;
use crate::io::{PlannedRequest, SharedIo};
use crate::observe::{Answered, OK, observe_query};
use crate::session::ByteClass;
use crate::{Limits, Profile, SearchError};

/// Maximum size of an explanation's cache, in bytes.
const CACHE_BYTES: usize = 256 << 20;

/// A request that a search would send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedRead {
    /// Object name relative to the index's URI.
    pub object: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0 for a read to the end of an object, whose length is unknown.
    pub length: u64,
    /// Class of the largest read in it.
    pub class: ByteClass,
    /// Number of the guest's reads that it would answer.
    pub num_reads: u32,
}

impl From<PlannedRequest> for PlannedRead {
    fn from(planned: PlannedRequest) -> Self {
        Self {
            object: planned.object,
            offset: planned.bytes.start(),
            length: planned.bytes.len().unwrap_or(0),
            class: planned.class,
            num_reads: planned.num_reads,
        }
    }
}

/// A plan and its cost in requests and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The guest's account: the treatment of each split, with the reason.
    pub plan: Value,
    /// The I/O of the plan: manifest, heads, and dictionaries where counts decide.
    pub profile: Profile,
    /// The first requests that the search would send after the plan, in one wave. Empty if the plan
    /// already has the answer.
    pub planned: Vec<PlannedRead>,
    /// Maximum number of documents that are fetched at the end, each of which may cost another request.
    pub max_documents: u64,
}

impl Answered for Explanation {
    fn outcome(&self) -> &'static str {
        OK
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl Searcher {
    /// Plans a search and stops.
    ///
    /// The plan's inputs are read: the manifest, heads, and dictionaries where counts decide which
    /// splits are searched. Of the following reads, the first wave is listed exactly. Plans a search of
    /// all indexes that `caller` may search. Errors are those of [`Searcher::search`].
    pub async fn explain(
        &self,
        request: &Value,
        caller: &Caller,
        limits: &Limits,
    ) -> Result<Explanation, SearchError> {
        let explanation = self.explain_plan(request, caller, limits);
        observe_query(&self.shared, "explain", explanation).await
    }

    async fn explain_plan(
        &self,
        request: &Value,
        caller: &Caller,
        limits: &Limits,
    ) -> Result<Explanation, SearchError> {
        let shared = &self.shared;
        // The plan is made twice, once for its account and once for its reads.
        let shared = Arc::new(SharedIo {
            coalesce: shared.coalesce,
            max_part_bytes: shared.max_part_bytes,
            metrics: Arc::clone(&shared.metrics),
            // A search without a cache reads only what it needs.
            reads_blocks: shared.cache.is_some(),
            ..SharedIo::new(
                Arc::clone(&shared.clock),
                Some(match &shared.cache {
                    Some(cache) => Arc::clone(cache),
                    None => Arc::new(MemoryCache::new(CACHE_BYTES)),
                }),
                shared.namespaces.clone(),
                shared.fetch_permits.available_permits().max(1),
            )
        });
        let session = self.own_session(request, caller, limits, 1);
        let search = self.open(session, limits, &shared, true).await?;
        let (end, profile, _) = self.run(search).await?;
        let planned = match end {
            SearchEnd::Answered(_) => Vec::new(),
            SearchEnd::Stopped(planned) => planned.into_iter().map(PlannedRead::from).collect(),
        };
        let mut asking = request.clone();
        asking["explain"] = true.into();
        let session = self.own_session(&asking, caller, limits, 1);
        let search = self.open(session, limits, &shared, false).await?;
        let (end, ..) = self.run(search).await?;
        let SearchEnd::Answered(response) = end else {
            return Err(SearchError::internal("the guest gave no explanation"));
        };
        let plan: Value = serde_json::from_slice(&response.body).map_err(|error| {
            SearchError::internal(format!("the guest's explanation is not JSON: {error}"))
        })?;
        Ok(Explanation {
            max_documents: plan["max_documents"].as_u64().unwrap_or(0),
            plan,
            profile,
            planned,
        })
    }
}
