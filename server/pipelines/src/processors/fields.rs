//! Processors that set, move and remove fields.

use serde_json::{Map, Value};

use crate::document::{Document, Path};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::options::Options;
use crate::snippet::{Snippet, Template};

#[derive(Debug)]
struct Set {
    field: Snippet,
    from: Result<Template, Path>,
    overrides: bool,
    ignores_empty: bool,
}

pub(super) fn set(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_snippet("field")?;
    options.only(
        "media_type",
        &["application/json".into(), "text/plain".into()],
    )?;
    let from = match (options.take("value"), options.path("copy_from")?) {
        (Some(_), Some(_)) => {
            return Err(options.wrong(
                "copy_from",
                "cannot set both `copy_from` and `value` in the same processor",
            ));
        }
        (_, Some(path)) => Err(path),
        (Some(value), None) => Ok(Template::of(&value)?),
        (None, None) => return Err(options.wrong("value", "required property is missing")),
    };
    Ok(Box::new(Set {
        field,
        from,
        overrides: options.flag("override", true)?,
        ignores_empty: options.flag("ignore_empty_value", false)?,
    }))
}

impl Process for Set {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let path = self.field.path(document)?;
        if !self.overrides && document.find(&path).is_some() {
            return Ok(Flow::Next);
        }
        let value = match &self.from {
            Ok(template) => template.value(document),
            Err(path) if self.ignores_empty => document.find(path).unwrap_or_default(),
            Err(path) => document.get(path)?,
        };
        let is_empty = value.is_null() || value.as_str().is_some_and(str::is_empty);
        if !(self.ignores_empty && is_empty) {
            document.set(&path, value)?;
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Append {
    field: Snippet,
    value: Template,
    allows_duplicates: bool,
}

pub(super) fn append(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_snippet("field")?;
    options.only(
        "media_type",
        &["application/json".into(), "text/plain".into()],
    )?;
    let Some(value) = options.take("value") else {
        return Err(options.wrong("value", "required property is missing"));
    };
    Ok(Box::new(Append {
        field,
        value: Template::of(&value)?,
        allows_duplicates: options.flag("allow_duplicates", true)?,
    }))
}

impl Process for Append {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let path = self.field.path(document)?;
        let mut list = match document.find(&path) {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        let more = match self.value.value(document) {
            Value::Array(more) => more,
            one => vec![one],
        };
        for value in more {
            if self.allows_duplicates || !list.contains(&value) {
                list.push(value);
            }
        }
        document.set(&path, Value::Array(list))?;
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Remove {
    fields: Vec<Snippet>,
    keep: Option<Vec<Snippet>>,
    ignores_missing: bool,
}

pub(super) fn remove(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let snippets = |names: Option<Vec<String>>| {
        let read = names.map(|names| names.iter().map(|name| Snippet::of(name)).collect());
        read.transpose()
    };
    let fields: Option<Vec<Snippet>> = snippets(options.list("field")?)?;
    let keep: Option<Vec<Snippet>> = snippets(options.list("keep")?)?;
    match (&fields, &keep) {
        (None, None) => return Err(options.wrong("keep", "or [field] must be specified")),
        (Some(_), Some(_)) => {
            return Err(options.wrong(
                "keep",
                "and [field] cannot both be used in the same processor",
            ));
        }
        _ => {}
    }
    Ok(Box::new(Remove {
        fields: fields.unwrap_or_default(),
        keep,
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Process for Remove {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        for field in &self.fields {
            let path = field.path(document)?;
            if !self.ignores_missing || document.has(&path) {
                document.remove(&path)?;
            }
        }
        if let Some(keep) = &self.keep {
            let mut kept = Document::new(Map::new(), document.meta.clone(), "");
            for field in keep {
                let path = field.path(document)?;
                if let (Ok(value), false) = (document.get(&path), path.text.starts_with('_')) {
                    kept.set(&path, value)?;
                }
            }
            document.source = kept.source;
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Rename {
    field: Snippet,
    target: Snippet,
    ignores_missing: bool,
    overrides: bool,
}

pub(super) fn rename(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    Ok(Box::new(Rename {
        field: options.required_snippet("field")?,
        target: options.required_snippet("target_field")?,
        ignores_missing: options.flag("ignore_missing", false)?,
        overrides: options.flag("override", false)?,
    }))
}

impl Process for Rename {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let path = self.field.path(document)?;
        if !document.has(&path) {
            return match self.ignores_missing {
                true => Ok(Flow::Next),
                false => Err(Failure::illegal(format!(
                    "field [{}] doesn't exist",
                    path.text
                ))),
            };
        }
        let target = self.target.path(document)?;
        if !self.overrides && document.has(&target) {
            return Err(Failure::illegal(format!(
                "field [{}] already exists",
                target.text
            )));
        }
        let value = document.remove(&path)?;
        if let Err(failure) = document.set(&target, value.clone()) {
            // As it was before.
            document.set(&path, value)?;
            return Err(failure);
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Expand {
    /// The name with dots; all of them if absent.
    field: Option<String>,
    path: Option<Path>,
    overrides: bool,
}

pub(super) fn expand(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required("field")?;
    if field != "*" && (!field.contains('.') || field.starts_with('.') || field.ends_with('.')) {
        return Err(options.wrong("field", "field does not contain a dot"));
    }
    Ok(Box::new(Expand {
        field: Some(field).filter(|field| field != "*"),
        path: options.path("path")?,
        overrides: options.flag("override", false)?,
    }))
}

impl Process for Expand {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let (prefix, object) = match &self.path {
            None => (String::new(), document.source.clone()),
            Some(path) => match document.find(path) {
                Some(Value::Object(object)) => (format!("{}.", path.text), object),
                _ => return Ok(Flow::Next),
            },
        };
        let is_meant = |name: &String| match &self.field {
            Some(field) => field == name,
            None => name.contains('.'),
        };
        for (name, value) in object.iter().filter(|(name, _)| is_meant(name)) {
            let mut left = match &self.path {
                None => document.source.clone(),
                Some(path) => match document.find(path) {
                    Some(Value::Object(object)) => object,
                    _ => continue,
                },
            };
            left.remove(name);
            match &self.path {
                None => document.source = left,
                Some(path) => document.set(path, left.into())?,
            }
            let target = Path::of(&format!("{prefix}{name}"))?;
            let merged = match (document.find(&target), self.overrides) {
                (None, _) | (Some(_), true) => value.clone(),
                (Some(Value::Array(mut list)), false) => {
                    list.push(value.clone());
                    list.into()
                }
                (Some(one), false) => Value::Array(vec![one, value.clone()]),
            };
            document.set(&target, merged)?;
        }
        Ok(Flow::Next)
    }
}
