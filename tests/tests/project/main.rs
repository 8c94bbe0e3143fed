//! The project itself: its layers, its documents, and the tests that they name.
//!
//! One program for all of them: linking is most of what a test program takes to build.

mod architecture;
mod documents;
mod shown_by;
