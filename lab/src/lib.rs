//! The latency laboratory: an object store with seeded latency, bandwidth, limits and failures.
//!
//! ```text
//!   SimulatedStore (a RangeFetcher)   proxy::Proxy (HTTP over real sockets)
//!              └──────────┬──────────────────────┘
//!                      Network    one request: connection → first byte → transfer → fate
//!                   ┌─────┼───────┐
//!             Semaphore  Draw    Link, shared by all transfers
//!                         │
//!                    LatencyModel
//! ```
//!
//! On a [`VirtualClock`](canter_runtime::clock::VirtualClock) a search over a [`SimulatedStore`] takes no real
//! time except for the guest's computation, and exactly the same virtual time whenever it is repeated.
//! Connection setup (TCP, TLS, DNS), request bodies, and the price are not simulated.

mod draw;
mod link;
mod model;
mod network;
mod normal;
pub mod proxy;
mod spec;
mod store;

pub use model::{FailureRates, LatencyModel, SlowTail};
pub use network::{Attempt, AttemptEnd, Traffic};
pub use store::SimulatedStore;
