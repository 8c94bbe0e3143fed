//! Scripts of `bucket_script`, `bucket_selector` and `moving_fn`: one expression over floating point numbers.
//!
//! A part of Painless that means the same there, with one difference: all numbers are floating point, so that
//! `1 / 2` is 0.5. There are no statements, variables, methods, texts or loops. An expression is compiled
//! into steps for a stack; both sides of `&&`, `||` and `? :` are computed, which nothing can tell, since
//! nothing has effects.

mod math;
mod moving;
mod parse;
mod run;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use math::{larger, smaller};
#[cfg(test)]
pub(crate) use moving::WindowFunction;
pub(crate) use parse::Names;
pub(crate) use run::Script;
