//! Values of scripts, and what operators do with them. Nothing here knows expressions.

mod compare;
mod convert;
mod heap;
mod numbers;
mod show;
mod value;

pub(crate) use compare::{compare, equals, is_equal, units};
pub(crate) use convert::{cast, convert};
pub(crate) use heap::{Heap, Id, Table};
pub(crate) use numbers::{add, arithmetic, bits, negate, order, shift};
pub(crate) use show::shown;
pub(crate) use value::{Type, Value, View};
