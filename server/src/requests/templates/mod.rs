//! Search templates: requests whose bodies are written from a template and parameters, before the guest reads them.

mod mustache;
mod rewritten;

pub(crate) use rewritten::{Stored, Written, may_be_stored, written};
