//! Pipelines as they are put: a list of processors, checked and compiled.

use canter_painless::Script;
use serde_json::{Map, Value};

use crate::engine::{Entry, Pipeline};
use crate::error::ConfigError;
use crate::limits::{MAX_DEPTH, MAX_PROCESSORS};
use crate::options::Options;
use crate::processors::process_of;

impl Pipeline {
    /// Reads a pipeline.
    ///
    /// # Errors
    /// It is invalid, too large, or has something that is not supported.
    pub fn read(body: &Value) -> Result<Self, ConfigError> {
        let Value::Object(body) = body else {
            return Err(ConfigError::parsing("a pipeline is an object"));
        };
        let mut options = Options::new("pipeline", body.clone());
        // What tools write beside the processors, and get back.
        for kept in ["description", "version", "_meta", "deprecated"] {
            options.take(kept);
        }
        for dated in [
            "created_date",
            "created_date_millis",
            "modified_date",
            "modified_date_millis",
        ] {
            options.take(dated);
        }
        let mut num = 0;
        let Some(processors) = options.take("processors") else {
            return Err(
                ConfigError::parsing("[processors] required property is missing")
                    .about("processors"),
            );
        };
        let entries = entries_of(&processors, "processors", (0, &mut num))?;
        let on_failure = match options.take("on_failure") {
            None => Vec::new(),
            Some(list) => failing(entries_of(&list, "on_failure", (0, &mut num))?, None)?,
        };
        options.finish().map_err(|error| ConfigError {
            reason: error.reason.replace("processor [pipeline]", "pipeline"),
            processor: None,
            ..error
        })?;
        Ok(Self {
            entries,
            on_failure,
        })
    }
}

fn failing(entries: Vec<Entry>, of: Option<&str>) -> Result<Vec<Entry>, ConfigError> {
    if entries.is_empty() {
        let error = match of {
            None => "pipeline cannot have an empty on_failure option defined",
            Some(_) => "processors list cannot be empty",
        };
        return Err(ConfigError::parsing(error).about("on_failure"));
    }
    Ok(entries)
}

/// Reads a list of processors at a depth. Counts them.
fn entries_of(
    list: &Value,
    name: &str,
    (depth, num): (usize, &mut usize),
) -> Result<Vec<Entry>, ConfigError> {
    let Value::Array(list) = list else {
        return Err(ConfigError::parsing(format!("[{name}] property isn't a list")).about(name));
    };
    let entries = list.iter().map(|one| {
        let only = one.as_object().filter(|object| object.len() == 1);
        let Some((kind, options)) = only.and_then(|object| object.iter().next()) else {
            return Err(ConfigError::parsing(format!(
                "[{name}] has an element that is not the object of one processor"
            )));
        };
        entry_of(kind, options, (depth, &mut *num))
    });
    entries.collect()
}

/// Reads a processor.
fn entry_of(
    kind: &str,
    options: &Value,
    (depth, num): (usize, &mut usize),
) -> Result<Entry, ConfigError> {
    *num += 1;
    if *num > MAX_PROCESSORS || depth > MAX_DEPTH {
        return Err(ConfigError::parsing(format!(
            "a pipeline has at most {MAX_PROCESSORS} processors here, and {MAX_DEPTH} one within the other"
        )));
    }
    let options = match options {
        Value::Object(options) => options.clone(),
        // A script may be told in short.
        Value::String(source) if kind == "script" => {
            Map::from_iter([("source".to_owned(), source.clone().into())])
        }
        _ => {
            return Err(ConfigError::parsing("property isn't a map, but of another type").of(kind));
        }
    };
    let mut options = Options::new(kind, options);
    let condition = options.take("if");
    let condition = condition.map(|condition| compiled(kind, &condition));
    let condition = condition.transpose()?;
    let ignores_failure = options.flag("ignore_failure", false)?;
    let (tag, description) = (options.text("tag")?, options.text("description")?);
    let on_failure = match options.take("on_failure") {
        None => Vec::new(),
        Some(list) => {
            let entries = entries_of(&list, "on_failure", (depth + 1, &mut *num))?;
            failing(entries, Some(kind)).map_err(|error| error.of(kind))?
        }
    };
    let mut nested = |kind: &str, inner: &Value| entry_of(kind, inner, (depth + 1, &mut *num));
    let process = process_of(&mut options, &mut nested)?;
    options.finish()?;
    Ok(Entry {
        kind: kind.to_owned(),
        tag,
        description,
        condition,
        ignores_failure,
        on_failure,
        process,
    })
}

/// Compiles a condition.
fn compiled(kind: &str, condition: &Value) -> Result<Script, ConfigError> {
    let wrong = |reason: String| ConfigError::parsing(reason).of(kind).about("if");
    let source = match condition {
        Value::String(source) => source.as_str(),
        Value::Object(script) => {
            let known = ["source", "inline", "lang"];
            if let Some(unknown) = script.keys().find(|key| !known.contains(&key.as_str())) {
                return Err(wrong(format!("[if] [{unknown}] is not supported here")));
            }
            let source = script.get("source").or_else(|| script.get("inline"));
            let source = source.and_then(Value::as_str);
            source.ok_or_else(|| wrong("[if] needs a [source]".to_owned()))?
        }
        _ => return Err(wrong("[if] is a script".to_owned())),
    };
    Script::compile(source).map_err(|error| ConfigError {
        kind: "script_exception",
        ..wrong(format!(
            "{}: {} in [{source}]",
            error.phase(),
            error.reason()
        ))
    })
}
