//! Scripts of `bucket_script`, `bucket_selector` and `moving_fn`: one expression over
//! floating-point numbers.
//!
//! The language is a part of Painless with the same meaning, except that all numbers are
//! floating-point: `1 / 2` is 0.5. It has no statements, variables, methods, texts or loops. An
//! expression is compiled to steps of a stack machine. Both sides of `&&`, `||` and `? :` are
//! computed, which is unobservable because expressions have no side effects.

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
