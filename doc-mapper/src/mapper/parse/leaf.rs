//! Conversion of a JSON scalar to a field's value.

use std::borrow::Cow;
use std::net::IpAddr;

use serde_json::Value;

use super::convert::{
    Coerced, coerced, decode, in_place_of_null, is_empty_number, positive_zero, to_date, to_f64,
    to_i64, to_u64,
};
use super::walk::Walk;
use crate::config::FieldKind;
use crate::datetime::{DateInput, DateParseError};
use crate::documents::doc_error::{DocError, DocErrorReason, shorten};
use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::tree::{Child, Leaf, ObjectNode};

/// JSON scalar. `U64` is only used above `i64::MAX`.
#[derive(Clone, Copy, Debug)]
pub(in crate::mapper) enum Scalar<'a> {
    Bool(bool),
    I64(i64),
    U64(u64),
    F64(f64),
    /// Number of a date as it is written, and its nearest double.
    Decimal(&'a str, f64),
    Str(&'a str),
}

impl Scalar<'_> {
    /// Returns the value as it is searched for in text.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Scalar::Str(text) => Cow::Borrowed(text),
            Scalar::Bool(b) => Cow::Borrowed(if *b { "true" } else { "false" }),
            Scalar::I64(n) => Cow::Owned(n.to_string()),
            Scalar::U64(n) => Cow::Owned(n.to_string()),
            Scalar::F64(n) | Scalar::Decimal(_, n) => Cow::Owned(positive_zero(*n).to_string()),
        }
    }

    fn to_json(self) -> Value {
        match self {
            Scalar::Bool(b) => b.into(),
            Scalar::I64(n) => n.into(),
            Scalar::U64(n) => n.into(),
            Scalar::F64(n) | Scalar::Decimal(_, n) => n.into(),
            Scalar::Str(text) => text.into(),
        }
    }

    fn describe(&self) -> String {
        match self {
            Scalar::Bool(b) => format!("the boolean {b}"),
            Scalar::I64(n) => format!("the number {n}"),
            Scalar::U64(n) => format!("the number {n}"),
            Scalar::F64(n) | Scalar::Decimal(_, n) => format!("the number {n}"),
            Scalar::Str(text) => format!("the string {:?}", shorten(text)),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, DocErrorReason>;

impl<'m> Walk<'m> {
    /// Leaves out a value that its field does not accept; a text field indexes its text. Hits show the original value.
    #[cold]
    pub(in crate::mapper) fn ignore_scalar(&mut self, leaf: &'m Leaf, scalar: Scalar<'_>) {
        self.ignored.push(&leaf.path);
        if matches!(leaf.kind, FieldKind::Text(_)) {
            // A text field accepts any text.
            let _ = self.add_scalar(leaf, Scalar::Str(&scalar.text()));
        }
    }
}

impl DocMapper {
    /// Returns the field that a key with dots leads to, where documents are read as Elasticsearch reads them.
    #[cold]
    pub(super) fn below_dots<'m>(&self, node: &'m ObjectNode, key: &str) -> Option<&'m Child> {
        self.coerces.then(|| node.below_dots(key))?
    }

    /// Returns the number of words that a tokenizer makes of a text.
    #[cold]
    fn num_words(&self, tokenizer: &str, text: &str) -> i64 {
        let mut num_words = 0;
        if let Some(mut analyzer) = self.analyzers.0.get(tokenizer) {
            analyzer.token_stream(text).process(&mut |_| num_words += 1);
        }
        num_words
    }
}

/// Values of documents as their fields have them.
impl DocMapper {
    /// Returns the number of words that a field has in place of a value; `None` for other fields and values.
    pub fn num_words_of(&self, path: &str, value: &Value) -> Option<i64> {
        let leaf = self.leaf_at(path)?;
        let tokenizer = leaf.counted_by.as_ref()?;
        Some(self.num_words(tokenizer, &scalar_of(value)?.text()))
    }

    /// Returns a value of a document as a field with one of its further names has it. `None` if that field does not
    /// accept it.
    pub fn value_as(&self, name: &str, value: &Value) -> Option<Value> {
        let Some(leaf) = self.leaf_at(name) else {
            return self.text_as(name, value).map(Value::from);
        };
        if let Some(num_words) = self.num_words_of(name, value) {
            return Some(num_words.into());
        }
        let is_empty = |given| self.coerces && is_empty_number(&leaf.kind, given);
        let given = match (scalar_of(value), &leaf.null_value) {
            (Some(given), _) if !is_empty(given) => given,
            (None, _) if !value.is_null() => return None,
            (_, own) => in_place_of_null(leaf, own.as_ref()?),
        };
        let converted = match self.coerces {
            true => coerced(&leaf.kind, given),
            false => None,
        };
        let scalar = converted.as_ref().map_or(given, Coerced::as_scalar);
        match (&leaf.kind, scalar) {
            (FieldKind::I64(own), _) => to_i64(scalar, own).ok().map(Value::from),
            (FieldKind::U64(own), _) => to_u64(scalar, own.coerce).ok().map(Value::from),
            (FieldKind::F64(own), _) => {
                let number = to_f64(scalar, own).ok()?;
                Some(own.width.map_or(number, |width| width.shown(number)).into())
            }
            (FieldKind::Bool, Scalar::Bool(value)) => Some(value.into()),
            (FieldKind::Bool, _) => None,
            (FieldKind::Ip, _) => {
                let ip: IpAddr = scalar.text().parse().ok()?;
                Some(ip.to_canonical().to_string().into())
            }
            (FieldKind::Date(date), _) => {
                let date = to_date(scalar, &date.input_formats);
                date.ok().map(|_| scalar.to_json())
            }
            _ => self.text_as(name, &given.to_json()).map(Value::from),
        }
    }
}

fn scalar_of(value: &Value) -> Option<Scalar<'_>> {
    Some(match value {
        Value::String(text) => Scalar::Str(text),
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Scalar::I64(number),
            (None, Some(number)) => Scalar::U64(number),
            (None, None) => Scalar::F64(number.as_f64()?),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    })
}

impl<'m> Walk<'m> {
    /// Adds the value to the document.
    #[inline]
    pub(in crate::mapper) fn add_scalar(
        &mut self,
        leaf: &'m Leaf,
        scalar: Scalar<'_>,
    ) -> std::result::Result<(), DocError> {
        self.add_by(leaf, scalar, Self::try_add_scalar)
    }

    /// Adds the value that the config has in place of `null`; a field of numbers of words has the number itself.
    #[cold]
    pub(in crate::mapper) fn add_substitute(
        &mut self,
        leaf: &'m Leaf,
        scalar: Scalar<'_>,
    ) -> std::result::Result<(), DocError> {
        self.add_by(leaf, scalar, |walk, leaf, scalar| match leaf.is_absent {
            true => Ok(()),
            false => walk.add_converted(leaf, scalar),
        })
    }

    /// Adds a value by `add`, unless the leaf has a constant, which it must then be.
    #[inline]
    fn add_by<'s>(
        &mut self,
        leaf: &'m Leaf,
        scalar: Scalar<'s>,
        add: impl FnOnce(&mut Self, &'m Leaf, Scalar<'s>) -> Result<()>,
    ) -> std::result::Result<(), DocError> {
        if let Some(constant) = &leaf.constant {
            return check_constant(leaf, constant, scalar);
        }
        add(self, leaf, scalar).map_err(|reason| refuse(leaf, reason, &scalar.describe()))
    }

    #[inline]
    fn try_add_scalar(&mut self, leaf: &'m Leaf, scalar: Scalar<'_>) -> Result<()> {
        if leaf.is_absent {
            return Ok(());
        }
        if let Some(tokenizer) = &leaf.counted_by {
            let num_words = self.mapper.num_words(tokenizer, &scalar.text());
            return self.add_typed(leaf, Scalar::I64(num_words));
        }
        self.add_converted(leaf, scalar)
    }

    #[inline]
    fn add_converted(&mut self, leaf: &'m Leaf, scalar: Scalar<'_>) -> Result<()> {
        if self.mapper.coerces && is_empty_number(&leaf.kind, scalar) {
            // As Elasticsearch has it, an empty text is `null`.
            return match &leaf.null_value {
                Some(value) => self.add_typed(leaf, in_place_of_null(leaf, value)),
                None => Ok(()),
            };
        }
        if self.mapper.coerces
            && let Some(converted) = coerced(&leaf.kind, scalar)
        {
            return self.add_typed(leaf, converted.as_scalar());
        }
        self.add_typed(leaf, scalar)
    }

    #[inline]
    fn add_typed(&mut self, leaf: &'m Leaf, scalar: Scalar<'_>) -> Result<()> {
        let (field, doc) = (leaf.field, &mut self.document);
        match (&leaf.kind, scalar) {
            (FieldKind::Text(_), Scalar::Str(text)) => doc.add_text(field, text),
            (FieldKind::I64(n), _) => doc.add_i64(field, to_i64(scalar, n)?),
            (FieldKind::U64(n), _) => doc.add_u64(field, to_u64(scalar, n.coerce)?),
            (FieldKind::F64(n), _) => doc.add_f64(field, to_f64(scalar, n)?),
            (FieldKind::Bool, Scalar::Bool(b)) => doc.add_bool(field, b),
            (FieldKind::Date(date), _) => {
                let value = to_date(scalar, &date.input_formats).map_err(|error| match error {
                    DateParseError::Range => DocErrorReason::OutOfRange,
                    DateParseError::Format if leaf.is_timestamp => DocErrorReason::BadTimestamp,
                    DateParseError::Format => DocErrorReason::BadDatetime,
                })?;
                doc.add_date(field, value);
                if leaf.is_timestamp {
                    self.timestamp = Some(value.truncate(date.precision));
                }
            }
            (FieldKind::Ip, Scalar::Str(text)) => {
                let ip: IpAddr = text.parse().map_err(|_| DocErrorReason::WrongType)?;
                let ip = match ip {
                    IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                    IpAddr::V6(v6) => v6,
                };
                doc.add_ip_addr(field, ip);
            }
            (FieldKind::Bytes(bytes), Scalar::Str(text)) => {
                let bytes = decode(text, bytes.input_format).ok_or(DocErrorReason::WrongType)?;
                doc.add_bytes(field, &bytes);
            }
            _ => return Err(DocErrorReason::WrongType),
        }
        if leaf.ignore_above.is_some()
            && let Scalar::Str(text) = scalar
            && leaf.is_too_long(text)
        {
            self.ignored
                .extend(leaf.ignored_names.iter().map(String::as_str));
        }
        self.presence.extend(match (&leaf.kind, scalar) {
            (FieldKind::Text(_), Scalar::Str(text)) => leaf.presence_of(text),
            _ => leaf.presence,
        });
        if !leaf.copies.is_empty() {
            self.add_copies(leaf, &scalar.text());
        }
        Ok(())
    }

    /// Adds the texts that every document has, and the paths of values that were ignored.
    pub(in crate::mapper) fn add_own_texts(&mut self) {
        for constant in &self.mapper.constants {
            self.document.add_text(constant.field, &constant.text);
            self.presence.extend(constant.presence);
        }
        if let Some(field) = self.mapper.ignored {
            self.ignored.sort_unstable();
            self.ignored.dedup();
            for path in &self.ignored {
                self.document.add_text(field, path);
            }
        }
    }

    /// Adds a value to the fields that receive copies of it.
    pub(in crate::mapper) fn add_copies(&mut self, leaf: &Leaf, text: &str) {
        for copied in &leaf.copies {
            self.document.add_text(copied.field, text);
            self.presence.extend(copied.presence);
        }
    }
}

/// # Errors
/// The value of a document is another than that of all documents.
#[cold]
fn check_constant(
    leaf: &Leaf,
    constant: &str,
    scalar: Scalar<'_>,
) -> std::result::Result<(), DocError> {
    let text = scalar.text();
    match text == constant {
        true => Ok(()),
        false => Err(DocError::new(
            DocErrorReason::WrongType,
            leaf.path.as_str(),
            format!(
                "the field only accepts values that are equal to the value defined in the mappings [{}], but got [{}]",
                shorten(constant),
                shorten(&text)
            ),
        )),
    }
}

/// Creates an error for a value, which names the type that the field expects.
pub(in crate::mapper) fn refuse(leaf: &Leaf, reason: DocErrorReason, got: &str) -> DocError {
    let mut expected = expected(leaf);
    if let (FieldKind::Date(_), DocErrorReason::OutOfRange) = (&leaf.kind, reason) {
        expected = format!(
            "{expected} from 1677-09-21 to 2262-04-11, or as a bare number of `unix_timestamp` from 1972-04-13 to \
             2242-03-16 (leave out a date that stands for none, or set ignore_malformed, which keeps it in the document only)"
        );
    }
    DocError::new(
        reason,
        leaf.path.as_str(),
        format!("expected {expected}, got {got}"),
    )
}

/// Describes the values that a field accepts.
pub(super) fn expected(leaf: &Leaf) -> String {
    let coerced = |what: &str, coerce: bool| match coerce {
        true => format!("{what}, or a string with one"),
        false => what.to_string(),
    };
    match &leaf.kind {
        FieldKind::Text(_) | FieldKind::Concatenate(_) => "a string".to_string(),
        FieldKind::I64(n) => coerced("an integer from -2^63 to 2^63-1 (i64)", n.coerce),
        FieldKind::U64(n) => coerced("an integer from 0 to 2^64-1 (u64)", n.coerce),
        FieldKind::F64(n) => coerced("a finite number (f64)", n.coerce),
        FieldKind::Bool => "true or false".to_string(),
        FieldKind::Date(date) => {
            let formats: Vec<&str> = date.input_formats.iter().map(DateInput::as_str).collect();
            format!("a date ({})", formats.join(", "))
        }
        FieldKind::Ip => "an IPv4 or IPv6 address".to_string(),
        FieldKind::Bytes(bytes) => format!("a {} string", bytes.input_format.as_str()),
        FieldKind::GeoPoint(_) => "a geo_point".to_string(),
        FieldKind::Range(range) => format!("a range ({})", range.of.type_name()),
        FieldKind::Vector(vector) => format!(
            "a vector of {} dimensions ({}, {})",
            vector.dims,
            vector.element_name(),
            vector.similarity.name()
        ),
        FieldKind::Json(_) | FieldKind::Object(_) => "an object".to_string(),
    }
}
