//! Judging of answers: their parts that must be equal, what a request expects, and the comparison of hosts.

pub(crate) mod answers;
pub(crate) mod check;
pub(crate) mod compare;
