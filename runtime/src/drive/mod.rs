//! Sessions of the guest: the worker thread that owns an instance, what drives it, and how it is interrupted.

pub(crate) mod driver;
pub(crate) mod interrupt;
pub(crate) mod worker;
