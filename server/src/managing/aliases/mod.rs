//! Aliases: requests that change and show them.

mod change;
mod show;

pub(super) use change::{delete, put, update};
pub(crate) use show::shown;
