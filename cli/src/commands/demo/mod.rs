//! `canter demo`: logs → splits → two queries in the wasm guest, with what each step took.

mod build;
mod query;
mod run;

pub(crate) use run::{DemoArgs, run};
