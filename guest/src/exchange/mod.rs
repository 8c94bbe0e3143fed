//! The exchange between the guest's futures and the host, and the flag by which a host stops them.

mod demands;
mod interrupt;
mod shared;

pub(crate) use demands::{Exchange, FetchFailure};
pub use interrupt::Interrupt;
pub(crate) use shared::shared;
