//! The functions as Lambda runs them: the real programs behind a Runtime API on loopback.

mod indexer;
mod leaves;
mod search;
mod shared;
