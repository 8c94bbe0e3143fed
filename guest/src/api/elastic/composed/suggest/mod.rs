//! `suggest`: terms of dictionaries near the words of a text, and inputs that a text begins.
//!
//! See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/search-suggesters>.

mod complete;
mod near;
mod options;
mod read;
mod terms;
mod types;

pub(in crate::api::elastic) use read::{read_suggestions, suggest};
pub(in crate::api::elastic) use types::Suggestions;
