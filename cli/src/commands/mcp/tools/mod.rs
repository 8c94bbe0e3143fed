//! The tools for models: their arguments and answers.

mod arguments;
mod explain;
mod fields;
mod indexes;
mod list;
mod schema;
mod search;

pub(super) use arguments::{DescribeArguments, ListArguments, SearchArguments};
pub(super) use explain::explain;
pub(super) use fields::describe;
pub(super) use indexes::list;
pub(super) use list::{AGGREGATE, DESCRIBE_FIELDS, INSTRUCTIONS, LIST_INDEXES, SEARCH, tools_of};
pub(super) use schema::check;
pub(super) use search::{aggregate, search};
