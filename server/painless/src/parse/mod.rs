//! From tokens to expressions and statements, by recursive descent. Names are resolved here: what is no variable, class
//! or method of the language is an error before anything runs.

mod expressions;
mod literals;
mod parser;
mod postfix;
mod statements;

pub(crate) use parser::Program;
pub(crate) use statements::program_of;
