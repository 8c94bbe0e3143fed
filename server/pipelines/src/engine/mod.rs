//! Runs compiled pipelines, whatever their processors do.

mod entry;
mod process;
mod run;

pub(crate) use entry::Entry;
pub use entry::{Pipeline, Pipelines};
pub(crate) use process::{Flow, Process};
pub use run::{Outcome, Step, StepStatus};
pub(crate) use run::{Run, script_failure};
