//! `canter doctor`: examines a store or web server, and says what to change.

mod run;
mod writing;

pub(crate) use run::{DoctorArgs, run};
