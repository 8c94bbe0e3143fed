//! `canter doctor`: examines a store or web server, and recommends changes.

mod run;
mod writing;

pub(crate) use run::{DoctorArgs, run};
