//! Runs a script that was read.

mod assign;
mod expressions;
mod machine;
mod statements;

pub(crate) use machine::Machine;
