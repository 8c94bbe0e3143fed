//! Connections: their maximum number, their protocols, and their time limits.
//!
//! ```text
//!   accept ─┬─ a place is free ─→ TLS, or the first bytes, in time ─┬─ HTTP/1 ─→ header in time ─→ router ─→ answer is
//!           │                                                       │               ↑           taken in time ─┐
//!           │                                                       │               └────── keep-alive ────────┘
//!           │                                                       └─ HTTP/2 ─→ streams ─→ router; closed when idle
//!           └─ none is free, or the machine has no date ────→ 503, and closed
//! ```

mod accept;
mod activity;
mod dated;
mod first_bytes;
mod patient;
mod tls;

pub use accept::ConnectionLimits;
pub(crate) use accept::serve;
pub use tls::Identity;
