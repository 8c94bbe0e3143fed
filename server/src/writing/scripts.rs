//! Scripts of `_update`, `_bulk`, `_update_by_query` and `_reindex`: what they are given, and what they ask for.

use std::sync::Arc;

use axum::http::StatusCode;
use canter_index_builder::unix_time_ms;
use canter_painless::{Script, ScriptError};
use serde_json::{Map, Value, json};

use crate::indexes::Kept;
use crate::requests::{ChangeRequest, Problem};

/// What a script sees of a document beside its values, and may change where documents are copied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) index: String,
    pub(super) id: String,
    pub(super) routing: Option<String>,
    pub(super) version: Option<u64>,
}

/// What a script asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Written,
    Unchanged,
    Deleted,
}

/// What a script made of a document.
#[derive(Debug)]
pub(super) struct Scripted {
    pub(super) wanted: Wanted,
    pub(super) source: Map<String, Value>,
    pub(super) seen: Seen,
}

/// What a script is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A document is changed.
    Update,
    /// A document is added.
    Upsert,
    /// Documents that were found are changed.
    ByQuery,
    /// Documents are copied, and may get other ids and indexes.
    Copy,
}

/// A script of a request, with its parameters.
#[derive(Debug)]
pub(super) struct Scripting {
    script: Script,
    params: Map<String, Value>,
    of_one: bool,
}

impl Scripting {
    /// Reads and compiles the value of `script`, which may name one of the `stored` ones. `of_one` says whether it changes one document, of which errors are told in
    /// another form.
    ///
    /// # Errors
    /// It is not in Painless, does not exist, or cannot be compiled.
    pub(super) fn read(value: Value, of_one: bool, stored: Option<&Kept>) -> Result<Self, Problem> {
        let mut object = match value {
            Value::String(source) => Map::from_iter([("source".to_owned(), Value::String(source))]),
            Value::Object(object) => object,
            other => return Err(Problem::parsing(format!("[script] cannot be [{other}]"))),
        };
        if let Some(id) = object.remove("id") {
            let id = text_of(&id);
            let script = stored.and_then(|stored| stored.script(&id));
            let source = script.map(|script| script["source"].clone());
            let source = source.ok_or_else(|| Problem {
                status: StatusCode::NOT_FOUND,
                ..Problem::invalid(
                    "resource_not_found_exception",
                    format!("unable to find script [{id}]"),
                )
            })?;
            if object.insert("source".to_owned(), source).is_some() {
                return Err(Problem::illegal(
                    "[script] has both [source] and [id], of which there can be one",
                ));
            }
        }
        let lang = object.remove("lang").unwrap_or_else(|| "painless".into());
        if lang != "painless" {
            return Err(Problem::illegal(format!(
                "script_lang not supported [{}]",
                text_of(&lang)
            )));
        }
        let source = object.remove("source").or_else(|| object.remove("inline"));
        let Some(Value::String(source)) = source else {
            return Err(Problem::illegal(
                "must specify either [source] for an inline script or [id] for a stored script",
            ));
        };
        let params = match object.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(other) => return Err(Problem::parsing(format!("[params] cannot be [{other}]"))),
        };
        object.remove("options");
        if let Some(unknown) = object.keys().next() {
            return Err(Problem::parsing(format!(
                "[script] unknown field [{unknown}]"
            )));
        }
        match Script::compile(&source) {
            Ok(script) => Ok(Self {
                script,
                params,
                of_one,
            }),
            Err(error) => Err(failed(&error, &source, of_one)),
        }
    }

    /// Runs the script over a document.
    ///
    /// # Errors
    /// The script fails, or asks for what cannot be done.
    pub(super) fn run(
        &self,
        source: Map<String, Value>,
        seen: &Seen,
        of: Use,
    ) -> Result<Scripted, Problem> {
        let now_ms = i64::try_from(unix_time_ms()).unwrap_or(i64::MAX);
        let mut ctx = Map::new();
        ctx.insert("_index".to_owned(), seen.index.clone().into());
        ctx.insert("_id".to_owned(), seen.id.clone().into());
        ctx.insert("_version".to_owned(), seen.version.into());
        ctx.insert("_routing".to_owned(), seen.routing.clone().into());
        if matches!(of, Use::Update | Use::Upsert) {
            ctx.insert("_now".to_owned(), now_ms.into());
        }
        let op = if of == Use::Upsert { "create" } else { "index" };
        ctx.insert("op".to_owned(), op.into());
        ctx.insert("_source".to_owned(), source.into());
        let run = || self.script.run(&ctx, &self.params, now_ms);
        let made = tokio::task::block_in_place(run);
        let made = made.map_err(|error| failed(&error, self.script.source(), self.of_one))?;
        asked_for(made, &ctx, seen, of)
    }
}

/// Returns what the root keeps, if a body has a script that is named by an id.
///
/// # Errors
/// If the catalog cannot be read.
pub(super) async fn stored_scripts(
    request: &ChangeRequest<'_>,
    body: Option<&[u8]>,
) -> Result<Option<Arc<Kept>>, Problem> {
    let has = |word: &[u8]| body.is_some_and(|body| body.windows(word.len()).any(|at| at == word));
    match request.root {
        Some(root) if has(b"\"script\"") && has(b"\"id\"") => root.kept().await.map(Some),
        _ => Ok(None),
    }
}

/// Compiles a script that is to be stored.
///
/// # Errors
/// As [`Scripting::read`].
pub(crate) fn check_script(script: &Value) -> Result<(), Problem> {
    Scripting::read(script.clone(), false, None).map(drop)
}

fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the error of a script in Elasticsearch's form.
fn failed(error: &ScriptError, source: &str, of_one: bool) -> Problem {
    let mut told = error.to_json(source);
    let detail = match of_one {
        true => json!({"caused_by": told}),
        false => {
            let keys = told.as_object_mut();
            let keys = keys.map(|keys| {
                keys.remove("type");
                keys.remove("reason");
                std::mem::take(keys)
            });
            Value::Object(keys.unwrap_or_default())
        }
    };
    let (kind, reason) = match of_one {
        true => ("illegal_argument_exception", "failed to execute script"),
        false => ("script_exception", error.phase()),
    };
    Problem {
        detail: Some(Box::new(detail)),
        ..Problem::invalid(kind, reason)
    }
}

/// Reads what a script left in `ctx`.
///
/// # Errors
/// It asks for what cannot be done.
fn asked_for(
    mut made: Map<String, Value>,
    before: &Map<String, Value>,
    seen: &Seen,
    of: Use,
) -> Result<Scripted, Problem> {
    let op = made.remove("op").unwrap_or_default();
    let wanted = match (op.as_str(), of) {
        (Some("index"), _) | (Some("create"), Use::Upsert | Use::Copy) => Wanted::Written,
        (Some("noop" | "none"), _) | (Some("delete"), Use::Upsert) => Wanted::Unchanged,
        (Some("delete"), _) => Wanted::Deleted,
        _ => {
            return Err(Problem::illegal(format!(
                "Operation type [{}] not allowed, only [noop, index, delete] are allowed",
                text_of(&op)
            )));
        }
    };
    let Some(Value::Object(source)) = made.remove("_source") else {
        return Err(Problem::illegal(
            "[ctx._source] must be a map after a script",
        ));
    };
    let mut scripted = Scripted {
        wanted,
        source,
        seen: seen.clone(),
    };
    for (key, value) in made {
        let is_same = before.get(&key) == Some(&value);
        match (key.as_str(), value) {
            _ if is_same => {}
            ("_id", Value::String(id)) if of == Use::Copy => scripted.seen.id = id,
            ("_index", Value::String(index)) if of == Use::Copy => scripted.seen.index = index,
            ("_routing", Value::String(routing)) if of == Use::Copy => {
                scripted.seen.routing = Some(routing);
            }
            ("_routing", Value::Null) if of == Use::Copy => scripted.seen.routing = None,
            ("_id" | "_index" | "_routing" | "_version" | "_now", _) => {
                return Err(Problem::illegal(format!("Modifying [{key}] not allowed")));
            }
            _ => {
                return Err(Problem::illegal(format!(
                    "Invalid fields added to context [{key}]: fields of documents are below [ctx._source]"
                )));
            }
        }
    }
    if scripted.seen.id.is_empty() || scripted.seen.index.is_empty() {
        return Err(Problem::illegal(
            "[_id] and [_index] cannot be empty after a script",
        ));
    }
    Ok(scripted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Seen {
        Seen {
            index: "i".to_owned(),
            id: "1".to_owned(),
            routing: None,
            version: Some(3),
        }
    }

    async fn made(script: &str, of: Use) -> Result<Scripted, Problem> {
        let source = json!({"n": 1});
        let source = source.as_object().cloned().unwrap_or_default();
        Scripting::read(script.into(), false, None)?.run(source, &seen(), of)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn scripts_ask_for_what_becomes_of_documents() {
        for (script, of, wanted) in [
            ("ctx.op = 'delete'", Use::Update, Wanted::Deleted),
            ("ctx.op = 'none'", Use::Update, Wanted::Unchanged),
            ("ctx.op = 'noop'", Use::ByQuery, Wanted::Unchanged),
            ("ctx._source.n = 2", Use::Copy, Wanted::Written),
            (
                "if (ctx.op == 'create') ctx._source.n = ctx._now",
                Use::Upsert,
                Wanted::Written,
            ),
        ] {
            assert_eq!(made(script, of).await.unwrap().wanted, wanted, "{script}");
        }
        let moved = made(
            "ctx._id = 'x' + ctx._id; ctx._index += '-1'; ctx._routing = 'r'",
            Use::Copy,
        );
        let moved = moved.await.unwrap().seen;
        assert_eq!(
            (&*moved.id, &*moved.index, moved.routing.as_deref()),
            ("x1", "i-1", Some("r"))
        );
        for (script, of, why) in [
            ("ctx._id = 'x'", Use::Update, "Modifying [_id] not allowed"),
            (
                "ctx.n += ctx._version; ctx.x = 1",
                Use::ByQuery,
                "runtime error",
            ),
            (
                "ctx.x = 1",
                Use::ByQuery,
                "Invalid fields added to context [x]",
            ),
            (
                "ctx.op = 'kill'",
                Use::ByQuery,
                "Operation type [kill] not allowed",
            ),
            (
                "ctx._source = 1",
                Use::ByQuery,
                "[ctx._source] must be a map",
            ),
            ("ctx._id = ''", Use::Copy, "cannot be empty"),
        ] {
            let problem = made(script, of).await.unwrap_err();
            assert!(problem.reason.contains(why), "{script}: {}", problem.reason);
        }
    }

    #[test]
    fn scripts_that_cannot_be_compiled_are_refused_with_the_place() {
        for (script, why) in [
            (
                json!({"source": "x", "lang": "expression"}),
                "script_lang not supported [expression]",
            ),
            (json!({"id": "mine"}), "unable to find script [mine]"),
            (
                json!({"source": "ctx", "param": {}}),
                "unknown field [param]",
            ),
            (json!({}), "must specify"),
            (json!(7), "cannot be [7]"),
        ] {
            let problem = Scripting::read(script, true, None).unwrap_err();
            assert!(problem.reason.contains(why), "{}", problem.reason);
        }
        let problem = Scripting::read("ctx._source.n = foo".into(), true, None).unwrap_err();
        let told = problem.body();
        assert_eq!(told["type"], "illegal_argument_exception");
        assert_eq!(told["caused_by"]["type"], "script_exception");
        assert_eq!(told["caused_by"]["reason"], "compile error");
        assert_eq!(told["caused_by"]["position"]["offset"], 16);
        let told = Scripting::read("ctx._source.n = foo".into(), false, None)
            .unwrap_err()
            .body();
        assert_eq!(
            (&told["type"], &told["reason"]),
            (&json!("script_exception"), &json!("compile error"))
        );
        assert_eq!(told["caused_by"]["reason"], "cannot resolve symbol [foo]");
    }
}
