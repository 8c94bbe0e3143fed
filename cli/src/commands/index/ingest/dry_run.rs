//! `canter index ingest --dry-run N`: the documents of the first records, field by field.

use std::fmt::Write;

use canter_doc_mapper::{DocMapper, FieldKind, IndexConfig};
use canter_index_builder::{Preview, PreviewRecord};
use serde_json::Value;

use crate::render::clean_text;

/// Maximum length of a value or line; longer ones are cut.
const MAX_CHARS: usize = 100;

/// Returns the records of an input, each with its fields: name, type in the index, value.
pub(crate) fn text_of(preview: &Preview, config: &IndexConfig, mapper: &DocMapper) -> String {
    let mut text = String::new();
    let num_docs: usize = preview.records.iter().map(|record| record.docs.len()).sum();
    let num_refused: usize = preview
        .records
        .iter()
        .flat_map(|record| &record.docs)
        .filter(|doc| doc.refused.is_some())
        .count();
    let num_dropped: usize = preview
        .records
        .iter()
        .map(|record| record.dropped.len())
        .sum();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {}; of the first {}, {} would be documents, {num_refused} rejected{}",
        preview.name,
        preview.format,
        crate::render::numbers::counted(preview.records.len() as u64, "record"),
        num_docs - num_refused,
        match num_dropped {
            0 => String::new(),
            num => format!(", {num} dropped"),
        },
    );
    for record in &preview.records {
        write_record(&mut text, record, config, mapper);
    }
    text
}

fn write_record(
    text: &mut String,
    record: &PreviewRecord,
    config: &IndexConfig,
    mapper: &DocMapper,
) {
    let line = String::from_utf8_lossy(&record.bytes);
    let _ = writeln!(
        text,
        "\nline {}, byte {}: {}",
        record.line_num,
        record.byte_offset,
        shown(&line)
    );
    for why in &record.dropped {
        let _ = writeln!(text, "  dropped: {}", shown(why));
    }
    for doc in &record.docs {
        if let Some((reason, message)) = &doc.refused {
            let _ = writeln!(text, "  rejected, {reason}: {}", shown(message));
        }
        let mut rows = Vec::new();
        if let Value::Object(object) = &doc.json {
            for (name, value) in object {
                add_rows(&mut rows, std::slice::from_ref(name), value, config, mapper);
            }
        }
        let width = |column: fn(&(String, String, String)) -> &String| {
            let widths = rows.iter().map(|row| column(row).chars().count());
            widths.max().unwrap_or(0).min(40)
        };
        let (names, types) = (width(|row| &row.0), width(|row| &row.1));
        for (name, kind, value) in &rows {
            let _ = writeln!(text, "  {name:names$}  {kind:types$}  {value}");
        }
    }
}

fn add_rows(
    rows: &mut Vec<(String, String, String)>,
    path: &[String],
    value: &Value,
    config: &IndexConfig,
    mapper: &DocMapper,
) {
    let kind = kind_of(path, config, mapper);
    match (value, kind.as_str()) {
        (Value::Object(object), "object") => {
            for (name, value) in object {
                let path = [path, std::slice::from_ref(name)].concat();
                add_rows(rows, &path, value, config, mapper);
            }
        }
        _ => rows.push((
            shown(&path.join(".")),
            kind,
            shown(&match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            }),
        )),
    }
}

/// Returns the type of a field in the index.
fn kind_of(path: &[String], config: &IndexConfig, mapper: &DocMapper) -> String {
    let mut fields = &config.doc_mapping.field_mappings;
    for (depth, name) in path.iter().enumerate() {
        let Some(field) = fields.iter().find(|field| &field.name == name) else {
            break;
        };
        match &field.kind {
            FieldKind::Object(inside) if depth + 1 < path.len() => fields = inside,
            _ => return field.type_id(),
        }
    }
    match mapper.dynamic_field() {
        Some(_) => "(dynamic)".to_string(),
        None => "(not indexed)".to_string(),
    }
}

fn shown(text: &str) -> String {
    let text = clean_text(text.trim_end());
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
