//! Methods and fields of values, and those of classes: the part of Java's and Painless' that updates use.

mod host;
mod lists;
mod maps;
mod numbers;
mod objects;
mod sort;
mod statics;
mod streams;
mod texts;

pub(crate) use host::{Host, Passed};
pub(crate) use objects::{call, member, new_object};
pub(crate) use statics::{call_static, class_of, constant_of};
