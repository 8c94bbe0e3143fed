//! What a root keeps besides indexes, as tools ask for it: templates and policies.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use canter_access::matches_any;
use canter_index_builder::Templates;
use serde_json::{Value, json};

use super::answers::Asking;
use super::table::Table;
use super::tables::templates_table;
use crate::requests::Problem;

/// Returns the table of templates.
///
/// # Errors
/// If the caller may not see all indexes, or the catalog cannot be read.
pub(super) async fn templates(
    asking: &Asking<'_>,
    is_component: bool,
    names: &str,
) -> Result<Table, Problem> {
    let stored = stored(asking).await?;
    let patterns: Vec<String> = names.split(',').map(str::to_owned).collect();
    let mut table = templates_table(stored.as_ref(), is_component);
    table.rows.retain(|row| {
        let name = row.first();
        name.is_some_and(|name| matches_any(&patterns, name))
    });
    Ok(table)
}

/// Returns the policies of these names.
///
/// # Errors
/// As of [`stored`]; one that is named does not exist.
pub(super) async fn policies(asking: &Asking<'_>, names: &str) -> Result<Value, Problem> {
    let stored = stored(asking).await?.unwrap_or_default().policies;
    let patterns: Vec<String> = names.split(',').map(str::to_owned).collect();
    let is_missing = |name: &&String| !name.contains('*') && !stored.contains_key(*name);
    if let Some(missing) = patterns.iter().find(is_missing) {
        return Err(Problem {
            status: StatusCode::NOT_FOUND,
            ..Problem::invalid(
                "resource_not_found_exception",
                format!("Lifecycle policy not found: {missing}"),
            )
        });
    }
    let found = stored
        .iter()
        .filter(|(name, _)| matches_any(&patterns, name));
    let shown = found.map(|(name, body)| {
        let used_by = json!({"indices": [], "data_streams": [], "composable_templates": []});
        let policy = json!({
            "version": 1, "modified_date": "1970-01-01T00:00:00.000Z", "policy": body["policy"], "in_use_by": used_by,
        });
        (name.clone(), policy)
    });
    Ok(Value::Object(shown.collect()))
}

/// Returns the pipelines of these names, as they were put. A caller that may not see all indexes sees none.
///
/// # Errors
/// If the catalog cannot be read; one that is named does not exist.
pub(super) async fn pipelines(asking: &Asking<'_>, names: &str) -> Result<Value, Problem> {
    let stored = match asking.caller.indexes {
        None => stored(asking).await?.unwrap_or_default().pipelines,
        Some(_) => BTreeMap::new(),
    };
    let patterns: Vec<String> = names.split(',').map(str::to_owned).collect();
    let is_missing = |name: &&String| !name.contains('*') && !stored.contains_key(*name);
    if let Some(missing) = patterns.iter().find(is_missing) {
        return Err(Problem {
            status: StatusCode::NOT_FOUND,
            ..Problem::invalid(
                "resource_not_found_exception",
                format!("pipeline [{missing}] is missing"),
            )
        });
    }
    let found = stored
        .into_iter()
        .filter(|(name, _)| matches_any(&patterns, name));
    Ok(Value::Object(found.collect()))
}

/// Returns the templates and policies of the root; `None` if there is no root.
///
/// # Errors
/// If the caller may not see all indexes, or the catalog cannot be read.
async fn stored(asking: &Asking<'_>) -> Result<Option<Templates>, Problem> {
    if asking.caller.indexes.is_some() {
        return Err(Problem {
            status: StatusCode::FORBIDDEN,
            ..Problem::invalid(
                "security_exception",
                "templates are about indexes of any name: they need a token for all indexes",
            )
        });
    }
    match asking.root {
        Some(root) => {
            let read = root.work(|root| root.catalog.templates().map_err(Problem::from));
            read.await.map(Some)
        }
        None => Ok(None),
    }
}
