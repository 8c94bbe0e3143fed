//! Processors of texts and of lists of texts.

use fancy_regex::Regex;
use serde_json::Value;

use super::values::text_at;
use crate::document::{Document, Path, class_of};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::grok::{regex_of, replaced};
use crate::options::Options;
use crate::snippet::shown;

/// What a processor makes of a text.
type Change = fn(&str) -> Result<Value, Failure>;

#[derive(Debug)]
struct OfEach {
    field: Path,
    target: Path,
    change: Change,
    ignores_missing: bool,
}

/// Reads a processor that changes a text, or each text of a list.
pub(super) fn of_each(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let change: Change = match options.processor.as_str() {
        "bytes" => num_bytes,
        "html_strip" => |text| Ok(without_tags(text).into()),
        "lowercase" => |text| Ok(text.to_lowercase().into()),
        "uppercase" => |text| Ok(text.to_uppercase().into()),
        "urldecode" => |text| decoded(text).map(Value::from),
        _ => |text| Ok(text.trim().into()),
    };
    let field = options.required_path("field")?;
    Ok(Box::new(OfEach {
        target: options
            .path("target_field")?
            .unwrap_or_else(|| field.clone()),
        field,
        change,
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Process for OfEach {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let changed = each(document, &self.field, self.ignores_missing, self.change)?;
        if let Some(changed) = changed {
            document.set(&self.target, changed)?;
        }
        Ok(Flow::Next)
    }
}

/// Changes a text, or each text of a list.
fn each(
    document: &Document,
    field: &Path,
    ignores_missing: bool,
    change: impl Fn(&str) -> Result<Value, Failure>,
) -> Result<Option<Value>, Failure> {
    let Ok(Value::Array(list)) = document.get(field) else {
        let text = text_at(document, field, ignores_missing)?;
        return text.map(|text| change(&text)).transpose();
    };
    let changed = list.iter().map(|value| match value {
        Value::String(text) => change(text),
        other => Err(Failure::illegal(format!(
            "value [{other}] of type [{}] in list field [{}] cannot be cast to [java.lang.String]",
            class_of(other),
            field.text
        ))),
    });
    Ok(Some(Value::Array(changed.collect::<Result<_, _>>()?)))
}

/// Reads a size such as `1kb`.
fn num_bytes(text: &str) -> Result<Value, Failure> {
    let lower = text.trim().to_lowercase();
    let units = [
        ("pb", 50),
        ("tb", 40),
        ("gb", 30),
        ("mb", 20),
        ("kb", 10),
        ("p", 50),
        ("t", 40),
        ("g", 30),
        ("m", 20),
        ("k", 10),
        ("b", 0),
    ];
    let found = units
        .iter()
        .find_map(|(unit, shift)| Some((lower.strip_suffix(unit)?, *shift)));
    let wrong = || {
        Failure::new(
            "parse_exception",
            format!(
                "failed to parse setting [Ingest Field] with value [{text}] as a size in bytes: unit is missing or unrecognized"
            ),
        )
    };
    let (number, shift) = found.ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let size = number * 2_f64.powi(shift);
    match (0.0..9.0e18).contains(&size) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within the range, and cut as Elasticsearch cuts it"
        )]
        true => Ok((size as i64).into()),
        false => Err(wrong()),
    }
}

/// Returns a text with line feeds in place of tags, as Elasticsearch's processor does.
fn without_tags(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, behind) = rest.split_at(at);
        made.push_str(before);
        let is_tag = behind
            .chars()
            .nth(1)
            .is_some_and(|next| next.is_ascii_alphabetic() || next == '/' || next == '!');
        match behind.find('>').filter(|_| is_tag) {
            Some(end) => {
                made.push('\n');
                rest = behind.get(end + 1..).unwrap_or_default();
            }
            None => {
                made.push('<');
                rest = behind.get(1..).unwrap_or_default();
            }
        }
    }
    made.push_str(rest);
    made
}

/// Returns a text with `%41` and `+` decoded.
fn decoded(text: &str) -> Result<String, Failure> {
    let wrong = || {
        Failure::illegal(format!(
            "Illegal hex characters in escape (%) pattern in [{text}]"
        ))
    };
    let mut made = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => made.push(b' '),
            b'%' => {
                let pair = [
                    bytes.next().ok_or_else(wrong)?,
                    bytes.next().ok_or_else(wrong)?,
                ];
                let pair = std::str::from_utf8(&pair).map_err(|_| wrong())?;
                made.push(u8::from_str_radix(pair, 16).map_err(|_| wrong())?);
            }
            byte => made.push(byte),
        }
    }
    Ok(String::from_utf8_lossy(&made).into_owned())
}

#[derive(Debug)]
struct Gsub {
    field: Path,
    target: Path,
    pattern: Regex,
    replacement: String,
    ignores_missing: bool,
}

pub(super) fn gsub(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let pattern = options.required("pattern")?;
    let pattern = regex_of(&pattern)
        .map_err(|error| options.wrong("pattern", &format!("Invalid regex pattern. {error}")))?;
    let replacement = options.text("replacement")?;
    let replacement =
        replacement.ok_or_else(|| options.wrong("replacement", "required property is missing"))?;
    Ok(Box::new(Gsub {
        target: options
            .path("target_field")?
            .unwrap_or_else(|| field.clone()),
        field,
        pattern,
        replacement,
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Process for Gsub {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let change = |text: &str| replaced(&self.pattern, text, &self.replacement).map(Value::from);
        if let Some(changed) = each(document, &self.field, self.ignores_missing, change)? {
            document.set(&self.target, changed)?;
        }
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Split {
    field: Path,
    target: Path,
    separator: Regex,
    ignores_missing: bool,
    preserves_trailing: bool,
}

pub(super) fn split(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let separator = options.required("separator")?;
    let separator = regex_of(&separator).map_err(|error| options.wrong("separator", &error))?;
    Ok(Box::new(Split {
        target: options
            .path("target_field")?
            .unwrap_or_else(|| field.clone()),
        field,
        separator,
        ignores_missing: options.flag("ignore_missing", false)?,
        preserves_trailing: options.flag("preserve_trailing", false)?,
    }))
}

impl Process for Split {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let Some(text) = text_at(document, &self.field, self.ignores_missing)? else {
            return Ok(Flow::Next);
        };
        let parts = pieces(&self.separator, &text, self.preserves_trailing)?;
        let parts: Vec<Value> = parts.into_iter().map(Value::from).collect();
        document.set(&self.target, parts.into())?;
        Ok(Flow::Next)
    }
}

/// Divides a text as Java's `split` does: without empty parts at the end, unless they are wanted.
pub(super) fn pieces(
    separator: &Regex,
    text: &str,
    preserves_trailing: bool,
) -> Result<Vec<String>, Failure> {
    let mut parts = Vec::new();
    let mut from = 0;
    for found in separator.find_iter(text) {
        let found = found.map_err(|error| Failure::illegal(error.to_string()))?;
        if found.end() == 0 {
            // An empty match at the beginning divides nothing.
            continue;
        }
        parts.push(text.get(from..found.start()).unwrap_or_default().to_owned());
        from = found.end();
    }
    parts.push(text.get(from..).unwrap_or_default().to_owned());
    if !preserves_trailing && parts.len() > 1 {
        while parts.last().is_some_and(String::is_empty) {
            parts.pop();
        }
    }
    Ok(parts)
}

#[derive(Debug)]
struct Join {
    field: Path,
    target: Path,
    separator: String,
}

pub(super) fn join(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let separator = options.text("separator")?;
    let separator =
        separator.ok_or_else(|| options.wrong("separator", "required property is missing"))?;
    Ok(Box::new(Join {
        target: options
            .path("target_field")?
            .unwrap_or_else(|| field.clone()),
        field,
        separator,
    }))
}

/// Returns the list at a path.
fn list_at(document: &Document, field: &Path, verb: &str) -> Result<Vec<Value>, Failure> {
    match document.get(field)? {
        Value::Array(list) => Ok(list),
        Value::Null => Err(Failure::illegal(format!(
            "field [{}] is null, cannot {verb}.",
            field.text
        ))),
        other => Err(Failure::illegal(format!(
            "field [{}] of type [{}] cannot be cast to [java.util.List]",
            field.text,
            class_of(&other)
        ))),
    }
}

impl Process for Join {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let parts: Vec<String> = list_at(document, &self.field, "join")?
            .iter()
            .map(|value| match value {
                Value::Null => "null".to_owned(),
                value => shown(value),
            })
            .collect();
        document.set(&self.target, parts.join(&self.separator).into())?;
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Sort {
    field: Path,
    target: Path,
    descends: bool,
}

pub(super) fn sort(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let descends = match options.text("order")?.as_deref() {
        None | Some("asc") => false,
        Some("desc") => true,
        Some(other) => {
            let reason =
                format!("Sort direction [{other}] not recognized. Valid values are: [asc, desc]");
            return Err(options.wrong("order", &reason));
        }
    };
    Ok(Box::new(Sort {
        target: options
            .path("target_field")?
            .unwrap_or_else(|| field.clone()),
        field,
        descends,
    }))
}

impl Process for Sort {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let mut list = list_at(document, &self.field, "sort")?;
        let all_texts = list.iter().all(Value::is_string);
        if !all_texts && !list.iter().all(Value::is_number) {
            return Err(Failure::illegal(format!(
                "field [{}] has values that cannot be compared with each other",
                self.field.text
            )));
        }
        list.sort_by(|one, other| match (one.as_str(), other.as_str()) {
            (Some(one), Some(other)) => one.cmp(other),
            _ => match (one.as_i64(), other.as_i64()) {
                (Some(one), Some(other)) => one.cmp(&other),
                _ => {
                    let number = |value: &Value| value.as_f64().unwrap_or_default();
                    number(one).total_cmp(&number(other))
                }
            },
        });
        if self.descends {
            list.reverse();
        }
        document.set(&self.target, list.into())?;
        Ok(Flow::Next)
    }
}
