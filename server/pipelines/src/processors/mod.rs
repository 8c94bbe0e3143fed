//! Processors: what a pipeline is made of.

mod control;
mod convert;
mod dates;
mod dissect;
mod fields;
mod grok;
mod kinds;
mod parts;
mod texts;
mod values;

pub(crate) use kinds::process_of;
