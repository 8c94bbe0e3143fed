//! What a search costs: waves, requests, bytes, memory and steps, on each kind of host.
//!
//! One program for all of them: linking is most of what a test program takes to build.

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
mod year_of_splits;
