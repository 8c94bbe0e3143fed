//! Processors that read texts of a form: JSON, pairs, rows.

use std::collections::BTreeSet;

use fancy_regex::Regex;
use serde_json::{Map, Value};

use super::texts::pieces;
use super::values::text_at;
use crate::document::{Document, Path};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::grok::regex_of;
use crate::options::Options;

#[derive(Debug)]
struct Json {
    field: Path,
    /// The root if absent.
    target: Option<Path>,
    merges: bool,
}

pub(super) fn json(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let target = options.path("target_field")?;
    let adds_to_root = options.flag("add_to_root", false)?;
    if adds_to_root && target.is_some() {
        return Err(options.wrong(
            "target_field",
            "Cannot set a target field while also setting `add_to_root` to true",
        ));
    }
    let merges = match options.text("add_to_root_conflict_strategy")?.as_deref() {
        None | Some("replace") => false,
        Some("merge") => true,
        Some(other) => {
            let reason =
                format!("conflict strategy [{other}] not supported, cannot convert field.");
            return Err(options.wrong("add_to_root_conflict_strategy", &reason));
        }
    };
    options.flag("allow_duplicate_keys", false)?;
    options.only("strict_json_parsing", &[true.into()])?;
    let target = match adds_to_root {
        true => None,
        false => Some(target.unwrap_or_else(|| field.clone())),
    };
    Ok(Box::new(Json {
        field,
        target,
        merges,
    }))
}

impl Process for Json {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let value = document.get(&self.field)?;
        let made = match &value {
            Value::Null => Value::Null,
            Value::String(text) => serde_json::from_str(text)
                .map_err(|error| Failure::illegal(format!("{error} in [{text}]")))?,
            other => other.clone(),
        };
        match &self.target {
            Some(target) => document.set(target, made)?,
            None => {
                let Value::Object(made) = made else {
                    return Err(Failure::illegal(
                        "cannot add non-map fields to root of document",
                    ));
                };
                let whole = Value::Object(made);
                document.spend(&whole)?;
                if let Value::Object(made) = whole {
                    add(&mut document.source, made, self.merges);
                }
            }
        }
        Ok(Flow::Next)
    }
}

fn add(to: &mut Map<String, Value>, made: Map<String, Value>, merges: bool) {
    for (key, value) in made {
        match (to.get_mut(&key), value) {
            (Some(Value::Object(to)), Value::Object(value)) if merges => add(to, value, merges),
            (_, value) => {
                to.insert(key, value);
            }
        }
    }
}

#[derive(Debug)]
struct Pairs {
    field: Path,
    target: String,
    separators: (Regex, Regex),
    /// The text of the second, for messages.
    between: String,
    include: Option<BTreeSet<String>>,
    exclude: BTreeSet<String>,
    trims: (Vec<char>, Vec<char>),
    strips_brackets: bool,
    ignores_missing: bool,
}

pub(super) fn kv(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let between_pairs = options.required("field_split")?;
    let between = options.required("value_split")?;
    let compiled = |name: &str, pattern: &str| {
        regex_of(pattern)
            .map_err(|error| ConfigError::parsing(format!("[{name}] {error}")).about(name))
    };
    let separators = (
        compiled("field_split", &between_pairs)?,
        compiled("value_split", &between)?,
    );
    let target = options.path("target_field")?;
    let prefix = options.text("prefix")?.unwrap_or_default();
    let target = target.map_or_else(String::new, |path| format!("{}.", path.text));
    let include = options.list("include_keys")?;
    let exclude = options.list("exclude_keys")?.unwrap_or_default();
    let mut trims = |name: &str| {
        Ok::<_, ConfigError>(options.text(name)?.unwrap_or_default().chars().collect())
    };
    let trims = (trims("trim_key")?, trims("trim_value")?);
    Ok(Box::new(Pairs {
        field,
        target: format!("{target}{prefix}"),
        separators,
        between,
        include: include.map(|keys| keys.into_iter().collect()),
        exclude: exclude.into_iter().collect(),
        trims,
        strips_brackets: options.flag("strip_brackets", false)?,
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Process for Pairs {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let Some(text) = text_at(document, &self.field, self.ignores_missing)? else {
            return Ok(Flow::Next);
        };
        for part in pieces(&self.separators.0, &text, false)? {
            let found = self.separators.1.find(&part);
            let found = found.map_err(|error| Failure::illegal(error.to_string()))?;
            let Some(found) = found else {
                return Err(Failure::illegal(format!(
                    "field [{}] does not contain value_split [{}]",
                    self.field.text, self.between
                )));
            };
            let key = part.get(..found.start()).unwrap_or_default();
            let value = part.get(found.end()..).unwrap_or_default();
            let key = trimmed(key, &self.trims.0);
            let mut value = trimmed(value, &self.trims.1);
            if self.strips_brackets {
                value = without_brackets(value);
            }
            let is_wanted = self.include.as_ref().is_none_or(|keys| keys.contains(key));
            if !is_wanted || self.exclude.contains(key) {
                continue;
            }
            let path = Path::of(&format!("{}{key}", self.target))?;
            let made = match document.find(&path) {
                None => value.into(),
                Some(Value::Array(mut list)) => {
                    list.push(value.into());
                    list.into()
                }
                Some(one) => Value::Array(vec![one, value.into()]),
            };
            document.set(&path, made)?;
        }
        Ok(Flow::Next)
    }
}

fn trimmed<'t>(text: &'t str, chars: &[char]) -> &'t str {
    match chars.is_empty() {
        true => text,
        false => text.trim_matches(chars),
    }
}

fn without_brackets(text: &str) -> &str {
    let pairs = [('(', ')'), ('[', ']'), ('<', '>'), ('"', '"'), ('\'', '\'')];
    let inner = pairs
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.unwrap_or(text)
}

#[derive(Debug)]
struct Row {
    field: Path,
    targets: Vec<Path>,
    separator: char,
    quote: char,
    trims: bool,
    empty: Option<Value>,
    ignores_missing: bool,
}

pub(super) fn csv(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let targets = options.list("target_fields")?.unwrap_or_default();
    if targets.is_empty() {
        return Err(options.wrong("target_fields", "target fields list can't be empty"));
    }
    let targets = targets.iter().map(|name| Path::of(name));
    let targets = targets.collect::<Result<_, _>>();
    let targets = targets.map_err(|failure| options.wrong("target_fields", &failure.reason))?;
    let one = |options: &mut Options, name: &str, default: char| {
        let text = options.text(name)?.unwrap_or_else(|| default.to_string());
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => Ok(char),
            _ => Err(options.wrong(
                name,
                &format!("{name} has to consist of a single character"),
            )),
        }
    };
    let separator = one(options, "separator", ',')?;
    let quote = one(options, "quote", '"')?;
    Ok(Box::new(Row {
        field,
        targets,
        separator,
        quote,
        trims: options.flag("trim", false)?,
        empty: options.take("empty_value"),
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Process for Row {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let Some(text) = text_at(document, &self.field, self.ignores_missing)? else {
            return Ok(Flow::Next);
        };
        let cells = self.cells(&text)?;
        for (target, cell) in self.targets.iter().zip(cells) {
            match (cell.is_empty(), &self.empty) {
                (true, None) => {}
                (true, Some(empty)) => document.set(target, empty.clone())?,
                (false, _) => document.set(target, cell.into())?,
            }
        }
        Ok(Flow::Next)
    }
}

impl Row {
    fn cells(&self, text: &str) -> Result<Vec<String>, Failure> {
        let mut cells = Vec::new();
        let mut chars = text.chars().peekable();
        loop {
            let mut cell = String::new();
            while self.trims
                && chars
                    .next_if(|char| char.is_whitespace() && *char != self.separator)
                    .is_some()
            {}
            if chars.next_if_eq(&self.quote).is_some() {
                loop {
                    match chars.next() {
                        Some(char) if char == self.quote => {
                            if chars.next_if_eq(&self.quote).is_none() {
                                break;
                            }
                            cell.push(char);
                        }
                        Some(char) => cell.push(char),
                        None => return Err(Failure::illegal("Unmatched quote")),
                    }
                }
                while self.trims
                    && chars
                        .next_if(|char| char.is_whitespace() && *char != self.separator)
                        .is_some()
                {}
                if chars.peek().is_some_and(|char| *char != self.separator) {
                    return Err(Failure::illegal(format!(
                        "Illegal character inside unquoted field of [{text}]"
                    )));
                }
            } else {
                while let Some(char) = chars.next_if(|char| *char != self.separator) {
                    if char == self.quote {
                        return Err(Failure::illegal(format!(
                            "Illegal character inside unquoted field of [{text}]"
                        )));
                    }
                    cell.push(char);
                }
                if self.trims {
                    cell.truncate(cell.trim_end().len());
                }
            }
            cells.push(cell);
            if chars.next().is_none() {
                return Ok(cells);
            }
        }
    }
}
