//! `dissect`: texts are divided at fixed delimiters.
//!
//! ```text
//!   %{a}       a field            %{+a}, %{+a/2}  is appended to it, in an order
//!   %{a->}     its delimiter may repeat    %{?a}, %{}   is left out
//!   %{*a} %{&a}  the name and the value of a field
//! ```

use std::collections::BTreeMap;

use serde_json::Value;

use super::values::text_at;
use crate::document::{Document, Path};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::options::Options;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Use {
    Field,
    Append(u32),
    Skip,
    Name,
    Value,
}

#[derive(Debug)]
struct Key {
    name: String,
    usage: Use,
    repeats: bool,
    /// What follows it.
    delimiter: String,
}

#[derive(Debug)]
struct Dissect {
    field: Path,
    pattern: String,
    leading: String,
    keys: Vec<Key>,
    append_separator: String,
    ignores_missing: bool,
}

pub(super) fn dissect(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let pattern = options.required("pattern")?;
    let (leading, keys) = keys_of(&pattern).map_err(|what| {
        options.wrong(
            "pattern",
            &format!("Unable to parse pattern: {pattern}: {what}"),
        )
    })?;
    Ok(Box::new(Dissect {
        field,
        pattern,
        leading,
        keys,
        append_separator: options.text("append_separator")?.unwrap_or_default(),
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

/// Returns the name of a key, and what it is for.
fn use_of(inner: &str) -> Result<(&str, Use), String> {
    if let Some(name) = inner.strip_prefix('+') {
        return match name.split_once('/') {
            Some((name, order)) => {
                let order = order.parse().map_err(|_| "an order is no number")?;
                Ok((name, Use::Append(order)))
            }
            None => Ok((name, Use::Append(0))),
        };
    }
    let marked = [('?', Use::Skip), ('*', Use::Name), ('&', Use::Value)];
    for (mark, usage) in marked {
        if let Some(name) = inner.strip_prefix(mark) {
            return Ok((name, usage));
        }
    }
    match inner.is_empty() {
        true => Ok((inner, Use::Skip)),
        false => Ok((inner, Use::Field)),
    }
}

fn keys_of(pattern: &str) -> Result<(String, Vec<Key>), String> {
    let (leading, mut rest) = pattern.split_once("%{").ok_or("there are no keys in it")?;
    let mut keys: Vec<Key> = Vec::new();
    loop {
        let (inner, behind) = rest.split_once('}').ok_or("a key does not end")?;
        let (delimiter, next) = match behind.split_once("%{") {
            Some((delimiter, next)) => (delimiter, Some(next)),
            None => (behind, None),
        };
        if delimiter.is_empty() && next.is_some() {
            return Err("two keys follow each other without a delimiter".to_owned());
        }
        let (inner, repeats) = match inner.strip_suffix("->") {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let (name, usage) = use_of(inner)?;
        if name.is_empty() && usage != Use::Skip {
            return Err("a key has no name".to_owned());
        }
        keys.push(Key {
            name: name.to_owned(),
            usage,
            repeats,
            delimiter: delimiter.to_owned(),
        });
        match next {
            Some(next) => rest = next,
            None => break,
        }
    }
    let named = |usage: &Use, name: &str| {
        keys.iter()
            .any(|key| key.usage == *usage && key.name == name)
    };
    for key in &keys {
        let other = match key.usage {
            Use::Name => Use::Value,
            Use::Value => Use::Name,
            _ => continue,
        };
        if !named(&other, &key.name) {
            return Err(format!("the reference key [{}] has no partner", key.name));
        }
    }
    // `%{a} %{+a}` appends to `a`.
    let appended: Vec<String> = keys
        .iter()
        .filter(|key| matches!(key.usage, Use::Append(_)))
        .map(|key| key.name.clone())
        .collect();
    for key in &mut keys {
        if key.usage == Use::Field && appended.contains(&key.name) {
            key.usage = Use::Append(0);
        }
    }
    Ok((leading.to_owned(), keys))
}

impl Dissect {
    /// Returns the values of the keys.
    fn values<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let mut rest = text.strip_prefix(self.leading.as_str())?;
        let mut values = Vec::with_capacity(self.keys.len());
        for (place, key) in self.keys.iter().enumerate() {
            if key.delimiter.is_empty() {
                values.push(rest);
                rest = "";
                continue;
            }
            let is_last = place + 1 == self.keys.len();
            let (value, mut behind) = match is_last {
                // Behind the last delimiter nothing may follow.
                true => (rest.strip_suffix(key.delimiter.as_str())?, ""),
                false => rest.split_once(key.delimiter.as_str())?,
            };
            if key.repeats {
                while let Some(next) = behind.strip_prefix(key.delimiter.as_str()) {
                    behind = next;
                }
            }
            values.push(value);
            rest = behind;
        }
        Some(values)
    }
}

impl Process for Dissect {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let Some(text) = text_at(document, &self.field, self.ignores_missing)? else {
            return Ok(Flow::Next);
        };
        let values = self.values(&text).ok_or_else(|| {
            Failure::new(
                "find_match",
                format!(
                    "Unable to find match for dissect pattern: {} against source: {text}",
                    self.pattern
                ),
            )
        })?;
        let mut appended: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let mut found: Vec<(&str, Value)> = Vec::new();
        for (key, value) in self.keys.iter().zip(&values) {
            match key.usage {
                Use::Field => found.push((&key.name, (*value).into())),
                Use::Append(order) => appended.entry(&key.name).or_default().push((order, value)),
                Use::Name => {
                    names.insert(&key.name, value);
                }
                Use::Skip | Use::Value => {}
            }
        }
        for (key, value) in self.keys.iter().zip(&values) {
            if let (Use::Value, Some(name)) = (&key.usage, names.get(key.name.as_str())) {
                found.push((name, (*value).into()));
            }
        }
        for (name, mut parts) in appended {
            parts.sort_by_key(|(order, _)| *order);
            let parts: Vec<&str> = parts.into_iter().map(|(_, part)| part).collect();
            found.push((name, parts.join(&self.append_separator).into()));
        }
        for (name, value) in found {
            document.set(&Path::of(name)?, value)?;
        }
        Ok(Flow::Next)
    }
}
