//! `collapse.inner_hits`: further hits of the group of each hit.
//!
//! See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/collapse-search-results>.

use serde_json::{Map, Value};

use super::wanted::GroupHits;
use crate::SearchError;
use crate::api::elastic::given::body::{Body, wrong};
use crate::api::elastic::given::params::UrlParams;
use crate::api::elastic::search::read::read_search;
use crate::api::settings::ApiSettings;

/// Default number of hits of a group.
const DEFAULT_SIZE: u64 = 3;
/// Maximum number of lists of hits.
const MAX_LISTS: usize = 20;
/// Maximum number of hits of a group, skipped ones included.
const MAX_SIZE: u64 = 100;

/// Keys of a list: those of a search that concern its hits.
const KNOWN: [&str; 15] = [
    "_source",
    "collapse",
    "docvalue_fields",
    "explain",
    "fields",
    "from",
    "highlight",
    "ignore_unmapped",
    "name",
    "seq_no_primary_term",
    "size",
    "sort",
    "stored_fields",
    "track_scores",
    "version",
];

/// Takes the lists of hits of each group out of `collapse`, for groups of hits of `query`.
///
/// # Errors
/// If a list is invalid.
pub(in crate::api::elastic) fn read_groups(
    body: &mut Body,
    query: &Value,
    total_is_number: bool,
    settings: &ApiSettings,
) -> Result<Vec<GroupHits>, SearchError> {
    let Some(Value::Object(collapse)) = body.map.get_mut("collapse") else {
        return Ok(Vec::new());
    };
    let lists = match collapse.shift_remove("inner_hits") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(lists)) => lists,
        Some(list) => vec![list],
    };
    let field = collapse.get("field").and_then(Value::as_str);
    let field = field.unwrap_or_default().to_owned();
    if lists.len() > MAX_LISTS {
        let what = format!("there may be {MAX_LISTS} of these");
        return Err(wrong("collapse.inner_hits", what));
    }
    let mut groups: Vec<GroupHits> = Vec::new();
    for list in lists {
        let Value::Object(list) = list else {
            let what = "this must be an object, or a list of objects";
            return Err(wrong("collapse.inner_hits", what));
        };
        let group = read_group(list, &field, query, total_is_number, settings)?;
        if groups.iter().any(|other| other.name == group.name) {
            return Err(wrong(
                "collapse.inner_hits",
                format!(
                    "[inner_hits] already contains an entry for key [{}]",
                    group.name
                ),
            ));
        }
        groups.push(group);
    }
    Ok(groups)
}

fn read_group(
    mut list: Map<String, Value>,
    field: &str,
    query: &Value,
    total_is_number: bool,
    settings: &ApiSettings,
) -> Result<GroupHits, SearchError> {
    if let Some(key) = list.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(wrong(
            "collapse.inner_hits",
            format!(
                "{key:?} is not known or not supported; there are {}",
                KNOWN.join(", ")
            ),
        ));
    }
    let name = match list.shift_remove("name") {
        None => field.to_owned(),
        Some(Value::String(name)) => name,
        Some(_) => return Err(wrong("collapse.inner_hits.name", "this must be text")),
    };
    list.shift_remove("ignore_unmapped");
    list.entry("size").or_insert_with(|| DEFAULT_SIZE.into());
    list.insert("query".to_owned(), query.clone());
    list.insert("track_total_hits".to_owned(), true.into());
    let mut params = UrlParams::of("")?;
    let search = read_search(Body { map: list }, &mut params, false, settings)?;
    let mut question = search.question;
    if question.start_offset.saturating_add(question.max_hits) > MAX_SIZE {
        let what = format!("from + size is at most {MAX_SIZE}");
        return Err(wrong("collapse.inner_hits", what));
    }
    if let Some(shown) = &mut question.elastic {
        shown.total_is_number = total_is_number;
    }
    Ok(GroupHits {
        name,
        field: field.to_owned(),
        question,
    })
}
