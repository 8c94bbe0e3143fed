//! Waves without I/O: from a demand to its supplies, as a state machine that hosts execute.
//!
//! ```text
//!   demand ─→ Wave ─→ puts, look-ups ──────────────→ host: cache
//!              ↑ └──→ next_round: fetches ─────────→ host: flights, store
//!              └───── found, landed, time_is_up ←───┘
//!            Wave ─→ supplies, costs
//! ```
//!
//! A [`Wave`] plans (aligns to blocks, joins flights, coalesces, cuts), distributes what arrives, and repeats a round
//! for reads that a merged request or another search's flight has failed. This crate also has the rules that hosts
//! share: the budget ([`Gate`]), versions of immutable objects ([`Etags`]), and the age of a cached manifest
//! ([`ManifestAge`]).
//!
//! This crate sends nothing, waits for nothing, reads no clock and holds no cache. A host calls, in this order,
//! [`Wave::begin`], the look-ups, [`Wave::next_round`] until it is empty, and [`Wave::end`]; between two rounds every
//! fetch has landed or the time is up.

mod costs;
mod etags;
mod fetch_error;
mod gate;
mod manifest;
mod planning;
mod read;
mod wave;

pub use costs::{ClassCount, Costs, RequestRecord, WaveRecord};
pub use etags::Etags;
pub use fetch_error::{FetchError, bounds_of};
pub use gate::{Gate, TIME_IS_UP};
pub use manifest::{ManifestAge, ManifestOptions, may_replace};
pub use planning::{Fetch, Host, SPLIT_CLASSES};
pub use read::asked_of;
pub use wave::{Asked, Found, Landed, LookUp, Sent, Wave};
