//! Scope of a query: its fields and its time range.

use canter_doc_mapper::parse_seconds;
use clap::Args;
use serde_json::{Map, Value};

/// Fields and time range of a query.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Fields to search for words that name no field, separated by commas [default: those of the index config].
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    search_field: Vec<String>,

    /// Start of the time range (inclusive): seconds since 1970, or a date such as 2016-04-13 or 2016-04-13T08:00:00Z.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_seconds)]
    start_timestamp: Option<i64>,

    /// End of the time range (exclusive), in the same form.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_seconds)]
    end_timestamp: Option<i64>,
}

impl ScopeArgs {
    /// Adds the scope to a search request.
    pub(crate) fn add_to(&self, request: &mut Map<String, Value>) {
        if !self.search_field.is_empty() {
            let fields = self.search_field.clone();
            request.insert("search_field".to_owned(), fields.into());
        }
        for (key, time) in [
            ("start_timestamp", self.start_timestamp),
            ("end_timestamp", self.end_timestamp),
        ] {
            if let Some(time) = time {
                request.insert(key.to_owned(), time.into());
            }
        }
    }
}
