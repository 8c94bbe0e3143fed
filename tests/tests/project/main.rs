//! The project itself: its layers, its documents, and the tests that they refer to.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod architecture;
mod documents;
mod shown_by;
mod tree;
