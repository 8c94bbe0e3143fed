//! Families of logs, each generated from its documented layout: read right, record for record; and texts that are no
//! logs.

mod docs;
pub(in crate::log_line) mod families;
mod first_files;
mod learned;
mod marked_words;
mod newcomers;
mod no_logs;
mod properties;
mod strangers;
