//! Instance of the component with its own store, a memory limit and a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tracing::error;
#[cfg(not(target_os = "linux"))]
use wasmtime::UpdateDeadline;
use wasmtime::component::ResourceAny;
use wasmtime::{Engine, ResourceLimiter, Store, Trap};

use super::super::config::WasmOptions;
use super::parts::len_of_part;
#[cfg(target_os = "linux")]
use super::stop::StopPage;
use super::ticker::{Running, Ticker};
use crate::engine::defect;
use crate::engine::{EngineInstance, InstanceLimits};
use crate::fetch::FetchErrorKind;
use crate::session::{
    Budget, ByteClass, CacheLookup, CacheStore, Demand, HostReport, HttpResponse, Outcome,
    Progress, QueryPlan, ReadRequest, SessionRequest, Supply, SupplyResult,
};
use crate::{ErrorKind, Interrupt, SearchError};

#[allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    reason = "generated from wit/canter-search.wit, which documents it"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "guest",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(in super::super) use bindings::GuestPre;
use bindings::exports::canter::search::engine as wit;

/// Maximum time for a session to release its resources.
const TIME_TO_END: Duration = Duration::from_secs(1);

/// State that wasmtime keeps for an instance.
pub(in super::super) struct InstanceState {
    max_memory_bytes: usize,
    is_over_memory: bool,
    memory: MemoryUse,
}

/// Share of one instance in the memory of all instances of the engine.
struct MemoryUse {
    of_all: Arc<AtomicU64>,
    num_bytes: u64,
}

impl MemoryUse {
    fn grow(&mut self, num_bytes: usize) {
        self.num_bytes += num_bytes as u64;
        self.of_all.fetch_add(num_bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for MemoryUse {
    fn drop(&mut self) {
        self.of_all.fetch_sub(self.num_bytes, Ordering::Relaxed);
    }
}

impl ResourceLimiter for InstanceState {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.max_memory_bytes {
            self.is_over_memory = true;
            return Ok(false);
        }
        // A guest that requests less memory after a refusal can continue.
        self.is_over_memory = false;
        self.memory.grow(desired.saturating_sub(current));
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }
}

/// State that the instances of an engine share.
pub(in super::super) struct Shared {
    pub(in super::super) wasmtime: Engine,
    pub(in super::super) guest: GuestPre<InstanceState>,
    pub(in super::super) ticker: Ticker,
    pub(in super::super) options: WasmOptions,
    /// Linear memory of all instances.
    pub(in super::super) memory_bytes: Arc<AtomicU64>,
}

impl Shared {
    /// Returns the maximum memory of an instance with these limits.
    pub(in super::super) fn max_memory_bytes(&self, limits: &InstanceLimits) -> usize {
        let of_all = self.options.max_memory_bytes;
        limits.max_memory_bytes.unwrap_or(of_all).min(of_all)
    }
}

/// Instance with its open session.
pub(in super::super) struct WasmInstance {
    /// Provides the options, and keeps the ticker running.
    shared: Arc<Shared>,
    store: Store<InstanceState>,
    guest: bindings::Guest,
    session: Option<ResourceAny>,
    interrupt: Interrupt,
    /// Set by the first trap, after which the content of the memory is undefined.
    is_broken: bool,
    /// Set while the instance is used by a search.
    running: Option<Running>,
    #[cfg(target_os = "linux")]
    stop_page: Arc<StopPage>,
}

impl WasmInstance {
    pub(in super::super) fn start(
        shared: Arc<Shared>,
        limits: &InstanceLimits,
    ) -> Result<Self, SearchError> {
        let interrupt = limits.interrupt.clone();
        interrupt.check()?;
        let state = InstanceState {
            max_memory_bytes: shared.max_memory_bytes(limits),
            is_over_memory: false,
            memory: MemoryUse {
                of_all: Arc::clone(&shared.memory_bytes),
                num_bytes: 0,
            },
        };
        let mut store = Store::new(&shared.wasmtime, state);
        store.limiter(|state| state);
        // A guest does very little at its start.
        #[cfg(not(target_os = "linux"))]
        store.set_epoch_deadline(u64::MAX / 2);
        let guest = shared.guest.instantiate(&mut store).map_err(|error| {
            if store.data().is_over_memory {
                return over_memory(store.data().max_memory_bytes);
            }
            SearchError::internal(format!("the guest cannot be instantiated: {error:#}"))
        })?;
        let mut instance = Self {
            #[cfg(target_os = "linux")]
            stop_page: StopPage::last_made()
                .ok_or_else(|| SearchError::internal("a guest without memory"))?,
            shared,
            store,
            guest,
            session: None,
            interrupt: interrupt.clone(),
            is_broken: false,
            running: None,
        };
        instance.watch(&interrupt);
        Ok(instance)
    }

    /// Returns the size of its linear memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.store.data().memory.num_bytes
    }

    /// Prepares the instance for another search.
    pub(super) fn begin(&mut self, limits: &InstanceLimits) {
        self.interrupt = limits.interrupt.clone();
        self.watch(&limits.interrupt);
        let max_memory_bytes = self.shared.max_memory_bytes(limits);
        let state = self.store.data_mut();
        (state.max_memory_bytes, state.is_over_memory) = (max_memory_bytes, false);
    }

    /// Ends the open session. Returns whether the instance can be reused.
    pub(super) fn end(&mut self) -> bool {
        let Some(session) = self.session.take() else {
            return false;
        };
        // This needs its own time limit, because that of a cancelled search would stop it
        // immediately.
        self.watch(&Interrupt::after(Instant::now(), TIME_TO_END));
        let is_ended = !self.is_broken && session.resource_drop(&mut self.store).is_ok();
        self.running = None;
        is_ended
    }

    /// Lets the interrupt stop the guest, in place of an earlier one.
    fn watch(&mut self, interrupt: &Interrupt) {
        self.running = None;
        let due = interrupt.clone();
        #[cfg(target_os = "linux")]
        {
            self.stop_page.give_back();
            let stop_page = Arc::clone(&self.stop_page);
            self.running = Some(self.shared.ticker.run(move || {
                if due.is_due() {
                    stop_page.take();
                }
            }));
        }
        #[cfg(not(target_os = "linux"))]
        {
            self.store
                .epoch_deadline_callback(move |_| match due.is_due() {
                    true => Err(Trap::Interrupt.into()),
                    false => Ok(UpdateDeadline::Continue(1)),
                });
            self.store.set_epoch_deadline(1);
            let wasmtime = self.shared.wasmtime.clone();
            let tick = move || wasmtime.increment_epoch();
            self.running = Some(self.shared.ticker.run(tick));
        }
    }

    /// Returns whether a trap means that the guest was stopped.
    fn is_stopped(&self, trap: Option<&Trap>) -> bool {
        #[cfg(target_os = "linux")]
        return trap == Some(&Trap::MemoryOutOfBounds) && self.stop_page.is_taken();
        #[cfg(not(target_os = "linux"))]
        return trap == Some(&Trap::Interrupt);
    }

    /// Converts a trap or another failure of a call to the error for the caller.
    fn trapped(&mut self, error: &wasmtime::Error) -> SearchError {
        self.is_broken = true;
        self.session = None;
        let max_memory_bytes = self.store.data().max_memory_bytes;
        match error.downcast_ref::<Trap>() {
            trap if self.is_stopped(trap) => self.interrupt.error(),
            Some(Trap::StackOverflow) => SearchError::limit(
                "the query is nested too deeply for the guest's stack; simplify it",
            ),
            _ if self.store.data().is_over_memory => over_memory(max_memory_bytes),
            _ => {
                // The details of the trap are meant for operators.
                error!(target: "canter::guest", engine = "wasm", trap = format!("{error:#}"), "the guest trapped");
                defect()
            }
        }
    }

    fn check_usable(&self) -> Result<(), SearchError> {
        if self.is_broken {
            return Err(SearchError::internal(
                "a call into a guest that has trapped",
            ));
        }
        self.interrupt.check()
    }
}

impl EngineInstance for WasmInstance {
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError> {
        self.check_usable()?;
        if let Some(session) = self.session.take() {
            session
                .resource_drop(&mut self.store)
                .map_err(|error| self.trapped(&error))?;
        }
        let sessions = self.guest.canter_search_engine().session();
        let store = &mut self.store;
        let opened = match &request {
            SessionRequest::Http {
                request,
                settings,
                max_leaves,
            } => {
                let request = wit::HttpRequest {
                    method: &request.method,
                    path: &request.path,
                    query: &request.query,
                    body: &request.body,
                };
                sessions.call_http(store, request, settings, *max_leaves)
            }
            SessionRequest::Leaf(request) => sessions.call_leaf(store, request),
            SessionRequest::Root { root, partials } => {
                let partials: Vec<&[u8]> = partials.iter().map(Vec::as_slice).collect();
                sessions.call_root(store, root, &partials)
            }
        };
        let session = opened
            .map_err(|error| self.trapped(&error))?
            .map_err(search_error)?;
        self.session = Some(session);
        let sessions = self.guest.canter_search_engine().session();
        let asked = sessions
            .call_budget(&mut self.store, session)
            .map_err(|error| self.trapped(&error))?;
        Ok(Budget {
            max_requests: asked.max_requests,
            max_bytes: asked.max_bytes,
            max_waves: asked.max_waves,
            deadline_ms: asked.deadline_ms,
        })
    }

    fn step(
        &mut self,
        mut supplies: Vec<Supply>,
        report: HostReport,
    ) -> Result<Progress, SearchError> {
        let bytes_at_once = self.shared.options.bytes_at_once;
        let mut demand = Demand::default();
        loop {
            let rest = supplies.split_off(len_of_part(&supplies, bytes_at_once));
            match self.step_with(&supplies, &report)? {
                // Entries that were offered to the cache before are dropped: the session did not
                // wait for the rest.
                Progress::Done(outcome) => return Ok(Progress::Done(outcome)),
                Progress::Pending(asked) => demand.extend(asked),
            }
            if rest.is_empty() {
                return Ok(Progress::Pending(demand));
            }
            supplies = rest;
        }
    }
}

impl WasmInstance {
    /// Calls the guest once.
    fn step_with(
        &mut self,
        supplies: &[Supply],
        report: &HostReport,
    ) -> Result<Progress, SearchError> {
        self.check_usable()?;
        let session = self
            .session
            .ok_or_else(|| SearchError::internal("a step without an open session"))?;
        let supplies: Vec<wit::Supply<'_>> = supplies.iter().map(wit_supply).collect();
        let report = wit::HostReport {
            elapsed_us: report.elapsed_us,
            timed_out: report.timed_out,
            budget_exhausted: report.budget_exhausted.as_deref(),
        };
        let progress = self
            .guest
            .canter_search_engine()
            .session()
            .call_step(&mut self.store, session, &supplies, report)
            .map_err(|error| self.trapped(&error))?;
        match progress {
            wit::Progress::Pending(demand) => Ok(Progress::Pending(host_demand(demand))),
            wit::Progress::Done(outcome) => Ok(Progress::Done(host_outcome(outcome))),
            wit::Progress::Failed(error) => Err(search_error(error)),
        }
    }
}

fn over_memory(max_memory_bytes: usize) -> SearchError {
    SearchError::limit(format!(
        "the guest needs more than its {} MiB of memory; raise max_memory_bytes or narrow the query",
        max_memory_bytes >> 20
    ))
}

fn wit_supply(supply: &Supply) -> wit::Supply<'_> {
    wit::Supply {
        id: supply.id,
        outcome: match &supply.outcome {
            SupplyResult::Bytes(bytes) => wit::SupplyResult::Bytes(bytes),
            SupplyResult::Miss => wit::SupplyResult::Miss,
            SupplyResult::Failed { kind, message } => wit::SupplyResult::Failed(wit::FetchError {
                kind: wit_fetch_error_kind(*kind),
                message,
            }),
        },
    }
}

fn wit_fetch_error_kind(kind: FetchErrorKind) -> wit::FetchErrorKind {
    match kind {
        FetchErrorKind::NotFound => wit::FetchErrorKind::NotFound,
        FetchErrorKind::Truncated => wit::FetchErrorKind::Truncated,
        FetchErrorKind::Denied => wit::FetchErrorKind::Denied,
        FetchErrorKind::Protocol => wit::FetchErrorKind::Protocol,
        FetchErrorKind::Unavailable => wit::FetchErrorKind::Unavailable,
        FetchErrorKind::Budget => wit::FetchErrorKind::Budget,
    }
}

fn host_demand(demand: wit::Demand) -> Demand {
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

fn host_class(class: wit::ByteClass) -> ByteClass {
    match class {
        wit::ByteClass::Manifest => ByteClass::Manifest,
        wit::ByteClass::Head => ByteClass::Head,
        wit::ByteClass::Dictionary => ByteClass::Dictionary,
        wit::ByteClass::Postings => ByteClass::Postings,
        wit::ByteClass::FastField => ByteClass::FastField,
        wit::ByteClass::DocStore => ByteClass::DocStore,
        wit::ByteClass::PartialResult => ByteClass::PartialResult,
    }
}

fn host_outcome(outcome: wit::Outcome) -> Outcome {
    match outcome {
        wit::Outcome::Plan(plan) => Outcome::Plan(QueryPlan {
            leaves: plan.leaves,
            root: plan.root,
        }),
        wit::Outcome::Partial(bytes) => Outcome::Partial(bytes),
        wit::Outcome::Http(response) => Outcome::Http(HttpResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        }),
    }
}

fn search_error(error: wit::SearchError) -> SearchError {
    let kind = match error.kind {
        wit::SearchErrorKind::Invalid => ErrorKind::Invalid,
        wit::SearchErrorKind::NotFound => ErrorKind::NotFound,
        wit::SearchErrorKind::Data => ErrorKind::Data,
        wit::SearchErrorKind::Unavailable => ErrorKind::Unavailable,
        wit::SearchErrorKind::Limit => ErrorKind::Limit,
        wit::SearchErrorKind::Internal => ErrorKind::Internal,
    };
    SearchError::new(kind, error.message)
}
