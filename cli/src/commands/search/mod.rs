//! `canter search`: one request, one answer.

mod answer;
mod args;
mod explain;
mod inputs;
mod missing;
mod output;
mod patterns;
mod run;

pub(crate) use answer::run;
pub(crate) use args::SearchArgs;
