//! Reader of field mappings: the type determines the allowed keys and their defaults.

use tantivy::schema::DateTimePrecision;

use crate::config::read::node::{MapReader, Node, NodeValue, Result};
use crate::config::read::read_number::{numeric, vector};
use crate::config::read::read_text::{
    Search, concatenate, only_if_indexed, search, text_indexing, text_options,
};
use crate::config::read::sub_fields::check_sub_fields;
use crate::config::{
    BytesFormat, BytesKind, ConfigError, DateKind, FieldKind, FieldMapping, GeoPointKind, JsonKind,
    Normalizer, NullValue, RangeKind, RangeOf, Width,
};
use crate::datetime::{DateInput, DateOutput};
use crate::mapper::RESERVED_NAMES;
use crate::tokenizers::NORMALIZERS;

/// Maximum nesting of objects in a config. Documents may nest deeper inside `json` fields.
const MAX_OBJECT_DEPTH: usize = 32;

const TYPES: &str = "text, i64, u64, f64, bool, datetime, ip, bytes, geo_point, integer_range, long_range, \
     float_range, double_range, date_range, ip_range, json, array<…> of these, dense_vector, object, nested, concatenate";

/// Types of which there are no arrays.
const NOT_IN_LISTS: [&str; 4] = ["object", "nested", "concatenate", "dense_vector"];

/// Types without sub-fields.
const WITHOUT_SUBS: [&str; 5] = ["object", "nested", "json", "concatenate", "dense_vector"];

pub(in crate::config) fn field_mappings(
    nodes: &[Node],
    path: &str,
    depth: usize,
) -> Result<Vec<FieldMapping>> {
    if depth > MAX_OBJECT_DEPTH {
        let message = format!("objects nest deeper than {MAX_OBJECT_DEPTH} levels");
        return Err(ConfigError::at(
            nodes.first().map_or(0, |n| n.line),
            path,
            message,
        ));
    }
    let mut fields: Vec<FieldMapping> = Vec::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        let at = format!("{path}[{i}]");
        let field = field_mapping(node, &at, depth)?;
        if fields.iter().any(|other| other.name == field.name) {
            let message = format!("field {:?} is mapped twice", field.name);
            return Err(ConfigError::at(node.line, format!("{at}.name"), message));
        }
        fields.push(field);
    }
    Ok(fields)
}

fn field_mapping(node: &Node, path: &str, depth: usize) -> Result<FieldMapping> {
    let NodeValue::Map(entries) = &node.value else {
        let message = format!("a field mapping must be a map, got {}", node.describe());
        return Err(ConfigError::at(node.line, path, message));
    };
    // The type determines the allowed keys, so name and type are read before the keys are checked.
    let keys: Vec<&str> = entries.iter().map(|e| e.key.as_str()).collect();
    let map = MapReader::new(node, path, "a field mapping", &keys)?;
    let name = map.required_str("name", "a field mapping")?;
    check_field_name(&name, depth == 0).map_err(|message| map.error("name", message))?;
    let what = format!("field mapping {name:?}");
    let type_id = map.required_str("type", &what)?;
    let inner = type_id
        .strip_prefix("array<")
        .and_then(|t| t.strip_suffix('>'));
    let type_name = inner.unwrap_or(&type_id);
    let is_listed = |name: &str| !NOT_IN_LISTS.contains(&name);
    let Some(own_keys) = keys_of(type_name).filter(|_| inner.is_none_or(is_listed)) else {
        let message = format!("\"type\" in {what} must be one of {TYPES}; got {type_id:?}");
        return Err(map.error("type", message));
    };
    let mut allowed = vec!["name", "type", "description"];
    allowed.extend(own_keys);
    let has_subs = !WITHOUT_SUBS.contains(&type_name) && depth < MAX_OBJECT_DEPTH;
    if has_subs {
        allowed.extend(["sub_fields", "aliases"]);
    }
    let map = MapReader::new(node, path, &what, &allowed)?;
    let search = search(&map, &what, type_name)?;
    let kind = kind(type_name, &map, &what, &search, depth)?;
    let fast = column(&map, &what, &kind, inner.is_some())?;
    let null_value = null_value(&map, &what, &kind)?;
    let needle = map.bool("needle", false)?;
    if needle && !search.indexed {
        return Err(only_if_indexed(&map, "needle", &what));
    }
    let sub_fields = match map.has("sub_fields") {
        // Those have none themselves.
        true => field_mappings(
            map.seq("sub_fields")?,
            &map.at("sub_fields"),
            MAX_OBJECT_DEPTH,
        )?,
        false => Vec::new(),
    };
    check_sub_fields(&map, &what, &kind, &sub_fields)?;
    let ignores_malformed =
        !matches!(kind, FieldKind::GeoPoint(_)) && map.bool("ignore_malformed", false)?;
    Ok(FieldMapping {
        name,
        description: map.str("description")?,
        multi_valued: inner.is_some() || type_name == "nested",
        stored: map.bool("stored", !matches!(kind, FieldKind::Concatenate(_)))?,
        indexed: search.indexed,
        scanned: search.scanned,
        by_values: search.by_values,
        fast,
        ignore_above: ignore_above(&map)?,
        null_value,
        constant: map.str("constant")?,
        ignore_malformed: ignores_malformed,
        needle,
        sub_fields,
        aliases: map.str_list("aliases")?,
        counted_by: map.str("counted_by")?,
        kind,
    })
}

/// Reads `fast`.
fn column(
    map: &MapReader<'_>,
    what: &str,
    kind: &FieldKind,
    is_list: bool,
) -> Result<Option<Normalizer>> {
    let fast = match kind {
        FieldKind::Range(_) | FieldKind::Vector(_) if map.bool("fast", false)? => {
            let message = format!("{what}: ranges and vectors have no fast field");
            return Err(map.error("fast", message));
        }
        FieldKind::Object(_) | FieldKind::Range(_) | FieldKind::Vector(_) => None,
        // Sorting and grids need the column.
        FieldKind::GeoPoint(_) if !map.has("fast") => Some(Normalizer::Raw),
        _ => fast(map)?,
    };
    match fast.is_some() && is_list && matches!(kind, FieldKind::Bytes(_)) {
        true => Err(map.error(
            "fast",
            format!("{what}: \"fast\" is not allowed for array<bytes>"),
        )),
        false => Ok(fast),
    }
}

fn keys_of(type_name: &str) -> Option<&'static [&'static str]> {
    Some(match type_name {
        "text" => &[
            "stored",
            "indexed",
            "strategy",
            "tokenizer",
            "search_tokenizer",
            "record",
            "fieldnorms",
            "fields",
            "completion",
            "fast",
            "ignore_above",
            "null_value",
            "constant",
            "needle",
        ],
        "bytes" => &[
            "stored",
            "indexed",
            "strategy",
            "fast",
            "needle",
            "input_format",
            "output_format",
        ],
        "json" => &[
            "stored",
            "indexed",
            "strategy",
            "tokenizer",
            "record",
            "expand_dots",
            "fast",
            "ignore_above",
            "needle",
        ],
        "concatenate" => &[
            "concatenate_fields",
            "include_dynamic_fields",
            "strategy",
            "tokenizer",
            "search_tokenizer",
            "record",
            "fieldnorms",
        ],
        "dense_vector" => &[
            "stored",
            "indexed",
            "fast",
            "dims",
            "similarity",
            "element_type",
        ],
        // Quickwit accepts `fast` here without any effect, since each inner field has its own.
        "object" | "nested" => &["field_mappings", "fast"],
        _ => return keys_of_typed(type_name),
    })
}

/// Returns the keys of numbers, booleans, addresses and dates.
fn keys_of_typed(type_name: &str) -> Option<&'static [&'static str]> {
    Some(match type_name {
        "i64" | "u64" | "f64" => &[
            "stored",
            "indexed",
            "strategy",
            "fast",
            "needle",
            "null_value",
            "ignore_malformed",
            "coerce",
            "output_format",
            "counted_by",
            "width",
            "scaling_factor",
        ],
        "bool" => &[
            "stored",
            "indexed",
            "strategy",
            "fast",
            "null_value",
            "ignore_malformed",
        ],
        "geo_point" => &[
            "stored",
            "indexed",
            "fast",
            "null_value",
            "ignore_malformed",
        ],
        "date_range" => &[
            "stored",
            "indexed",
            "fast",
            "input_formats",
            "ignore_malformed",
        ],
        other if range_of(other).is_some() => &["stored", "indexed", "fast", "ignore_malformed"],
        "ip" => &[
            "stored",
            "indexed",
            "strategy",
            "fast",
            "needle",
            "null_value",
            "ignore_malformed",
        ],
        "datetime" => &[
            "stored",
            "indexed",
            "strategy",
            "fast",
            "input_formats",
            "output_format",
            "fast_precision",
            "precision",
            "null_value",
            "ignore_malformed",
        ],
        _ => return None,
    })
}

fn kind(
    type_name: &str,
    map: &MapReader<'_>,
    what: &str,
    search: &Search,
    depth: usize,
) -> Result<FieldKind> {
    Ok(match type_name {
        "text" => FieldKind::Text(text_options(map, what, search)?),
        "concatenate" => FieldKind::Concatenate(concatenate(map, search)?),
        "i64" => FieldKind::I64(numeric(map, &Width::INTEGERS)?),
        "u64" => FieldKind::U64(numeric(map, &[])?),
        "f64" => FieldKind::F64(numeric(map, &Width::FLOATS)?),
        "bool" => FieldKind::Bool,
        "ip" => FieldKind::Ip,
        "datetime" => FieldKind::Date(date(map, what)?),
        "geo_point" => FieldKind::GeoPoint(GeoPointKind {
            ignore_malformed: map.bool("ignore_malformed", false)?,
        }),
        "bytes" => {
            let formats = [("base64", BytesFormat::Base64), ("hex", BytesFormat::Hex)];
            FieldKind::Bytes(BytesKind {
                input_format: map.choice("input_format", &formats, BytesFormat::Base64)?,
                output_format: map.choice("output_format", &formats, BytesFormat::Base64)?,
            })
        }
        "dense_vector" => FieldKind::Vector(vector(map, what)?),
        "json" => FieldKind::Json(json_options(map, what, search)?),
        other => {
            if let Some(of) = range_of(other) {
                let input_formats = match of {
                    RangeOf::Date => input_formats(map, what)?,
                    _ => Vec::new(),
                };
                return Ok(FieldKind::Range(RangeKind { of, input_formats }));
            }
            let fields = field_mappings(
                map.seq("field_mappings")?,
                &map.at("field_mappings"),
                depth + 1,
            )?;
            if fields.is_empty() {
                let message =
                    format!("{what}: an object needs at least one entry in \"field_mappings\"");
                return Err(map.error("field_mappings", message));
            }
            FieldKind::Object(fields)
        }
    })
}

pub(in crate::config) fn json_options(
    map: &MapReader<'_>,
    what: &str,
    search: &Search,
) -> Result<JsonKind> {
    let (tokenizer, record) = text_indexing(map, what, search, "raw")?;
    Ok(JsonKind {
        tokenizer,
        record,
        expand_dots: map.bool("expand_dots", true)?,
    })
}

/// Reads `true`, `false`, `{normalizer: lowercase}`, and for text the list `[{tokenizer:
/// lowercase}]` of the first example in Quickwit's documentation.
pub(in crate::config) fn fast(map: &MapReader<'_>) -> Result<Option<Normalizer>> {
    let Some(node) = map.get("fast") else {
        return Ok(None);
    };
    let is_text = map.has("tokenizer")
        || map
            .str("type")?
            .is_none_or(|t| t.contains("text") || t.contains("json"));
    let at = map.at("fast");
    match &node.value {
        NodeValue::Bool(on) => Ok(on.then_some(Normalizer::Raw)),
        NodeValue::Map(_) if is_text => {
            let options = MapReader::new(node, &at, "fast", &["normalizer"])?;
            options
                .choice("normalizer", &NORMALIZERS, Normalizer::Raw)
                .map(Some)
        }
        NodeValue::Seq(items) if is_text => match items.as_slice() {
            [item] => {
                let options = MapReader::new(item, &format!("{at}[0]"), "fast", &["tokenizer"])?;
                options
                    .choice("tokenizer", &NORMALIZERS, Normalizer::Raw)
                    .map(Some)
            }
            _ => Err(map.error("fast", "\"fast\" may hold one tokenizer, not several")),
        },
        _ if is_text => {
            let message = format!(
                "\"fast\" must be true, false or {{normalizer: raw | lowercase}}, got {}",
                node.describe()
            );
            Err(map.error("fast", message))
        }
        _ => map.bool("fast", false).map(|_| None),
    }
}

/// Reads the maximum length of whole values.
pub(in crate::config) fn ignore_above(map: &MapReader<'_>) -> Result<Option<u32>> {
    const KEY: &str = "ignore_above";
    if !map.has(KEY) {
        return Ok(None);
    }
    let limit = map.u64(KEY, 0, 0, i32::MAX as u64)?;
    Ok(u32::try_from(limit).ok())
}

/// Reads the value in place of `null`.
fn null_value(map: &MapReader<'_>, what: &str, kind: &FieldKind) -> Result<Option<NullValue>> {
    let Some(node) = map.get("null_value") else {
        return Ok(None);
    };
    let value = match &node.value {
        NodeValue::Bool(value) => NullValue::Bool(*value),
        NodeValue::Number(text) | NodeValue::Str(text) => NullValue::Text(text.clone()),
        NodeValue::Null => return Ok(None),
        _ => {
            let message = format!(
                "\"null_value\" must be a text, a number or a boolean, got {}",
                node.describe()
            );
            return Err(map.error("null_value", message));
        }
    };
    match (kind, value.as_point()) {
        (FieldKind::GeoPoint(_), Err(problem)) => {
            Err(map.error("null_value", format!("{what}: {problem}")))
        }
        _ => Ok(Some(value)),
    }
}

fn date(map: &MapReader<'_>, what: &str) -> Result<DateKind> {
    const PRECISIONS: [(&str, DateTimePrecision); 4] = [
        ("seconds", DateTimePrecision::Seconds),
        ("milliseconds", DateTimePrecision::Milliseconds),
        ("microseconds", DateTimePrecision::Microseconds),
        ("nanoseconds", DateTimePrecision::Nanoseconds),
    ];
    let input_formats = input_formats(map, what)?;
    let output_format = match map.str("output_format")? {
        None => DateOutput::Rfc3339,
        Some(text) => DateOutput::parse(&text).map_err(|message| {
            map.error(
                "output_format",
                format!("\"output_format\" in {what}: {message}"),
            )
        })?,
    };
    // `precision` was the name of `fast_precision` before Quickwit 0.6.
    let key = if map.has("precision") {
        "precision"
    } else {
        "fast_precision"
    };
    let precision = map.choice(key, &PRECISIONS, DateTimePrecision::Seconds)?;
    Ok(DateKind {
        input_formats,
        output_format,
        precision,
    })
}

/// Reads the formats of dates in documents.
fn input_formats(map: &MapReader<'_>, what: &str) -> Result<Vec<DateInput>> {
    let mut input_formats = Vec::new();
    for (i, text) in map.str_list("input_formats")?.iter().enumerate() {
        let format = DateInput::parse(text).map_err(|message| {
            let written = map.seq("input_formats").ok().and_then(|s| s.get(i));
            let line = written.map_or(0, |node| node.line);
            let message = format!("\"input_formats\" in {what}: {message}");
            ConfigError::at(line, format!("{}[{i}]", map.at("input_formats")), message)
        })?;
        if !input_formats.contains(&format) {
            input_formats.push(format);
        }
    }
    if input_formats.is_empty() {
        input_formats = vec![DateInput::Rfc3339, DateInput::UnixTimestamp];
    }
    Ok(input_formats)
}

/// Returns the type of the ends of ranges of a type.
fn range_of(type_name: &str) -> Option<RangeOf> {
    let mut all = RangeOf::ALL.into_iter();
    all.find(|of| of.type_name() == type_name)
}

/// Checks that a field may have a name: any text of 1 to 255 bytes without control characters (columns end their names
/// with one) and no reserved name. That of a field which is in no object does not begin with `-`, which a query would take
/// for a negation. Quickwit allows fewer: `^[@$_\-a-zA-Z][@$_/\.\-a-zA-Z0-9]{0,254}$`.
///
/// # Errors
/// Says what is wrong with the name.
pub fn check_field_name(name: &str, is_top_level: bool) -> std::result::Result<(), String> {
    if RESERVED_NAMES.contains(&name) {
        return Err(format!(
            "field name {name:?} is reserved, as are {}",
            RESERVED_NAMES.join(", ")
        ));
    }
    let is_allowed = (1..=255).contains(&name.len())
        && !(is_top_level && name.starts_with('-'))
        && !name.chars().any(char::is_control);
    if is_allowed {
        return Ok(());
    }
    Err(format!(
        "field name {name:?} is not allowed: 1 to 255 bytes without control characters, of which the first is no `-`"
    ))
}
