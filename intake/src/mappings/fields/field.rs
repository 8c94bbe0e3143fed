//! One leaf field: its type and parameters → a field mapping.

use canter_geo::read_point;
use serde_json::{Value, json};

use super::analysis::{analyzer, normalizer};
use super::completion::completion;
use super::copies;
use super::dates::input_formats;
use super::multi_fields::{multi_fields, sub_fields};
use super::properties::Fields;
use super::vectors::{knn_vector, vector};
use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::Options;

/// Parameters of all types that change no answer.
const MEANS_NOTHING: [&str; 4] = ["meta", "store", "eager_global_ordinals", "on_script_error"];

/// Reads a field whose type is not `object`.
pub(in crate::mappings) fn leaf(
    fields: &mut Fields,
    name: &str,
    path: &str,
    kind: &str,
    mut options: Options,
) -> Result<Value> {
    options.ignore(&MEANS_NOTHING);
    options.only(
        "time_series_dimension",
        false,
        "there are no time series here",
    )?;
    copies::take(&mut options, path, &mut fields.copies)?;
    let mut field = match kind {
        "text" | "match_only_text" => text(fields, path, kind, &mut options)?,
        "keyword" | "wildcard" | "constant_keyword" => keyword(fields, path, kind, &mut options)?,
        "search_as_you_type" => typed_ahead(fields, path, &mut options)?,
        "token_count" => token_count(fields, path, &mut options)?,
        "long" | "integer" | "short" | "byte" | "unsigned_long" | "double" | "float"
        | "half_float" | "scaled_float" => number(fields, path, kind, &mut options)?,
        "boolean" => plain(fields, path, "array<bool>", &mut options)?,
        "ip" => plain(fields, path, "array<ip>", &mut options)?,
        "date" | "date_nanos" => {
            let is_timestamp = fields.timestamp.as_deref() == Some(path);
            date(fields, path, kind, is_timestamp, &mut options)?
        }
        "geo_point" => place(&mut options)?,
        "completion" => completion(fields, path, &mut options)?,
        "integer_range" | "long_range" | "float_range" | "double_range" | "date_range"
        | "ip_range" => span(path, kind, &mut options)?,
        "dense_vector" => vector(&mut options)?,
        "knn_vector" => knn_vector(&mut options)?,
        "binary" => {
            options.flag("doc_values", false)?;
            json!({"type": "array<bytes>", "stored": false, "indexed": false})
        }
        other => {
            return Err(MappingError::mapper(format!(
                "No handler for type [{other}] declared on field [{path}]: this type is not supported here"
            )));
        }
    };
    options.finish()?;
    field["name"] = name.into();
    Ok(field)
}

fn text(fields: &mut Fields, path: &str, kind: &str, options: &mut Options) -> Result<Value> {
    let is_indexed = options.flag("index", true)?;
    let cut = analyzer(options, &fields.analysis)?;
    let has_norms = options.flag("norms", kind == "text")?;
    let record = record(options, "position")?;
    let is_aggregated = options.flag("fielddata", false)?;
    options.ignore(&[
        "fielddata_frequency_filter",
        "index_phrases",
        "index_prefixes",
        "position_increment_gap",
        "term_vector",
    ]);
    similarity(options)?;
    let others = multi_fields(options, path, is_indexed && cut.tokenizer != "raw", fields)?;
    let mut field = json!({"type": "array<text>", "stored": true, "indexed": is_indexed});
    if let Some(column) = others.column {
        field["fast"] = json!({"normalizer": column.normalizer});
        if let Some(ignore_above) = column.ignore_above {
            field["ignore_above"] = ignore_above.into();
        }
    } else if is_aggregated {
        let normalizer = fields.analysis.normalizer_of_words(&cut.tokenizer);
        field["fast"] = match normalizer {
            Some(normalizer) => json!({"normalizer": normalizer}),
            None => true.into(),
        };
    }
    if is_indexed {
        field["tokenizer"] = cut.tokenizer.into();
        if let Some(of_queries) = cut.of_queries {
            field["search_tokenizer"] = of_queries.into();
        }
        field["record"] = record.into();
        field["fieldnorms"] = has_norms.into();
        fields.words.push(path.to_owned());
    }
    if !others.ways.is_empty() {
        field["fields"] = others.ways.into();
    }
    set_sub_fields(&mut field, others.typed);
    Ok(field)
}

fn keyword(fields: &mut Fields, path: &str, kind: &str, options: &mut Options) -> Result<Value> {
    let constant = match kind {
        "constant_keyword" => constant(options)?,
        _ => None,
    };
    let is_indexed = options.flag("index", true)?;
    let is_fast = options.flag("doc_values", true)?;
    let (tokenizer, normalizer) = normalizer(options, &fields.analysis)?;
    let has_norms = options.flag("norms", false)?;
    let record = record(options, "basic")?;
    let ignore_above = options.number("ignore_above")?;
    options.only(
        "split_queries_on_whitespace",
        false,
        "a query's text is one value",
    )?;
    let null_value = null_value(options, &[Given::Text])?;
    similarity(options)?;
    let others = multi_fields(options, path, false, fields)?;
    let mut field = json!({"type": "array<text>", "stored": false, "indexed": is_indexed});
    if let Some(ignore_above) = ignore_above {
        field["ignore_above"] = ignore_above.into();
    }
    if let Some(null_value) = null_value {
        field["null_value"] = null_value;
    }
    if let Some(constant) = constant {
        field["constant"] = constant.into();
    }
    field["fast"] = match is_fast {
        true => json!({"normalizer": normalizer}),
        false => false.into(),
    };
    if is_indexed {
        field["tokenizer"] = tokenizer.into();
        field["record"] = record.into();
        field["fieldnorms"] = has_norms.into();
    }
    if !others.ways.is_empty() {
        field["fields"] = others.ways.into();
    }
    set_sub_fields(&mut field, others.typed);
    Ok(field)
}

/// Reads the value that all documents have.
fn constant(options: &mut Options) -> Result<Option<String>> {
    match options.take("value") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
        Some(other) => Err(options.wrong("value", &format!("is a text, and not [{other}]"))),
    }
}

fn number(fields: &mut Fields, path: &str, kind: &str, options: &mut Options) -> Result<Value> {
    let (type_id, width) = match kind {
        "byte" => ("array<i64>", Some("i8")),
        "short" => ("array<i64>", Some("i16")),
        "integer" => ("array<i64>", Some("i32")),
        "long" => ("array<i64>", None),
        "unsigned_long" => ("array<u64>", None),
        "half_float" => ("array<f64>", Some("f16")),
        "float" => ("array<f64>", Some("f32")),
        _ => ("array<f64>", None),
    };
    let coerces = options.flag("coerce", true)?;
    let factor = match kind {
        "scaled_float" => Some(scaling_factor(options)?),
        _ => None,
    };
    if let Some(metric) = options.text("time_series_metric")? {
        let problem = format!("is not supported: [{metric}]");
        return Err(options.wrong("time_series_metric", &problem));
    }
    let mut field = plain(fields, path, type_id, options)?;
    field["coerce"] = coerces.into();
    if let Some(width) = width {
        field["width"] = width.into();
    }
    if let Some(factor) = factor {
        field["scaling_factor"] = factor;
    }
    Ok(field)
}

/// Reads the number that values are multiplied by before they are rounded.
fn scaling_factor(options: &mut Options) -> Result<Value> {
    const NAME: &str = "scaling_factor";
    let given = options.take(NAME).unwrap_or_default();
    let number = match &given {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64(),
    };
    match number.filter(|factor| *factor > 0.0 && factor.is_finite()) {
        Some(factor) => Ok(factor.into()),
        None if given.is_null() => Err(options.wrong(NAME, "is required")),
        None => Err(options.wrong(NAME, &format!("is a number above 0, and not [{given}]"))),
    }
}

/// Reads a field of a type that needs only an index and a column.
fn plain(fields: &mut Fields, path: &str, type_id: &str, options: &mut Options) -> Result<Value> {
    let is_indexed = options.flag("index", true)?;
    let is_fast = options.flag("doc_values", true)?;
    let null_value = null_value(options, given_of(type_id))?;
    let ignores_malformed = options.flag("ignore_malformed", false)?;
    let others = sub_fields(options, path, fields)?;
    let mut field =
        json!({"type": type_id, "stored": false, "indexed": is_indexed, "fast": is_fast});
    if ignores_malformed {
        field["ignore_malformed"] = true.into();
    }
    if let Some(null_value) = null_value {
        field["null_value"] = null_value;
    }
    set_sub_fields(&mut field, others);
    Ok(field)
}

/// Puts fields that get the same values into the mapping of a field.
fn set_sub_fields(field: &mut Value, sub_fields: Vec<Value>) {
    if !sub_fields.is_empty() {
        field["sub_fields"] = sub_fields.into();
    }
}

/// Reads a text that is searched while it is typed. Its shingles are found as the text itself: what they are for is
/// done by prefixes of words.
fn typed_ahead(fields: &mut Fields, path: &str, options: &mut Options) -> Result<Value> {
    const MIN_SHINGLE: u64 = 2;
    const MAX_SHINGLE: u64 = 4;
    const DEFAULT_SHINGLE: u64 = 3;
    let most = options.number("max_shingle_size")?;
    let most = most.unwrap_or(DEFAULT_SHINGLE);
    if !(MIN_SHINGLE..=MAX_SHINGLE).contains(&most) {
        return Err(options.wrong("max_shingle_size", "is from 2 to 4"));
    }
    let mut field = text(fields, path, "text", options)?;
    let names = (MIN_SHINGLE..=most).map(|len| format!("_{len}gram"));
    let names: Vec<String> = names.chain(["_index_prefix".to_owned()]).collect();
    field["aliases"] = names.into();
    Ok(field)
}

/// Reads the number of words of a text.
fn token_count(fields: &mut Fields, path: &str, options: &mut Options) -> Result<Value> {
    let cut = analyzer(options, &fields.analysis)?;
    options.only(
        "enable_position_increments",
        true,
        "there are no gaps between words",
    )?;
    let mut field = plain(fields, path, "array<i64>", options)?;
    field["counted_by"] = cut.tokenizer.into();
    Ok(field)
}

/// Reads a field of places.
fn place(options: &mut Options) -> Result<Value> {
    let ignores_malformed = options.flag("ignore_malformed", false)?;
    options.only("ignore_z_value", true, "an altitude is always ignored")?;
    let is_indexed = options.flag("index", true)?;
    let is_fast = options.flag("doc_values", true)?;
    let null_value = options.take("null_value").filter(|value| !value.is_null());
    no_multi_fields(options)?;
    let mut field = json!({
        "type": "array<geo_point>", "stored": false, "indexed": is_indexed, "fast": is_fast,
    });
    if ignores_malformed {
        field["ignore_malformed"] = true.into();
    }
    if let Some(value) = null_value {
        match read_point(&value) {
            Ok(point) => field["null_value"] = format!("{},{}", point.lat, point.lon).into(),
            Err(problem) => return Err(options.wrong("null_value", &problem)),
        }
    }
    Ok(field)
}

/// Reads a field of ranges. Its index is all that it has.
fn span(path: &str, kind: &str, options: &mut Options) -> Result<Value> {
    let is_indexed = options.flag("index", true)?;
    let has_column = options.flag("doc_values", true)?;
    options.only("coerce", true, "numbers are accepted in strings")?;
    let mut field = json!({
        "type": format!("array<{kind}>"), "stored": false, "indexed": is_indexed || has_column,
    });
    if kind == "date_range" {
        let formats = input_formats(options.text("format")?.as_deref(), path)?;
        options.ignore(&["locale"]);
        field["input_formats"] = formats.into();
    }
    if options.flag("ignore_malformed", false)? {
        field["ignore_malformed"] = true.into();
    }
    no_multi_fields(options)?;
    Ok(field)
}

fn date(
    fields: &mut Fields,
    path: &str,
    kind: &str,
    is_timestamp: bool,
    options: &mut Options,
) -> Result<Value> {
    let formats = input_formats(options.text("format")?.as_deref(), path)?;
    let locale = options.text("locale")?.unwrap_or_default();
    let is_english = locale.is_empty() || locale == "ROOT" || locale.starts_with("en");
    if !is_english {
        return Err(options.wrong("locale", "can only be [en]"));
    }
    let mut field = plain(fields, path, "array<datetime>", options)?;
    field["input_formats"] = formats.into();
    // Terms have seconds only.
    field["fast"] = true.into();
    field["fast_precision"] = match kind {
        "date" => "milliseconds",
        _ => "nanoseconds",
    }
    .into();
    if is_timestamp {
        if field
            .as_object_mut()
            .and_then(|field| field.remove("ignore_malformed"))
            .is_some()
        {
            let problem = "is not supported for the timestamp field: documents are ordered by it";
            return Err(options.wrong("ignore_malformed", problem));
        }
        field["type"] = "datetime".into();
        // Hits sorted by time show their timestamps.
        field["stored"] = true.into();
        field["fast"] = true.into();
        field["indexed"] = true.into();
    }
    Ok(field)
}

/// Returns the contents of the postings.
pub(in crate::mappings) fn record(
    options: &mut Options,
    default: &'static str,
) -> Result<&'static str> {
    Ok(match options.text("index_options")?.as_deref() {
        None => default,
        Some("docs") => "basic",
        Some("freqs") => "freq",
        Some("positions" | "offsets") => "position",
        Some(other) => {
            let problem = format!("is docs, freqs, positions or offsets, and not [{other}]");
            return Err(options.wrong("index_options", &problem));
        }
    })
}

pub(in crate::mappings) fn similarity(options: &mut Options) -> Result<()> {
    match options.text("similarity")?.as_deref() {
        None | Some("BM25") => Ok(()),
        Some(other) => Err(options.wrong(
            "similarity",
            &format!("can only be BM25, and not [{other}]"),
        )),
    }
}

/// Form of a value in JSON.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Text,
    Number,
    Bool,
}

/// Returns the forms that values of a type may have.
fn given_of(type_id: &str) -> &'static [Given] {
    match type_id {
        "array<bool>" => &[Given::Bool],
        "array<ip>" => &[Given::Text],
        "array<datetime>" => &[Given::Text, Given::Number],
        _ => &[Given::Number],
    }
}

/// Reads the value in place of `null`, which has one of these forms, or is a text of one.
fn null_value(options: &mut Options, forms: &[Given]) -> Result<Option<Value>> {
    let Some(value) = options.take("null_value").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let read = match &value {
        Value::String(text) if !forms.contains(&Given::Text) => {
            serde_json::from_str(text).unwrap_or(Value::Null)
        }
        value => value.clone(),
    };
    let form = match &read {
        Value::String(_) => Some(Given::Text),
        Value::Number(_) => Some(Given::Number),
        Value::Bool(_) => Some(Given::Bool),
        _ => None,
    };
    match form.filter(|form| forms.contains(form)) {
        Some(_) => Ok(Some(read)),
        None => Err(options.wrong(
            "null_value",
            &format!("is [{value}], which is no value of the field"),
        )),
    }
}

pub(super) fn no_multi_fields(options: &mut Options) -> Result<()> {
    let fields = options.take("fields");
    match fields.as_ref().and_then(Value::as_object) {
        Some(fields) if !fields.is_empty() => Err(options.wrong(
            "fields",
            "is not supported: values of this type are indexed in one way",
        )),
        _ => Ok(()),
    }
}
