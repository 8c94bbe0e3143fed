//! `sort`, and `search_after`, which continues after a hit.
//!
//! See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/sort-search-results>.

use canter_aggregations::{check_name, resolve_date};
use canter_geo::{Metric, Unit, read_points};
use serde_json::Value;

use crate::SearchError;
use crate::request::{
    DateFormat, DistanceKey, InPlace, MAX_SORT_KEYS, SortKeySpec, SortMode, SortOrder, SortTarget,
    SortValue,
};

/// The order of hits, with the formats of dates.
#[derive(Default)]
pub(in crate::api::elastic) struct Sort {
    pub(in crate::api::elastic) keys: Vec<SortKeySpec>,
    pub(in crate::api::elastic) formats: Vec<DateFormat>,
    /// Fields without `unmapped_type`.
    pub(in crate::api::elastic) mapped: Vec<String>,
}

/// Options of a key.
#[derive(Default)]
struct How {
    order: Option<String>,
    missing_first: bool,
    in_place: Option<InPlace>,
    mode: SortMode,
    format: DateFormat,
    may_be_unmapped: bool,
}

/// Name of the key that compares distances.
const GEO_DISTANCE: &str = "_geo_distance";

/// Maximum number of points from which a key measures.
const MAX_POINTS: usize = 1_024;

const MILLISECOND_NS: i64 = 1_000_000;

fn invalid(what: impl std::fmt::Display) -> SearchError {
    SearchError::invalid(format!("sort: {what}"))
}

/// Reads a key of distances.
fn distance(json: &Value) -> Result<SortKeySpec, SearchError> {
    let invalid = |what: String| invalid(format!("{GEO_DISTANCE}: {what}"));
    let Value::Object(json) = json else {
        return Err(invalid(
            "this must be an object that names a field".to_owned(),
        ));
    };
    let mut key = DistanceKey {
        field: String::new(),
        points: Vec::new(),
        unit: Unit::METER,
        metric: Metric::Arc,
        ignores_unmapped: false,
    };
    let (mut order, mut mode) = (SortOrder::Ascending, SortMode::Nearest);
    for (name, value) in json {
        let text = value.as_str();
        match (name.as_str(), text) {
            ("order", Some("asc")) => order = SortOrder::Ascending,
            ("order", Some("desc")) => order = SortOrder::Descending,
            ("unit", Some(name)) => key.unit = Unit::parse(name).map_err(invalid)?,
            ("mode", Some(name)) if name != "sum" => mode = mode_of(GEO_DISTANCE, name)?,
            ("distance_type", Some(name)) if Metric::parse(name).is_some() => {
                key.metric = Metric::parse(name).unwrap_or_default();
            }
            ("validation_method", Some(_)) => {}
            ("ignore_unmapped", _) if value.is_boolean() => {
                key.ignores_unmapped = value == &Value::Bool(true);
            }
            (
                "order" | "unit" | "mode" | "distance_type" | "validation_method"
                | "ignore_unmapped" | "nested",
                _,
            ) => {
                return Err(invalid(format!("{name}: {value} is not known here")));
            }
            (field, _) if key.points.is_empty() => {
                check_name("sort", field)?;
                field.clone_into(&mut key.field);
                let read = read_points(value, &mut |point| key.points.push(point));
                read.map_err(|problem| invalid(format!("{field}: {problem}")))?;
            }
            (field, _) => {
                return Err(invalid(format!(
                    "{field}: there is one field, {:?}, with one or several points",
                    key.field
                )));
            }
        }
    }
    match key.points.len() {
        0 => Err(invalid("a field with a point is missing".to_owned())),
        1..=MAX_POINTS => Ok(SortKeySpec {
            mode,
            ..SortKeySpec::new(SortTarget::Distance(key), order)
        }),
        _ => Err(invalid(format!("at most {MAX_POINTS} points are allowed"))),
    }
}

fn mode_of(name: &str, text: &str) -> Result<SortMode, SearchError> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "min" => SortMode::Min,
        "max" => SortMode::Max,
        "sum" => SortMode::Sum,
        "avg" => SortMode::Avg,
        "median" => SortMode::Median,
        _ => {
            return Err(invalid(format!(
                "{name}.mode: {text:?} is not known; there are min, max, sum, avg, median"
            )));
        }
    })
}

/// Checks the objects whose values sort: all of a path, which their parents contain.
fn all_objects(name: &str, nested: &Value) -> Result<(), SearchError> {
    let Value::Object(keys) = nested else {
        return Err(invalid(format!(
            "{name}.nested: this must be an object with a path"
        )));
    };
    let mut path = None;
    for (key, value) in keys {
        match (key.as_str(), value) {
            ("path", Value::String(text)) => path = Some(text),
            ("nested", inner) => all_objects(name, inner)?,
            (key, _) => {
                return Err(invalid(format!(
                    "{name}.nested: {key:?} is not supported: all objects of a document count; there is path"
                )));
            }
        }
    }
    match path {
        Some(path) => is_below(name, path),
        None => Err(invalid(format!("{name}.nested: path is missing"))),
    }
}

fn is_below(name: &str, path: &str) -> Result<(), SearchError> {
    let below = name.strip_prefix(path);
    match below.is_some_and(|below| below.starts_with('.')) {
        true => Ok(()),
        false => Err(invalid(format!(
            "{name}.nested: the field is not in the objects of [{path}]"
        ))),
    }
}

/// Reads the number that stands in place of a missing value.
fn in_place(name: &str, value: &Value) -> Result<InPlace, SearchError> {
    let number = match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let read = number.and_then(|number| match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => Some(InPlace::Integer(integer)),
        (None, float) => float.map(|float| InPlace::Bits(float.to_bits())),
    });
    read.ok_or_else(|| {
        invalid(format!(
            "{name}.missing must be _first, _last or a number, which is of a date its milliseconds"
        ))
    })
}

impl Sort {
    /// Parses the value of `sort`: a key or a list of keys.
    pub(in crate::api::elastic) fn of(json: &Value) -> Result<Self, SearchError> {
        #[cfg(test)]
        crate::request::parses::note(crate::request::parses::Parsed::Sort);
        let mut sort = Self::default();
        match json {
            Value::Array(keys) => keys.iter().try_for_each(|key| sort.add(key))?,
            key => sort.add(key)?,
        }
        if sort.keys.len() > MAX_SORT_KEYS {
            return Err(invalid(format!("at most {MAX_SORT_KEYS} keys are allowed")));
        }
        Ok(sort)
    }

    /// Parses `field`, `field:desc` separated by commas, as in URLs.
    pub(in crate::api::elastic) fn of_url(text: &str) -> Result<Self, SearchError> {
        let keys = text.split(',').map(|key| match key.rsplit_once(':') {
            Some((name, order)) => serde_json::json!({name: order}),
            None => Value::from(key),
        });
        Self::of(&keys.collect())
    }

    fn add(&mut self, key: &Value) -> Result<(), SearchError> {
        match key {
            // The URL notation.
            Value::String(name) if name.ends_with(":asc") || name.ends_with(":desc") => {
                Err(invalid(format!(
                    "No mapping found for [{name}] in order to sort on: write {{\"field\": \"desc\"}}"
                )))
            }
            Value::String(name) => self.push(name, How::default()),
            Value::Object(keys) if keys.contains_key(GEO_DISTANCE) => {
                let mut others = keys.iter().filter(|(name, _)| *name != GEO_DISTANCE);
                others.try_for_each(|(name, how)| self.how(name, how))?;
                let key = keys.get(GEO_DISTANCE).unwrap_or(&Value::Null);
                self.keys.push(distance(key)?);
                self.formats.push(DateFormat::Usual);
                Ok(())
            }
            Value::Object(keys) => {
                // The keys of an object have no order, and Grafana writes them alphabetically: keys that only tell
                // hits apart come last.
                let (apart, values): (Vec<_>, Vec<_>) = keys
                    .iter()
                    .partition(|(name, _)| matches!(name.as_str(), "_doc" | "_shard_doc"));
                let mut keys = values.into_iter().chain(apart);
                keys.try_for_each(|(name, how)| self.how(name, how))
            }
            _ => Err(invalid(
                "a key must be a name or an object, such as {\"field\": \"desc\"}",
            )),
        }
    }

    fn how(&mut self, name: &str, how: &Value) -> Result<(), SearchError> {
        let how = match how {
            Value::String(order) => {
                let order = Some(order.clone());
                return self.push(
                    name,
                    How {
                        order,
                        ..How::default()
                    },
                );
            }
            Value::Object(how) => how,
            _ => {
                return Err(invalid(format!(
                    "{name}: this must be asc, desc or an object"
                )));
            }
        };
        let mut given = How::default();
        for (key, value) in how {
            match (key.as_str(), value) {
                ("order", Value::String(text)) => given.order = Some(text.clone()),
                ("missing", Value::String(text)) if text == "_last" => given.missing_first = false,
                ("missing", Value::String(text)) if text == "_first" => given.missing_first = true,
                ("missing", value) => given.in_place = Some(in_place(name, value)?),
                ("format", Value::String(text)) => {
                    given.format = match text.as_str() {
                        "epoch_nanos_int" => DateFormat::Nanoseconds,
                        "epoch_millis_int" => DateFormat::Milliseconds,
                        _ => DateFormat::Named(text.clone()),
                    }
                }
                // A format decides how it is written.
                ("numeric_type", Value::String(text))
                    if matches!(text.as_str(), "date" | "date_nanos") =>
                {
                    if given.format == DateFormat::Usual {
                        given.format = match text.as_str() {
                            "date" => DateFormat::Milliseconds,
                            _ => DateFormat::Nanoseconds,
                        };
                    }
                }
                ("unmapped_type", Value::String(_)) => given.may_be_unmapped = true,
                ("mode", Value::String(text)) => given.mode = mode_of(name, text)?,
                // A column has the values of all objects.
                ("nested", nested) => all_objects(name, nested)?,
                ("nested_path", Value::String(path)) => is_below(name, path)?,
                (key, _) => {
                    return Err(invalid(format!(
                        "{name}: {key:?} is not known or has a wrong value; there are format, missing, \
                         mode, nested, numeric_type, order, unmapped_type"
                    )));
                }
            }
        }
        self.push(name, given)
    }

    fn push(&mut self, name: &str, how: How) -> Result<(), SearchError> {
        let (target, usual) = match name {
            "_score" => (SortTarget::Score, SortOrder::Descending),
            "_doc" | "_shard_doc" => (SortTarget::Doc, SortOrder::Ascending),
            name => {
                check_name("sort", name)?;
                if !how.may_be_unmapped {
                    self.mapped.push(name.to_owned());
                }
                (SortTarget::Field(name.to_owned()), SortOrder::Ascending)
            }
        };
        let order = how.order.map(|order| order.to_ascii_lowercase());
        let order = match order.as_deref() {
            None => usual,
            Some("asc") => SortOrder::Ascending,
            Some("desc") => SortOrder::Descending,
            Some(other) => {
                return Err(invalid(format!(
                    "{name}: the order {other:?} is not known; there are asc and desc"
                )));
            }
        };
        self.keys.push(SortKeySpec {
            target,
            order,
            missing_first: how.missing_first,
            in_place: how.in_place,
            mode: how.mode,
        });
        self.formats.push(how.format);
        Ok(())
    }

    /// Appends the key that tells all hits apart, if `_doc` is present, or if `always`.
    pub(in crate::api::elastic) fn told_apart(mut self, always: bool) -> Self {
        let first = self
            .keys
            .iter()
            .position(|key| key.target == SortTarget::Doc);
        let order = match first {
            // `_doc` alone is the order of the index.
            Some(0) if !always => return self,
            None if !always => return self,
            Some(at) => {
                self.formats.truncate(at);
                let keys = self.keys.split_off(at);
                keys.first().map_or(SortOrder::Ascending, |key| key.order)
            }
            None => SortOrder::Ascending,
        };
        self.keys
            .push(SortKeySpec::new(SortTarget::SplitDoc, order));
        self.formats.push(DateFormat::Usual);
        self
    }

    /// Parses `search_after`: one value for each key.
    pub(in crate::api::elastic) fn after(
        &self,
        json: &Value,
    ) -> Result<Vec<SortValue>, SearchError> {
        let invalid = |what: &str| SearchError::invalid(format!("search_after: {what}"));
        let Value::Array(values) = json else {
            return Err(invalid("this must be a list"));
        };
        if values.len() != self.keys.len() || values.is_empty() {
            return Err(invalid("there must be one value for each key of sort"));
        }
        let keys = self.keys.iter().zip(&self.formats).zip(values);
        keys.map(|((key, format), value)| {
            if key.target == SortTarget::Doc {
                return Err(invalid(
                    "_doc by itself cannot be gone on from: use scroll, or put a field before it",
                ));
            }
            let is_distance = matches!(key.target, SortTarget::Distance(_));
            Ok(match (value, format) {
                (Value::String(text), _) if is_distance && text == "Infinity" => {
                    SortValue::Number(f64::INFINITY)
                }
                (Value::Null, _) => SortValue::Missing,
                (Value::Bool(flag), _) => SortValue::Bool(*flag),
                (Value::Number(number), DateFormat::Nanoseconds) if number.is_i64() => {
                    SortValue::Date(number.as_i64().unwrap_or_default())
                }
                (Value::Number(number), DateFormat::Milliseconds) if number.is_i64() => {
                    let ms = number.as_i64().unwrap_or_default();
                    SortValue::Date(ms.saturating_mul(MILLISECOND_NS))
                }
                (Value::Number(number), DateFormat::Named(format)) => {
                    let text = number.to_string();
                    let time = resolve_date(&text, Some(format), None, 0, false);
                    SortValue::Date(time.map_err(|what| invalid(&what))?)
                }
                (Value::Number(number), _) => match (number.as_i64(), number.as_u64()) {
                    (Some(integer), _) => SortValue::Integer(integer.into()),
                    (_, Some(integer)) => SortValue::Integer(integer.into()),
                    _ => SortValue::Number(number.as_f64().unwrap_or_default()),
                },
                (Value::String(text), DateFormat::Named(format)) => {
                    let time = resolve_date(text, Some(format), None, 0, false);
                    SortValue::Date(time.map_err(|what| invalid(&what))?)
                }
                (Value::String(text), _) => SortValue::Text(text.clone()),
                (Value::Array(_) | Value::Object(_), _) => {
                    return Err(invalid("a value must be text, a number, a flag or null"));
                }
            })
        })
        .collect()
    }
}
