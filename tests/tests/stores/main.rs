//! Stores and caches that fail, lie, change or are written by two.
//!
//! One program for all of them: linking is most of what a test program takes to build.

mod conditional_writes;
mod damage;
mod doctor;
mod faults;
mod partial_results;
mod passing_damage;
mod s3;
mod store_manners;
