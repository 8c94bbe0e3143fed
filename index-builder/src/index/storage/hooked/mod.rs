//! Object stores with a hook around their operations, for tests: one that fails, one whose writers
//! take turns, and one in which something else happens during an operation.

pub(crate) mod failing;
pub(crate) mod meanwhile;
pub(crate) mod scheduled;
mod store;

use store::{Hook, HookedStore, Op};
