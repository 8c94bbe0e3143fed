//! Families of logs, each generated from its documented layout: read right, record for record; and texts that are no
//! logs.

mod docs;
mod families;
mod learned;
mod no_logs;
mod properties;
