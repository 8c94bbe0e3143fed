//! Running instances: their memory, their clock, and the data that enters and leaves them.

mod idle;
mod instance;
#[cfg(target_os = "linux")]
mod memory;
mod parts;
#[cfg(target_os = "linux")]
mod stop;
mod ticker;

pub(super) use idle::{Idle, LentInstance};
pub(super) use instance::{GuestPre, Shared};
#[cfg(target_os = "linux")]
pub(super) use memory::LargePages;
pub(super) use ticker::Ticker;
