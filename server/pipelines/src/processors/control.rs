//! Processors that decide what becomes of documents, and those that run others.

use canter_painless::Script;
use serde_json::{Map, Value};

use crate::document::{Document, Path};
use crate::engine::{Entry, Flow, Process, Run, script_failure};
use crate::error::{ConfigError, Failure};
use crate::options::Options;
use crate::snippet::Snippet;

/// `drop` and `terminate`.
#[derive(Debug)]
pub(super) struct Ends(pub(super) Flow);

impl Process for Ends {
    fn run(&self, _: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        Ok(self.0)
    }
}

#[derive(Debug)]
struct Fail(Snippet);

pub(super) fn fail(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    Ok(Box::new(Fail(options.required_snippet("message")?)))
}

impl Process for Fail {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let message = self.0.text(document);
        Err(Failure::new("fail_processor_exception", message))
    }
}

#[derive(Debug)]
struct Call {
    name: Snippet,
    may_be_missing: bool,
}

pub(super) fn pipeline(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    Ok(Box::new(Call {
        name: options.required_snippet("name")?,
        may_be_missing: options.flag("ignore_missing_pipeline", false)?,
    }))
}

impl Process for Call {
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure> {
        let name = self.name.text(document);
        if self.may_be_missing && !run.pipelines.has(&name) {
            return Ok(Flow::Next);
        }
        if !run.pipelines.has(&name) {
            return Err(Failure::new(
                "illegal_state_exception",
                format!("Pipeline processor configured for non-existent pipeline [{name}]"),
            ));
        }
        run.call(&name, document)
    }
}

#[derive(Debug)]
struct Foreach {
    field: Path,
    inner: Entry,
    ignores_missing: bool,
}

/// Reads a processor inside of another by its kind and options.
pub(crate) type Nested<'n> = dyn FnMut(&str, &Value) -> Result<Entry, ConfigError> + 'n;

pub(super) fn foreach(
    options: &mut Options,
    nested: &mut Nested<'_>,
) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let inner = options.object("processor")?;
    let inner = inner.filter(|inner| inner.len() == 1);
    let Some((kind, inner)) = inner.and_then(|inner| inner.into_iter().next()) else {
        return Err(options.wrong("processor", "Must specify exactly one processor type"));
    };
    Ok(Box::new(Foreach {
        field,
        inner: nested(&kind, &inner)?,
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Foreach {
    /// Runs the inner processor with a value, and its key if it has one, under `_ingest`.
    fn over(
        &self,
        (key, value): (Option<&str>, Value),
        document: &mut Document,
        run: &mut Run<'_>,
    ) -> Result<(Flow, Option<Value>, Value), Failure> {
        document.spend(&value)?;
        let names = ["_key", "_value"];
        let before = names.map(|name| document.ingest.remove(name));
        if let Some(key) = key {
            document.ingest.insert("_key".to_owned(), key.into());
        }
        document.ingest.insert("_value".to_owned(), value);
        let ran = run.one(&self.inner, document);
        let after = names.map(|name| document.ingest.remove(name));
        for (name, before) in names.into_iter().zip(before) {
            if let Some(before) = before {
                document.ingest.insert(name.to_owned(), before);
            }
        }
        let [key, value] = after;
        Ok((ran?, key, value.unwrap_or_default()))
    }
}

impl Process for Foreach {
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure> {
        let value = match document.get(&self.field) {
            Err(_) if self.ignores_missing => return Ok(Flow::Next),
            value => value?,
        };
        let (flow, value) = match value {
            Value::Null if self.ignores_missing => return Ok(Flow::Next),
            Value::Array(list) => {
                let mut made = Vec::with_capacity(list.len());
                let mut last = Flow::Next;
                for value in list {
                    let (flow, _, value) = self.over((None, value), document, run)?;
                    made.push(value);
                    last = flow;
                    if last != Flow::Next {
                        break;
                    }
                }
                (last, Value::Array(made))
            }
            Value::Object(object) => {
                let mut made = Map::new();
                let mut last = Flow::Next;
                for (key, value) in object {
                    let (flow, new_key, value) = self.over((Some(&key), value), document, run)?;
                    let new_key = new_key.as_ref().and_then(Value::as_str);
                    made.insert(new_key.map_or(key, str::to_owned), value);
                    last = flow;
                    if last != Flow::Next {
                        break;
                    }
                }
                (last, Value::Object(made))
            }
            Value::Null => {
                return Err(Failure::illegal(format!(
                    "field [{}] is null, cannot loop over its elements.",
                    self.field.text
                )));
            }
            other => {
                return Err(Failure::illegal(format!(
                    "field [{}] of type [{}] cannot be cast to [java.util.List]",
                    self.field.text,
                    crate::document::class_of(&other)
                )));
            }
        };
        if flow == Flow::Next {
            document.set(&self.field, value)?;
        }
        Ok(flow)
    }
}

#[derive(Debug)]
struct Scripted {
    script: Script,
    params: Map<String, Value>,
}

pub(super) fn script(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    options.only("lang", &["painless".into()])?;
    if options.take("id").is_some() {
        return Err(options.wrong(
            "id",
            "stored scripts are not run by pipelines here: send the [source]",
        ));
    }
    let source = match options.text("source")? {
        Some(source) => source,
        None => options.required("inline")?,
    };
    let script = Script::compile(&source).map_err(|error| ConfigError {
        kind: "script_exception",
        ..options.wrong(
            "source",
            &format!("{}: {} in [{source}]", error.phase(), error.reason()),
        )
    })?;
    Ok(Box::new(Scripted {
        script,
        params: options.object("params")?.unwrap_or_default(),
    }))
}

impl Process for Scripted {
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure> {
        let made = self.script.run(&document.ctx(), &self.params, run.now_ms);
        let made = made.map_err(|error| script_failure(&error, self.script.source()))?;
        document.adopt(made)?;
        Ok(Flow::Next)
    }
}
