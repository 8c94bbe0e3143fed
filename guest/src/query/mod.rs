//! From a query string to a tantivy query, and to the list of what it will read.

mod build;
mod columns;
mod default_fields;
mod depth;
mod excluded;
mod literal;
mod matching;
mod needs;
mod negative;
mod range;
mod required_tags;
mod required_terms;
mod scan;
mod value;
mod wildcard;

pub(crate) use build::{BuiltQuery, QueryShape, build_query, parse_query};
pub(crate) use matching::compile;
pub(crate) use needs::Needs;
pub(crate) use required_tags::{RequiredTag, required_tags};
pub(crate) use required_terms::{RequiredTerms, required_terms};
pub(crate) use scan::{Answers, DocTerms, Scan};
