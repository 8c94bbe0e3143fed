//! A document on its way: its fields, its metadata, and what the pipeline knows of it, under paths with dots.

use serde_json::{Map, Number, Value};

use crate::error::Failure;
use crate::limits::{MAX_STEPS, MAX_VALUE_DEPTH, MAX_WRITTEN_BYTES};

/// Metadata of a document, which a pipeline may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Index that it goes into.
    pub index: String,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its routing, if it has one.
    pub routing: Option<String>,
}

/// A document in a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its fields.
    pub source: Map<String, Value>,
    /// Its metadata.
    pub meta: Metadata,
    /// What stands under `_ingest`.
    pub ingest: Map<String, Value>,
    /// Bytes that may still be written, and processors that may still run.
    left: (usize, u32),
}

/// A path, divided.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) text: String,
    place: Place,
    parts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Source,
    Ingest,
    Index,
    Id,
    Routing,
    /// Metadata that documents here do not have.
    Absent,
}

impl Path {
    /// Divides a path.
    ///
    /// # Errors
    /// It is empty, or has an empty part.
    pub(crate) fn of(text: &str) -> Result<Self, Failure> {
        let (place, rest) = match text {
            "_index" => (Place::Index, ""),
            "_id" => (Place::Id, ""),
            "_routing" => (Place::Routing, ""),
            "_version" | "_version_type" | "_if_seq_no" | "_if_primary_term" => (Place::Absent, ""),
            "_source" | "_ingest" => {
                return Err(Failure::illegal(format!("path [{text}] is not valid")));
            }
            _ => match (text.strip_prefix("_ingest."), text.strip_prefix("_source.")) {
                (Some(rest), _) => (Place::Ingest, rest),
                (_, Some(rest)) => (Place::Source, rest),
                _ => (Place::Source, text),
            },
        };
        let parts: Vec<String> = match place {
            Place::Source | Place::Ingest => rest.split('.').map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        if text.is_empty() {
            return Err(Failure::illegal("path cannot be null nor empty"));
        }
        if parts.iter().any(String::is_empty) || parts.len() > MAX_VALUE_DEPTH {
            return Err(Failure::illegal(format!("path [{text}] is not valid")));
        }
        Ok(Self {
            text: text.to_owned(),
            place,
            parts,
        })
    }
}

impl Document {
    /// Creates a document that enters a pipeline. `timestamp` is the time in Elasticsearch's form.
    #[must_use]
    pub fn new(source: Map<String, Value>, meta: Metadata, timestamp: &str) -> Self {
        let ingest = [("timestamp".to_owned(), Value::from(timestamp))];
        Self {
            source,
            meta,
            ingest: ingest.into_iter().collect(),
            left: (MAX_WRITTEN_BYTES, MAX_STEPS),
        }
    }

    /// Counts a processor.
    pub(crate) fn step(&mut self) -> Result<(), Failure> {
        self.left.1 = self.left.1.checked_sub(1).ok_or_else(|| {
            Failure::illegal(format!(
                "more than {MAX_STEPS} processors ran for a document, which is the limit"
            ))
        })?;
        Ok(())
    }

    /// Counts what is written.
    pub(crate) fn spend(&mut self, value: &Value) -> Result<(), Failure> {
        let size = size_of(value, MAX_VALUE_DEPTH)
            .ok_or_else(|| Failure::illegal("a value is nested too deeply"))?;
        self.left.0 = self.left.0.checked_sub(size).ok_or_else(|| {
            Failure::illegal(format!(
                "a pipeline wrote more than {MAX_WRITTEN_BYTES} bytes into a document, which is the limit"
            ))
        })?;
        Ok(())
    }

    /// Returns everything that scripts see: fields and metadata.
    pub(crate) fn ctx(&self) -> Map<String, Value> {
        let mut ctx = self.source.clone();
        ctx.insert("_index".to_owned(), self.meta.index.clone().into());
        ctx.insert("_id".to_owned(), self.meta.id.clone().into());
        ctx.insert("_routing".to_owned(), self.meta.routing.clone().into());
        ctx.insert("_ingest".to_owned(), self.ingest.clone().into());
        ctx
    }

    /// Takes what a script left.
    ///
    /// # Errors
    /// The metadata is no text.
    pub(crate) fn adopt(&mut self, mut ctx: Map<String, Value>) -> Result<(), Failure> {
        for (name, path) in [
            ("_index", "_index"),
            ("_id", "_id"),
            ("_routing", "_routing"),
        ] {
            let value = ctx.remove(name).unwrap_or_default();
            self.set(&Path::of(path)?, value)?;
        }
        if let Some(Value::Object(ingest)) = ctx.remove("_ingest") {
            self.ingest = ingest;
        }
        let source = Value::Object(ctx);
        self.spend(&source)?;
        if let Value::Object(source) = source {
            self.source = source;
        }
        Ok(())
    }

    /// Returns a value.
    ///
    /// # Errors
    /// There is none at this path.
    pub(crate) fn get(&self, path: &Path) -> Result<Value, Failure> {
        self.look(path)
    }

    /// Returns a value that is not null, if there is one at this path.
    pub(crate) fn find(&self, path: &Path) -> Option<Value> {
        self.look(path).ok().filter(|value| !value.is_null())
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.look(path).is_ok()
    }

    fn look(&self, path: &Path) -> Result<Value, Failure> {
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let root = match path.place {
            Place::Source => &self.source,
            Place::Ingest => &self.ingest,
            Place::Index => return Ok(self.meta.index.clone().into()),
            Place::Id => return text(&self.meta.id).ok_or_else(|| absent("_id", path)),
            Place::Routing => {
                return text(&self.meta.routing).ok_or_else(|| absent("_routing", path));
            }
            Place::Absent => return Err(absent(&path.text, path)),
        };
        let Some((first, rest)) = path.parts.split_first() else {
            return Err(absent("", path));
        };
        let mut at = root.get(first).ok_or_else(|| absent(first, path))?;
        for part in rest {
            at = child(at, part, path)?;
        }
        Ok(at.clone())
    }

    /// Sets a value, and makes the objects on the way to it.
    ///
    /// # Errors
    /// There is something else on the way.
    pub(crate) fn set(&mut self, path: &Path, value: Value) -> Result<(), Failure> {
        self.spend(&value)?;
        let root = match path.place {
            Place::Source => &mut self.source,
            Place::Ingest => &mut self.ingest,
            Place::Index => {
                self.meta.index = text_of_meta(value, path)?
                    .ok_or_else(|| Failure::illegal("_index cannot be null"))?;
                return Ok(());
            }
            Place::Id => {
                self.meta.id = text_of_meta(value, path)?;
                return Ok(());
            }
            Place::Routing => {
                self.meta.routing = text_of_meta(value, path)?;
                return Ok(());
            }
            Place::Absent => {
                return Err(Failure::illegal(format!(
                    "[{}] cannot be set by a pipeline here",
                    path.text
                )));
            }
        };
        let Some((last, inner)) = path.parts.split_last() else {
            return Err(absent("", path));
        };
        let Some((first, rest)) = inner.split_first() else {
            root.insert(last.clone(), value);
            return Ok(());
        };
        let mut at = root
            .entry(first.clone())
            .or_insert_with(|| Value::Object(Map::new()));
        for part in rest {
            at = match at {
                Value::Object(object) => object
                    .entry(part.clone())
                    .or_insert_with(|| Value::Object(Map::new())),
                Value::Array(list) => element(list, part, path)?,
                other => return Err(unresolved(part, other, path)),
            };
        }
        match at {
            Value::Object(object) => {
                object.insert(last.clone(), value);
            }
            Value::Array(list) => *element(list, last, path)? = value,
            Value::Null => {
                return Err(Failure::illegal(format!(
                    "cannot set [{last}] with null parent as part of path [{}]",
                    path.text
                )));
            }
            other => {
                return Err(Failure::illegal(format!(
                    "cannot set [{last}] with parent object of type [{}] as part of path [{}]",
                    class_of(other),
                    path.text
                )));
            }
        }
        Ok(())
    }

    /// Removes a value.
    ///
    /// # Errors
    /// There is none at this path.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<Value, Failure> {
        let value = self.look(path)?;
        let root = match path.place {
            Place::Source => &mut self.source,
            Place::Ingest => &mut self.ingest,
            Place::Id => {
                self.meta.id = None;
                return Ok(value);
            }
            Place::Routing => {
                self.meta.routing = None;
                return Ok(value);
            }
            Place::Index | Place::Absent => {
                return Err(Failure::illegal(format!("cannot remove [{}]", path.text)));
            }
        };
        let Some((last, inner)) = path.parts.split_last() else {
            return Err(absent("", path));
        };
        let Some((first, rest)) = inner.split_first() else {
            root.remove(last);
            return Ok(value);
        };
        let mut at = root.get_mut(first).ok_or_else(|| absent(first, path))?;
        for part in rest {
            at = match at {
                Value::Object(object) => object.get_mut(part).ok_or_else(|| absent(part, path))?,
                Value::Array(list) => element(list, part, path)?,
                other => return Err(unresolved(part, other, path)),
            };
        }
        match at {
            Value::Object(object) => {
                object.remove(last);
            }
            Value::Array(list) => {
                element(list, last, path)?;
                if let Ok(place) = last.parse::<usize>() {
                    list.remove(place);
                }
            }
            other => return Err(unresolved(last, other, path)),
        }
        Ok(value)
    }
}

fn child<'v>(at: &'v Value, part: &str, path: &Path) -> Result<&'v Value, Failure> {
    match at {
        Value::Object(object) => object.get(part).ok_or_else(|| absent(part, path)),
        Value::Array(list) => {
            let place = place_in(list.len(), part, path)?;
            list.get(place).ok_or_else(|| absent(part, path))
        }
        other => Err(unresolved(part, other, path)),
    }
}

fn element<'v>(list: &'v mut [Value], part: &str, path: &Path) -> Result<&'v mut Value, Failure> {
    let place = place_in(list.len(), part, path)?;
    list.get_mut(place).ok_or_else(|| absent(part, path))
}

fn place_in(num: usize, part: &str, path: &Path) -> Result<usize, Failure> {
    let place: usize = part.parse().map_err(|_| {
        Failure::illegal(format!(
            "[{part}] is not an integer, cannot be used as an index as part of path [{}]",
            path.text
        ))
    })?;
    match place < num {
        true => Ok(place),
        false => Err(Failure::illegal(format!(
            "[{part}] is out of bounds for array with length [{num}] as part of path [{}]",
            path.text
        ))),
    }
}

fn absent(part: &str, path: &Path) -> Failure {
    Failure::illegal(format!(
        "field [{part}] not present as part of path [{}]",
        path.text
    ))
}

fn unresolved(part: &str, at: &Value, path: &Path) -> Failure {
    let reason = match at {
        Value::Null => format!(
            "cannot resolve [{part}] from null as part of path [{}]",
            path.text
        ),
        other => format!(
            "cannot resolve [{part}] from object of type [{}] as part of path [{}]",
            class_of(other),
            path.text
        ),
    };
    Failure::illegal(reason)
}

fn text_of_meta(value: Value, path: &Path) -> Result<Option<String>, Failure> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(Failure::illegal(format!(
            "[{}] must be a text, and not [{}]",
            path.text,
            class_of(&other)
        ))),
    }
}

/// Returns Java's name of a value's class.
pub(crate) fn class_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) => match number.as_i64() {
            Some(number) if i32::try_from(number).is_ok() => "java.lang.Integer",
            Some(_) => "java.lang.Long",
            None => "java.lang.Double",
        },
        Value::String(_) => "java.lang.String",
        Value::Array(_) => "java.util.ArrayList",
        Value::Object(_) => "java.util.HashMap",
    }
}

/// Returns the approximate size of a value in bytes, or `None` if it is too deep.
fn size_of(value: &Value, depth: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    Some(match value {
        Value::String(text) => 16 + text.len(),
        Value::Array(list) => {
            let mut size = 16_usize;
            for value in list {
                size = size.saturating_add(size_of(value, depth)?);
            }
            size
        }
        Value::Object(object) => {
            let mut size = 16_usize;
            for (key, value) in object {
                size = size.saturating_add(16 + key.len() + size_of(value, depth)?);
            }
            size
        }
        _ => 16,
    })
}

/// Returns a float so that it is written with as few digits as it needs.
pub(crate) fn shortest(number: f32) -> Option<Number> {
    number
        .to_string()
        .parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
}
