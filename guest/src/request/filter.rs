//! The forced filter: a query that a host adds to whatever a caller asks for.

use serde::{Deserialize as _, Deserializer, de::Error as _};
use serde_json::Value;

use super::texts;
use crate::SearchError;
use crate::limits::Limits;
use crate::query::{QueryNode, parse_query};

/// Parses a forced filter.
///
/// # Errors
/// If it is not in the query language, or if a part of it names no field: the caller's `search_field`
/// would then decide what it means.
pub(crate) fn parse_filter(filter: &str, limits: &Limits) -> Result<QueryNode, SearchError> {
    let named = |mut error: SearchError| {
        error.message = format!("forced_filter: {}", error.message);
        error
    };
    let ast = parse_query(filter, limits).map_err(named)?;
    if !ast.names_its_fields() {
        return Err(SearchError::invalid(
            "forced_filter: each of its terms needs a field in front, such as tenant_id:7",
        ));
    }
    Ok(ast)
}

/// Reads forced filters: a text, or a list of them.
pub(crate) fn read_filters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let filters = match Value::deserialize(deserializer)? {
        Value::String(filter) => Some(vec![filter]),
        json => texts(json),
    };
    let filters = filters
        .ok_or_else(|| D::Error::custom("forced_filter: this must be text, or a list of texts"))?;
    Ok((!filters.is_empty()).then_some(filters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_filter_names_its_field() {
        for (filter, is_good) in [
            ("tenant:7", true),
            ("tenant:7 AND (level:error OR NOT level:info)", true),
            ("tenant: IN [7 8]", true),
            ("tenant:[7 TO 9] AND host:*", true),
            ("*", true),
            ("7", false),
            ("tenant:7 OR 8", false),
            ("tenant:(", false),
            ("", false),
        ] {
            let parsed = parse_filter(filter, &Limits::default());
            assert_eq!(parsed.is_ok(), is_good, "{filter}: {parsed:?}");
        }
    }
}
