//! Documents as a table: values and tokens for each document and field.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::tokens::{LONGEST_TERM, Tokenizer, in_column, lower};
use crate::random::dates;
use crate::random::schema::{Field, Kind, Normalizer, Setup};

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Int(i128),
    Float(f64),
    Bool(bool),
    /// Nanoseconds since 1970.
    Date(i64),
    Text(String),
    Ip(u128),
    Bytes(Vec<u8>),
}

/// Returns a value in the syntax of a query.
pub(crate) fn literal(value: &Scalar) -> String {
    match value {
        Scalar::Int(int) => int.to_string(),
        Scalar::Float(float) => format!("{float:?}"),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Date(nanos) => dates::write(*nanos),
        Scalar::Text(text) => text.clone(),
        Scalar::Ip(ip) => {
            let ip = std::net::Ipv6Addr::from(*ip);
            ip.to_ipv4_mapped()
                .map_or(ip.to_string(), |v4| v4.to_string())
        }
        Scalar::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Returns the beginning of a value as JSON.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(1_500) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Values of one field in one document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) values: Vec<Scalar>,
    /// Positions and words of the texts, if the field is indexed.
    pub(crate) tokens: Vec<(u32, String)>,
    /// For an object: whether it is not empty.
    pub(crate) exists: bool,
}

pub(crate) struct Document {
    pub(crate) json: Value,
    /// Document in the form in which hits show it.
    pub(crate) shown: Value,
    pub(crate) cells: Vec<Cell>,
}

pub(crate) struct Table {
    pub(crate) setup: Setup,
    pub(crate) docs: Vec<Document>,
    /// Documents keyed by the form that hits show, as JSON text.
    by_text: BTreeMap<String, Vec<usize>>,
}

impl Table {
    pub(crate) fn new(setup: Setup, jsons: Vec<Value>) -> Table {
        let docs: Vec<Document> = jsons
            .into_iter()
            .map(|json| Document {
                cells: setup
                    .fields
                    .iter()
                    .map(|field| cell(field, &json))
                    .collect(),
                shown: shown(&setup, &json),
                json,
            })
            .collect();
        let mut by_text: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (doc, document) in docs.iter().enumerate() {
            let text = sorted(&document.shown).to_string();
            by_text.entry(text).or_default().push(doc);
        }
        Table {
            setup,
            docs,
            by_text,
        }
    }

    /// Returns the documents that a hit can stand for.
    pub(crate) fn find(&self, hit: &Value) -> &[usize] {
        let found = self.by_text.get(&sorted(hit).to_string());
        found.map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn cell(&self, doc: usize, field: usize) -> &Cell {
        &self.docs[doc].cells[field]
    }

    /// Returns the values in the fast field.
    pub(crate) fn column(&self, doc: usize, field: usize) -> Vec<Scalar> {
        let Field { kind, fast, .. } = self.setup.fields[field];
        let values = self.cell(doc, field).values.iter();
        values
            .map(|value| match (value, kind) {
                (Scalar::Text(text), _) if fast == Some(Normalizer::Lowercase) => {
                    Scalar::Text(in_column(&lower(text)))
                }
                (Scalar::Text(text), _) if fast.is_some() => Scalar::Text(in_column(text)),
                (Scalar::Date(nanos), Kind::Date { precision }) => {
                    Scalar::Date(dates::cut(*nanos, precision))
                }
                (value, _) => value.clone(),
            })
            .collect()
    }
}

fn cell(field: &Field, json: &Value) -> Cell {
    let mut leaves = Vec::new();
    let path: Vec<&str> = field.source.unwrap_or(field.path).split('.').collect();
    collect(json, &path, &mut leaves);
    if field.kind == Kind::Object {
        return Cell {
            exists: leaves.into_iter().any(has_value),
            ..Cell::default()
        };
    }
    let values = leaves
        .into_iter()
        .filter_map(|leaf| scalar(field.kind, leaf));
    // A text of a JSON field that is a date has no whole value.
    let is_of_json = matches!(field.kind, Kind::Text { .. })
        && field.source.is_some_and(|source| source.contains('.'));
    let is_text =
        |value: &Scalar| matches!(value, Scalar::Text(text) if dates::read(text).is_none());
    let values: Vec<Scalar> = values
        .filter(|value| !is_of_json || is_text(value))
        .collect();
    let tokens = match field.kind {
        Kind::Text { tokenizer, .. } | Kind::Json { tokenizer, .. } if field.indexed => {
            tokens(tokenizer, &values)
        }
        _ => Vec::new(),
    };
    Cell {
        exists: !values.is_empty(),
        values,
        tokens,
    }
}

/// Collects the leaves at a path, descending into objects and arrays on the way and at its end.
fn collect<'v>(value: &'v Value, path: &[&str], leaves: &mut Vec<&'v Value>) {
    match (value, path) {
        (Value::Array(items), _) => items.iter().for_each(|item| collect(item, path, leaves)),
        (Value::Object(entries), [first, rest @ ..]) => {
            if let Some(inner) = entries.get(*first) {
                collect(inner, rest, leaves);
            }
        }
        (_, []) => leaves.push(value),
        _ => {}
    }
}

fn has_value(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().any(has_value),
        Value::Object(entries) => entries.values().any(has_value),
        _ => true,
    }
}

fn scalar(kind: Kind, value: &Value) -> Option<Scalar> {
    Some(match (kind, value) {
        (Kind::F64, Value::Number(number)) => Scalar::Float(number.as_f64()?),
        (Kind::Date { .. }, Value::String(text)) => Scalar::Date(dates::read(text)?),
        (Kind::Ip, Value::String(text)) => Scalar::Ip(ip(text)?),
        (Kind::Bytes, Value::String(text)) => Scalar::Bytes(hex(text)?),
        (Kind::Json { .. }, Value::String(text)) => match dates::read(text) {
            Some(nanos) => Scalar::Date(nanos),
            None => Scalar::Text(text.clone()),
        },
        (_, Value::String(text)) => Scalar::Text(text.clone()),
        (_, Value::Bool(b)) => Scalar::Bool(*b),
        (_, Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Scalar::Int(number.into()),
            (_, Some(number)) => Scalar::Int(number.into()),
            _ => Scalar::Float(number.as_f64()?),
        },
        _ => return None,
    })
}

/// Returns the tokens of all values. There are 100 unused positions between the words of two values of an
/// array, so that a phrase cannot span them; a value without words takes one.
fn tokens(tokenizer: Tokenizer, values: &[Scalar]) -> Vec<(u32, String)> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for value in values {
        let Scalar::Text(text) = value else { continue };
        let cut = tokenizer.cut(text);
        let end = cut.last().map_or(start + 1, |(position, _)| {
            start + position + 1 + tokenizer.gap()
        });
        tokens.extend(
            cut.into_iter()
                .filter(|(_, token)| token.len() <= LONGEST_TERM)
                .map(|(position, token)| (start + position, token)),
        );
        start = end;
    }
    tokens
}

pub(crate) fn ip(text: &str) -> Option<u128> {
    Some(match text.parse::<IpAddr>().ok()? {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
        IpAddr::V6(v6) => v6.into(),
    })
}

pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
    let digits = digits?;
    (digits.len() % 2 == 0).then(|| {
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()
    })
}

/// Parses a text as a number.
pub(crate) fn number(text: &str) -> Option<Scalar> {
    if let Ok(int) = text.parse::<i128>() {
        return Some(Scalar::Int(int));
    }
    let float = text.parse::<f64>().ok()?;
    (float.is_finite()).then_some(Scalar::Float(float))
}

impl Scalar {
    /// Compares two values of one kind, numbers by value. Returns `None` for values of different
    /// kinds.
    pub(crate) fn compare(&self, other: &Scalar) -> Option<Ordering> {
        match (self, other) {
            (Scalar::Int(left), Scalar::Int(right)) => Some(left.cmp(right)),
            (Scalar::Float(left), Scalar::Float(right)) => left.partial_cmp(right),
            (Scalar::Int(left), Scalar::Float(right)) => Some(int_to_float(*left, *right)),
            (Scalar::Float(left), Scalar::Int(right)) => {
                Some(int_to_float(*right, *left).reverse())
            }
            (Scalar::Bool(left), Scalar::Bool(right)) => Some(left.cmp(right)),
            (Scalar::Date(left), Scalar::Date(right)) => Some(left.cmp(right)),
            (Scalar::Text(left), Scalar::Text(right)) => {
                Some(left.as_bytes().cmp(right.as_bytes()))
            }
            (Scalar::Ip(left), Scalar::Ip(right)) => Some(left.cmp(right)),
            (Scalar::Bytes(left), Scalar::Bytes(right)) => Some(left.cmp(right)),
            _ => None,
        }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Scalar::Int(int) => Some(*int as f64),
            Scalar::Float(float) => Some(*float),
            _ => None,
        }
    }
}

fn int_to_float(int: i128, float: f64) -> Ordering {
    if float.abs() > 1e37 {
        return if float > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        };
    }
    let whole = float.trunc();
    int.cmp(&(whole as i128))
        .then(0.0_f64.total_cmp(&(float - whole + 0.0)))
}

/// Returns the document in the form in which hits show it. Mapped fields have no nulls and no empty
/// values; fields of arrays are arrays, and values of floating-point fields are floating-point
/// numbers. Unmapped fields are unchanged.
fn shown(setup: &Setup, json: &Value) -> Value {
    let mapped = |path: &str| {
        let fields = setup.fields.iter();
        let mut found = fields.filter(|field| field.path == path);
        found.find(|field| !matches!(field.kind, Kind::Json { .. } | Kind::Object))
    };
    // A mapped object has mapped fields below it.
    let is_object = |path: &str| {
        let prefix = format!("{path}.");
        let below = |field: &&Field| field.source.is_none() && field.path.starts_with(&prefix);
        setup
            .fields
            .iter()
            .filter(below)
            .any(|field| mapped(field.path).is_some())
    };
    let mut out = Map::new();
    for (key, value) in json.as_object().into_iter().flatten() {
        show_entry(
            "",
            key,
            value,
            &mapped,
            &is_object,
            setup.is_dynamic,
            &mut out,
        );
    }
    Value::Object(out)
}

fn show_entry<'f>(
    parent: &str,
    key: &str,
    value: &Value,
    mapped: &impl Fn(&str) -> Option<&'f Field>,
    is_object: &impl Fn(&str) -> bool,
    is_dynamic: bool,
    out: &mut Map<String, Value>,
) {
    let path = if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    };
    let shown = match mapped(&path) {
        Some(field) => show_value(field, value),
        None if is_object(&path) => {
            let mut inner = Map::new();
            for (key, value) in value.as_object().into_iter().flatten() {
                show_entry(&path, key, value, mapped, is_object, is_dynamic, &mut inner);
            }
            (!inner.is_empty()).then_some(Value::Object(inner))
        }
        None if value.is_null() && !is_dynamic => None,
        None => Some(value.clone()),
    };
    if let Some(shown) = shown {
        out.insert(key.to_owned(), shown);
    }
}

fn show_value(field: &Field, value: &Value) -> Option<Value> {
    if let Value::Array(items) = value {
        let items: Vec<Value> = items
            .iter()
            .filter_map(|item| show_scalar(field, item))
            .collect();
        return (!items.is_empty()).then_some(Value::Array(items));
    }
    let shown = show_scalar(field, value)?;
    Some(match field.multi {
        true => Value::Array(vec![shown]),
        false => shown,
    })
}

fn show_scalar(field: &Field, value: &Value) -> Option<Value> {
    match (field.kind, value) {
        (_, Value::Null) => None,
        // A mapped zero has no sign.
        (Kind::F64, Value::Number(number)) => number.as_f64().map(|n| Value::from(n + 0.0)),
        (Kind::Date { .. }, Value::String(text)) => Some(dates::write(dates::read(text)?).into()),
        (_, value) => Some(value.clone()),
    }
}

/// Returns the same value with the keys of objects sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(entries) => {
            let entries: BTreeMap<&String, Value> =
                entries.iter().map(|(k, v)| (k, sorted(v))).collect();
            Value::Object(entries.into_iter().map(|(k, v)| (k.clone(), v)).collect())
        }
        other => other.clone(),
    }
}
