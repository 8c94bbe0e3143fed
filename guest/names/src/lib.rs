//! Rules that guest and hosts share: name patterns with `*` (for indexes, fields and parts of an
//! answer), the API that a path belongs to with the format of its errors, the parser for the JSON of
//! requests, the words for levels of logs, and the names of time zones.

mod api;
mod filter_path;
mod json;
mod level;
mod list;
mod mend;
mod pattern;
mod zone;

/// Version of Elasticsearch's API that is spoken, as clients are told.
pub const ELASTIC_VERSION: &str = "8.17.0";

pub use api::Api;
pub use filter_path::FilterPath;
pub use json::{JsonError, read_json};
pub use level::normal_level;
pub use list::{Listed, MayBeAbsent, listed_names};
pub use mend::mend_json;
pub use pattern::{matches_any, matches_pattern};
pub use zone::zone_minutes;
