//! Requests that change something: their URLs and bodies, and their answers and refusals.

mod analyze;
mod json;
mod params;
mod problem;
mod request;
mod tasks;
mod templates;

pub(crate) use analyze::with_parts;
pub(crate) use json::{check_values, json_of};
pub(crate) use params::Params;
pub(crate) use problem::{Problem, refused_document, status_of};
pub(crate) use request::{ChangeRequest, fail, respond};
pub(crate) use tasks::Tasks;
pub(crate) use templates::{Stored, Written, may_be_stored, written};
