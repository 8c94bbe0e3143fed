//! Time as the host sees it: the system's, or a virtual one that a test advances.
//!
//! Everything in the runtime that waits (deadlines, backoff, hedging, simulated latency) waits on a
//! [`Clock`]. Under a [`VirtualClock`] a search that would take seconds takes none, and takes exactly
//! the same virtual time each time.

mod contract;
mod system;
mod virtual_clock;

pub use contract::{BusyGuard, Clock, Elapsed, timeout_at};
pub use system::SystemClock;
pub use virtual_clock::{CpuTime, VirtualClock};
