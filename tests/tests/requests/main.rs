//! Costs of searches: waves, requests, bytes, memory and steps, on each kind of host.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod bounds;
mod budgets;
mod concurrency;
mod edge_io;
mod indexes_at_once;
mod needles;
mod pages;
mod pruning;
mod small_splits;
mod static_files;
mod together;
mod vectors;
mod year_of_splits;
