//! Functions as Lambda runs them: the real programs with a Runtime API on loopback.

mod indexer;
mod leaves;
mod search;
mod shared;
