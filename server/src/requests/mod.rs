//! Requests that change something: what their URLs and bodies say, and how they are answered or refused.

mod json;
mod params;
mod problem;
mod request;

pub(crate) use json::{check_values, json_of};
pub(crate) use params::Params;
pub(crate) use problem::{Problem, status_of};
pub(crate) use request::{ChangeRequest, fail, respond};
