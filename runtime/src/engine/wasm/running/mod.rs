//! Instances while they run: their memory, their clock, and what goes into them and comes out.

mod instance;
#[cfg(target_os = "linux")]
mod memory;
mod parts;
mod ticker;

pub(super) use instance::{GuestPre, InstanceState, WasmInstance};
#[cfg(target_os = "linux")]
pub(super) use memory::LargePages;
pub(super) use ticker::Ticker;
