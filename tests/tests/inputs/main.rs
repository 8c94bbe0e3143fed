//! What goes in: formats, pipelines, transforms, settings of others.
//!
//! One program for all of them: linking is most of what a test program takes to build.

mod access_logs;
mod formats;
mod json_times;
mod log_lines;
mod pipelines;
mod quickwit_settings;
mod transforms;
