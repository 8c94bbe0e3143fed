//! `canter index delete`: deletes the documents that match a query, and verifies that none is left.

mod lister;
mod remains;
mod run;

pub(crate) use lister::Lister;
pub(super) use run::num_docs;
pub(crate) use run::{DeleteArgs, run};
