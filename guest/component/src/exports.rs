//! The exported interface: its functions, the sessions behind its resource, and the translation of the types.

#![allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    reason = "wit-bindgen generates the canonical ABI, which is raw pointers by nature"
)]

use std::cell::RefCell;

use canter_protocol as own;

wit_bindgen::generate!({
    path: "../../wit",
    world: "guest",
});

use exports::canter::search::engine::{self as wit, Guest, GuestSession};

struct Component;

export!(Component);

impl Guest for Component {
    type Session = Session;

    fn version() -> String {
        canter_guest::version()
    }

    fn http_error(path: String, kind: wit::SearchErrorKind, message: String) -> wit::HttpResponse {
        let error = own::SearchError::new(own_error_kind(kind), message);
        wit_response(canter_guest::http_error(&path, &error))
    }
}

/// The resource's state. The canonical ABI hands out shared references, hence the cell; a component
/// instance is never entered twice at once, so the borrow cannot fail.
struct Session(RefCell<canter_guest::Session>);

fn opened(
    session: Result<canter_guest::Session, own::SearchError>,
) -> Result<wit::Session, wit::SearchError> {
    match session {
        Ok(session) => Ok(wit::Session::new(Session(RefCell::new(session)))),
        Err(error) => Err(search_error(error)),
    }
}

impl GuestSession for Session {
    fn http(
        request: wit::HttpRequest,
        settings: String,
        max_leaves: u32,
    ) -> Result<wit::Session, wit::SearchError> {
        let request = own::HttpRequest {
            method: request.method,
            path: request.path,
            query: request.query,
            body: request.body,
        };
        opened(canter_guest::Session::http(&request, &settings, max_leaves))
    }

    fn leaf(leaf_request: Vec<u8>) -> Result<wit::Session, wit::SearchError> {
        opened(canter_guest::Session::leaf(&leaf_request))
    }

    fn root(root: Vec<u8>, partials: Vec<Vec<u8>>) -> Result<wit::Session, wit::SearchError> {
        opened(canter_guest::Session::root(&root, &partials))
    }

    fn budget(&self) -> wit::Budget {
        let budget = self.0.borrow().budget();
        wit::Budget {
            max_requests: budget.max_requests,
            max_bytes: budget.max_bytes,
            max_waves: budget.max_waves,
            deadline_ms: budget.deadline_ms,
        }
    }

    fn step(&self, supplies: Vec<wit::Supply>, host: wit::HostReport) -> wit::Progress {
        let supplies = supplies.into_iter().map(supply).collect();
        let report = own::HostReport {
            elapsed_us: host.elapsed_us,
            timed_out: host.timed_out,
            budget_exhausted: host.budget_exhausted,
        };
        match self.0.borrow_mut().step(supplies, report) {
            Ok(own::Progress::Pending(demand)) => wit::Progress::Pending(wit_demand(demand)),
            Ok(own::Progress::Done(outcome)) => wit::Progress::Done(wit_outcome(outcome)),
            Err(error) => wit::Progress::Failed(search_error(error)),
        }
    }
}

fn supply(supply: wit::Supply) -> own::Supply {
    own::Supply {
        id: supply.id,
        outcome: match supply.outcome {
            wit::SupplyResult::Bytes(bytes) => own::SupplyResult::Bytes(bytes.into()),
            wit::SupplyResult::Miss => own::SupplyResult::Miss,
            wit::SupplyResult::Failed(error) => own::SupplyResult::Failed {
                kind: fetch_error_kind(error.kind),
                message: error.message,
            },
        },
    }
}

fn fetch_error_kind(kind: wit::FetchErrorKind) -> own::FetchErrorKind {
    match kind {
        wit::FetchErrorKind::NotFound => own::FetchErrorKind::NotFound,
        wit::FetchErrorKind::Truncated => own::FetchErrorKind::Truncated,
        wit::FetchErrorKind::Denied => own::FetchErrorKind::Denied,
        wit::FetchErrorKind::Protocol => own::FetchErrorKind::Protocol,
        wit::FetchErrorKind::Unavailable => own::FetchErrorKind::Unavailable,
        wit::FetchErrorKind::Budget => own::FetchErrorKind::Budget,
    }
}

fn wit_demand(demand: own::Demand) -> wit::Demand {
    wit::Demand {
        reads: demand.reads.into_iter().map(wit_read).collect(),
        lookups: demand
            .lookups
            .into_iter()
            .map(|lookup| wit::CacheLookup {
                id: lookup.id,
                key: lookup.key,
                class: wit_class(lookup.class),
            })
            .collect(),
        stores: demand
            .stores
            .into_iter()
            .map(|store| wit::CacheStore {
                key: store.key,
                bytes: store.bytes.into(),
                class: wit_class(store.class),
            })
            .collect(),
    }
}

fn wit_read(read: own::ReadRequest) -> wit::ReadRequest {
    wit::ReadRequest {
        id: read.id,
        object: read.object,
        offset: read.offset,
        len: read.len,
        class: wit_class(read.class),
    }
}

fn wit_class(class: own::ByteClass) -> wit::ByteClass {
    match class {
        own::ByteClass::Manifest => wit::ByteClass::Manifest,
        own::ByteClass::Head => wit::ByteClass::Head,
        own::ByteClass::Dictionary => wit::ByteClass::Dictionary,
        own::ByteClass::Postings => wit::ByteClass::Postings,
        own::ByteClass::FastField => wit::ByteClass::FastField,
        own::ByteClass::DocStore => wit::ByteClass::DocStore,
        own::ByteClass::PartialResult => wit::ByteClass::PartialResult,
    }
}

fn wit_outcome(outcome: own::Outcome) -> wit::Outcome {
    match outcome {
        own::Outcome::Plan(plan) => wit::Outcome::Plan(wit::QueryPlan {
            leaves: plan.leaves,
            root: plan.root,
        }),
        own::Outcome::Partial(bytes) => wit::Outcome::Partial(bytes),
        own::Outcome::Http(response) => wit::Outcome::Http(wit_response(response)),
    }
}

fn wit_response(response: own::HttpResponse) -> wit::HttpResponse {
    wit::HttpResponse {
        status: response.status,
        headers: response.headers,
        body: response.body,
    }
}

fn search_error(error: own::SearchError) -> wit::SearchError {
    wit::SearchError {
        kind: match error.kind {
            own::ErrorKind::Invalid => wit::SearchErrorKind::Invalid,
            own::ErrorKind::NotFound => wit::SearchErrorKind::NotFound,
            own::ErrorKind::Data => wit::SearchErrorKind::Data,
            own::ErrorKind::Unavailable => wit::SearchErrorKind::Unavailable,
            own::ErrorKind::Limit => wit::SearchErrorKind::Limit,
            own::ErrorKind::Internal => wit::SearchErrorKind::Internal,
        },
        message: error.message,
    }
}

fn own_error_kind(kind: wit::SearchErrorKind) -> own::ErrorKind {
    match kind {
        wit::SearchErrorKind::Invalid => own::ErrorKind::Invalid,
        wit::SearchErrorKind::NotFound => own::ErrorKind::NotFound,
        wit::SearchErrorKind::Data => own::ErrorKind::Data,
        wit::SearchErrorKind::Unavailable => own::ErrorKind::Unavailable,
        wit::SearchErrorKind::Limit => own::ErrorKind::Limit,
        wit::SearchErrorKind::Internal => own::ErrorKind::Internal,
    }
}
