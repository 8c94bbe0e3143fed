//! Requests that are sent again: after a failure, and beside a slow one. Both are limited to a share of all requests.

mod allowance;
mod hedge;
mod latencies;
mod retry;

pub use hedge::HedgeOptions;
pub(crate) use hedge::{Hedge, HedgeState, Pace};
pub(crate) use retry::RetryState;
pub use retry::{Retry, RetryOptions};
