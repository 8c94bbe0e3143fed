//! Parser of pipelines from JSON.

mod inputs;
mod kinds;
mod level;

pub(crate) use kinds::Draft;
pub(crate) use level::read_level;
