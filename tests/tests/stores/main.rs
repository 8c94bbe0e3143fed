//! Stores and caches that fail, return wrong data, change, or have two writers.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod conditional_writes;
mod damage;
mod doctor;
mod faults;
mod partial_results;
mod passing_damage;
mod s3;
mod store_manners;
