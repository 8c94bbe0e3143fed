//! Root search: partial results → hits → documents → the answer.

mod buckets;
mod elastic;
mod fetch_docs;
mod highlight;
mod merge;
mod pretty;
mod profile;
mod response;
mod snippets;

pub(crate) use elastic::{elements, entries, put};
pub(crate) use merge::Merged;
pub(crate) use pretty::pretty;
pub(crate) use response::{CachedAnswer, PlanFacts, RootSearch, answer_from_cache, to_json};
