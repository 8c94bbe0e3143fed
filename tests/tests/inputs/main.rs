//! Inputs: formats, pipelines, transforms, and settings of other products.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod access_logs;
mod formats;
mod json_times;
mod levels;
mod log_lines;
mod pipelines;
mod quickwit_settings;
mod strangers;
mod suggestions;
mod transforms;
mod words_found;
