//! One file per command: its arguments, and its implementation.

pub(crate) mod cache;
pub(crate) mod demo;
#[cfg(feature = "doctor")]
pub(crate) mod doctor;
pub(crate) mod index;
#[cfg(feature = "serve")]
pub(crate) mod key;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod presets;
pub(crate) mod prices;
pub(crate) mod search;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod split;
