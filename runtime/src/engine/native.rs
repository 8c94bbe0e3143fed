//! The guest linked as a Rust library: no sandbox, no memory cap, the fastest start.

use canter_guest::session::protocol as guest;

use super::{Engine, EngineInstance, InstanceLimits};
use crate::fetch::FetchErrorKind;
use crate::session::{
    ByteClass, CacheLookup, CacheStore, Demand, HostReport, HttpResponse, Outcome, Progress,
    QueryPlan, ReadRequest, RequestBudget, SessionRequest, Supply, SupplyResult,
};
use crate::{Budget, ErrorKind, Interrupt, SearchError};

/// Unless told otherwise. Instances hold nothing but their session, so this only bounds the number of
/// threads.
const MAX_INSTANCES: usize = 256;

/// The guest as a Rust library. A step ends soon after it is cancelled: the guest looks at the flag while it
/// computes. The deadline itself is noticed between two steps; whoever waits for a step cancels it then.
#[derive(Clone, Copy, Debug)]
pub struct NativeEngine {
    max_instances: usize,
}

impl Default for NativeEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl NativeEngine {
    /// The engine.
    pub fn new() -> Self {
        Self::with_max_instances(MAX_INSTANCES)
    }

    /// The engine with at most so many instances at once; at least one.
    pub fn with_max_instances(max_instances: usize) -> Self {
        Self {
            max_instances: max_instances.max(1),
        }
    }

    /// Names the guest that is linked, by its version and its sources. Hosts with the same one can read
    /// each other's leaf requests and partial results.
    pub fn guest_version() -> String {
        canter_guest::version()
    }
}

impl Engine for NativeEngine {
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError> {
        Ok(Box::new(NativeInstance {
            interrupt: limits.interrupt.clone(),
            session: None,
        }))
    }

    fn max_instances(&self) -> usize {
        self.max_instances
    }

    fn name(&self) -> &'static str {
        "native"
    }
}

struct NativeInstance {
    interrupt: Interrupt,
    session: Option<canter_guest::Session>,
}

impl EngineInstance for NativeInstance {
    fn open(&mut self, request: SessionRequest) -> Result<RequestBudget, SearchError> {
        self.session = None;
        let session = match request {
            SessionRequest::Search { request, limits } => {
                canter_guest::Session::search(&request, &limits)
            }
            SessionRequest::Plan {
                request,
                limits,
                max_leaves,
            } => canter_guest::Session::plan(&request, &limits, max_leaves),
            SessionRequest::Http {
                request,
                settings,
                max_leaves,
            } => {
                let request = guest::HttpRequest {
                    method: request.method,
                    path: request.path,
                    query: request.query,
                    body: request.body,
                };
                canter_guest::Session::http(&request, &settings, max_leaves)
            }
            SessionRequest::Leaf(request) => canter_guest::Session::leaf(&request),
            SessionRequest::Root { root, partials } => {
                canter_guest::Session::root(&root, &partials)
            }
        };
        let mut session = session.map_err(search_error)?;
        session.set_interrupt(canter_guest::session::Interrupt::new(
            self.interrupt.cancellation(),
        ));
        let session = self.session.insert(session);
        let asked = session.budget();
        Ok(RequestBudget {
            budget: Budget {
                max_requests: asked.max_requests,
                max_bytes: asked.max_bytes,
                max_waves: asked.max_waves,
            },
            deadline_ms: asked.deadline_ms,
        })
    }

    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError> {
        self.interrupt.check()?;
        let session = self
            .session
            .as_mut()
            .ok_or_else(|| SearchError::internal("a step without an open session"))?;
        let supplies = supplies.into_iter().map(guest_supply).collect();
        let report = guest::HostReport {
            elapsed_us: report.elapsed_us,
            timed_out: report.timed_out,
            budget_exhausted: report.budget_exhausted,
        };
        match session.step(supplies, report) {
            guest::Progress::Pending(demand) => Ok(Progress::Pending(host_demand(demand))),
            guest::Progress::Done(outcome) => Ok(Progress::Done(host_outcome(outcome))),
            guest::Progress::Failed(error) => Err(search_error(error)),
        }
    }
}

fn guest_supply(supply: Supply) -> guest::Supply {
    guest::Supply {
        id: supply.id,
        outcome: match supply.outcome {
            SupplyResult::Bytes(bytes) => guest::SupplyResult::Bytes(guest::shared(bytes)),
            SupplyResult::Miss => guest::SupplyResult::Miss,
            SupplyResult::Failed { kind, message } => guest::SupplyResult::Failed {
                kind: guest_fetch_error_kind(kind),
                message,
            },
        },
    }
}

fn guest_fetch_error_kind(kind: FetchErrorKind) -> guest::FetchErrorKind {
    match kind {
        FetchErrorKind::NotFound => guest::FetchErrorKind::NotFound,
        FetchErrorKind::Truncated => guest::FetchErrorKind::Truncated,
        FetchErrorKind::Denied => guest::FetchErrorKind::Denied,
        FetchErrorKind::Protocol => guest::FetchErrorKind::Protocol,
        FetchErrorKind::Unavailable => guest::FetchErrorKind::Unavailable,
        FetchErrorKind::Budget => guest::FetchErrorKind::Budget,
    }
}

fn host_demand(demand: guest::Demand) -> Demand {
    Demand {
        reads: demand
            .reads
            .into_iter()
            .map(|read| ReadRequest {
                id: read.id,
                object: read.object,
                offset: read.offset,
                len: read.len,
                class: host_class(read.class),
            })
            .collect(),
        lookups: demand
            .lookups
            .into_iter()
            .map(|lookup| CacheLookup {
                id: lookup.id,
                key: lookup.key,
                class: host_class(lookup.class),
            })
            .collect(),
        stores: demand
            .stores
            .into_iter()
            .map(|store| CacheStore {
                key: store.key,
                bytes: store.bytes.into(),
                class: host_class(store.class),
            })
            .collect(),
    }
}

fn host_class(class: guest::ByteClass) -> ByteClass {
    match class {
        guest::ByteClass::Manifest => ByteClass::Manifest,
        guest::ByteClass::Head => ByteClass::Head,
        guest::ByteClass::Dictionary => ByteClass::Dictionary,
        guest::ByteClass::Postings => ByteClass::Postings,
        guest::ByteClass::FastField => ByteClass::FastField,
        guest::ByteClass::DocStore => ByteClass::DocStore,
        guest::ByteClass::PartialResult => ByteClass::PartialResult,
    }
}

fn host_outcome(outcome: guest::Outcome) -> Outcome {
    match outcome {
        guest::Outcome::Response(json) => Outcome::Response(json),
        guest::Outcome::Plan(plan) => Outcome::Plan(QueryPlan {
            leaves: plan.leaves,
            root: plan.root,
        }),
        guest::Outcome::Partial(bytes) => Outcome::Partial(bytes),
        guest::Outcome::Http(response) => Outcome::Http(HttpResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        }),
    }
}

fn search_error(error: canter_guest::SearchError) -> SearchError {
    let kind = match error.kind {
        canter_guest::ErrorKind::Invalid => ErrorKind::Invalid,
        canter_guest::ErrorKind::NotFound => ErrorKind::NotFound,
        canter_guest::ErrorKind::Data => ErrorKind::Data,
        canter_guest::ErrorKind::Unavailable => ErrorKind::Unavailable,
        canter_guest::ErrorKind::Limit => ErrorKind::Limit,
        canter_guest::ErrorKind::Internal => ErrorKind::Internal,
    };
    SearchError::new(kind, error.message)
}
