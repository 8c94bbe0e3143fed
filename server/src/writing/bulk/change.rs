//! What an `_update` asks for: the body, and which parts of the document are shown.

use canter_names::FilterPath;
use serde_json::{Map, Value};

use super::super::scripts::Scripting;
use super::asked::Asked;
use crate::indexes::Kept;
use crate::requests::{Params, Problem};

/// A change of a document.
pub(super) struct Change {
    /// Fields that get other values.
    pub(super) doc: Option<Map<String, Value>>,
    /// What is added if there is no document.
    pub(super) upsert: Option<Map<String, Value>>,
    pub(super) detects_noop: bool,
    /// What the answer shows of the document.
    pub(super) source: Option<FilterPath>,
    /// What changes the document instead of `doc`.
    pub(super) script: Option<Scripting>,
    /// Whether the script makes the document that is added, too.
    pub(super) scripts_upsert: bool,
}

/// Takes the parameters that say which parts of an updated document are shown.
///
/// # Errors
/// There are too many paths.
pub(super) fn wanted_source(params: &mut Params) -> Result<Option<FilterPath>, String> {
    let given = ["_source", "_source_includes", "_source_excludes"].map(|name| params.text(name));
    let [source, includes, excludes] = given;
    let excludes = excludes.map(|list| excluding(list.split(',')));
    let paths = match source.as_deref() {
        Some("false") => return Ok(None),
        Some("true" | "") => Some(String::new()),
        _ => source,
    };
    let paths = [paths, includes, excludes]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    match paths.is_empty() {
        true => Ok(None),
        false => FilterPath::parse(&paths.join(",")).map(Some),
    }
}

fn excluding<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    paths
        .map(|path| format!("-{path}"))
        .collect::<Vec<_>>()
        .join(",")
}

/// Returns the parts of a document that the line of its action asks for.
pub(super) fn source_of_action(asked: &Asked<'_>) -> Result<Option<FilterPath>, Problem> {
    let Some(text) = &asked.source else {
        return Ok(None);
    };
    let value = serde_json::from_str(text).unwrap_or(Value::Bool(false));
    let shown = (value != Value::Bool(false)).then(|| source_of(&value));
    shown.transpose().map_err(Problem::illegal)
}

impl Change {
    /// Reads the body of an update.
    ///
    /// # Errors
    /// It is invalid, or asks for what cannot be done.
    pub(super) fn read(body: &[u8], stored: Option<&Kept>) -> Result<Self, Problem> {
        let body: Map<String, Value> = serde_json::from_slice(body)
            .map_err(|error| Problem::parsing(format!("the body is no object: {error}")))?;
        let mut change = Self {
            doc: None,
            upsert: None,
            detects_noop: true,
            source: None,
            script: None,
            scripts_upsert: false,
        };
        let mut is_upsert = false;
        for (key, value) in body {
            match (key.as_str(), value) {
                ("doc", Value::Object(doc)) => change.doc = Some(doc),
                ("upsert", Value::Object(upsert)) => change.upsert = Some(upsert),
                ("doc_as_upsert", Value::Bool(flag)) => is_upsert = flag,
                ("_source", Value::Bool(false)) => {}
                ("_source", value) => {
                    change.source = Some(source_of(&value).map_err(Problem::illegal)?);
                }
                ("detect_noop", Value::Bool(flag)) => change.detects_noop = flag,
                ("script", script) => {
                    change.script = Some(Scripting::read(script, true, stored)?);
                }
                ("scripted_upsert", Value::Bool(flag)) => change.scripts_upsert = flag,
                (
                    known
                    @ ("doc" | "upsert" | "doc_as_upsert" | "detect_noop" | "scripted_upsert"),
                    value,
                ) => {
                    return Err(Problem::parsing(format!(
                        "[{known}] cannot be [{value}] in an update"
                    )));
                }
                (unknown, _) => return Err(Problem::parsing(unknown_field(unknown))),
            }
        }
        let problem = match (&change.doc, &change.script) {
            (None, None) if change.upsert.is_none() => Some("script or doc is missing"),
            (Some(_), Some(_)) => Some("can't provide both script and doc"),
            (_, Some(_)) if is_upsert => Some("doc must be specified if doc_as_upsert is enabled"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(Problem::invalid(
                "action_request_validation_exception",
                format!("Validation Failed: 1: {problem};"),
            ));
        }
        if is_upsert {
            change.upsert.clone_from(&change.doc);
        }
        Ok(change)
    }
}

/// Returns the parts of a document that a value of `_source` names.
fn source_of(value: &Value) -> Result<FilterPath, String> {
    let list = |value: &Value| match value {
        Value::String(path) => path.clone(),
        Value::Array(paths) => {
            let paths = paths.iter().filter_map(Value::as_str);
            paths.collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    };
    let excludes = list(&value["excludes"]);
    let excludes = excludes.split(',').filter(|path| !path.is_empty());
    let paths = match value {
        Value::Object(_) => [list(&value["includes"]), excluding(excludes)].join(","),
        _ => list(value),
    };
    FilterPath::parse(&paths)
}

/// Returns the message about an unknown field of a body, with the field that may be meant.
fn unknown_field(name: &str) -> String {
    let known = [
        "doc",
        "upsert",
        "doc_as_upsert",
        "detect_noop",
        "_source",
        "script",
        "scripted_upsert",
    ];
    let is_near = |own: &&str| {
        let num_other = own
            .chars()
            .zip(name.chars())
            .filter(|(a, b)| a != b)
            .count();
        num_other + own.len().abs_diff(name.len()) <= own.len() / 3
    };
    let near = known.into_iter().find(is_near);
    let near = near.map_or_else(String::new, |own| format!(" did you mean [{own}]?"));
    format!("[UpdateRequest] unknown field [{name}]{near}")
}

/// Sets the values of `changes` in a document: objects key by key, everything else as a whole.
pub(super) fn merge(into: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (key, value) in changes {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(into)), Value::Object(changes)) => merge(into, changes),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn changes_go_into_objects_and_replace_everything_else() {
        let mut document = object(json!({"a": {"b": 1, "c": [1, 2]}, "d": 1}));
        merge(
            &mut document,
            object(json!({"a": {"c": [3], "e": null}, "d": {"f": 1}})),
        );
        let wanted = json!({"a": {"b": 1, "c": [3], "e": null}, "d": {"f": 1}});
        assert_eq!(Value::Object(document), wanted);
    }

    #[test]
    fn what_an_update_cannot_do_is_refused_by_name() {
        for (body, why) in [
            (
                "{\"script\":\"ctx._source.a = b\"}",
                "failed to execute script",
            ),
            ("{\"script\":\"\",\"doc\":{}}", "both script and doc"),
            ("{\"doc\":{},\"lang\":\"x\"}", "[lang]"),
            ("{\"doc\":7}", "[doc] cannot be [7]"),
            ("{}", "script or doc is missing"),
            ("[]", "no object"),
        ] {
            let problem = Change::read(body.as_bytes(), None).err().unwrap();
            assert!(problem.reason.contains(why), "{body}: {}", problem.reason);
        }
        let upsert = Change::read(b"{\"doc\":{\"a\":1},\"doc_as_upsert\":true}", None).unwrap();
        assert_eq!(upsert.upsert, Some(object(json!({"a": 1}))));
    }
}
