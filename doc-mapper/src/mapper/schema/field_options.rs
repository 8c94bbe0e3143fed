//! Conversion of field mappings to the options of tantivy fields.

use tantivy::schema::{
    BytesOptions, DateOptions, IndexRecordOption, IpAddrOptions, JsonObjectOptions, NumericOptions,
    TextFieldIndexing, TextOptions,
};

use crate::config::{FieldKind, FieldMapping, Normalizer, TextKind, TextVariant};
use crate::tokenizers;

/// Returns a variant of a text field as a field mapping.
pub(in crate::mapper) fn as_mapping(mapping: &FieldMapping, variant: &TextVariant) -> FieldMapping {
    FieldMapping {
        name: variant.name.clone(),
        description: None,
        multi_valued: mapping.multi_valued,
        stored: false,
        indexed: true,
        scanned: false,
        by_values: false,
        fast: None,
        ignore_above: None,
        null_value: None,
        constant: None,
        ignore_malformed: false,
        needle: false,
        sub_fields: Vec::new(),
        aliases: Vec::new(),
        counted_by: None,
        kind: FieldKind::Text(TextKind {
            tokenizer: variant.tokenizer.clone(),
            search_tokenizer: variant.search_tokenizer.clone(),
            record: variant.record,
            fieldnorms: variant.fieldnorms,
            variants: Vec::new(),
            whole_values: Vec::new(),
            completion: None,
        }),
    }
}

pub(in crate::mapper) fn text_options(mapping: &FieldMapping, text: &TextKind) -> TextOptions {
    let mut options = TextOptions::default();
    if mapping.stored {
        options = options.set_stored();
    }
    if let Some(normalizer) = mapping.fast {
        options = options.set_fast(tokenizers::of_column(normalizer, mapping.ignore_above));
    }
    if mapping.indexed {
        let indexing = match mapping.by_values {
            true => TextFieldIndexing::default()
                .set_tokenizer(match mapping.fast {
                    Some(Normalizer::Raw) => tokenizers::LONG_PIECES,
                    _ => tokenizers::PIECES,
                })
                .set_index_option(IndexRecordOption::Basic)
                .set_fieldnorms(false),
            false => TextFieldIndexing::default()
                .set_tokenizer(&tokenizers::limited(&text.tokenizer, mapping.ignore_above))
                .set_index_option(text.record)
                .set_fieldnorms(text.fieldnorms),
        };
        options = options.set_indexing_options(indexing);
    }
    options
}

pub(in crate::mapper) fn json_options(mapping: &FieldMapping) -> JsonObjectOptions {
    // Never stored: hits show the text of `_verbatim`.
    let mut options = JsonObjectOptions::default();
    if let Some(normalizer) = mapping.fast {
        options = options.set_fast(tokenizers::of_column(normalizer, mapping.ignore_above));
    }
    if let FieldKind::Json(json) = &mapping.kind {
        if json.expand_dots {
            options = options.set_expand_dots_enabled();
        }
        if mapping.indexed {
            let tokenizer = tokenizers::limited(&json.tokenizer, mapping.ignore_above);
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(&tokenizer)
                .set_index_option(json.record);
            options = options.set_indexing_options(indexing);
        }
    }
    options
}

/// Sets the options of any type: tantivy has one builder for each, with the same three setters.
macro_rules! set_options {
    ($mapping:expr, $options:expr) => {{
        let mut options = $options;
        if $mapping.stored {
            options = options.set_stored();
        }
        if $mapping.indexed {
            options = options.set_indexed();
        }
        if $mapping.fast.is_some() {
            options = options.set_fast();
        }
        options
    }};
}

pub(in crate::mapper) fn numeric_options(mapping: &FieldMapping) -> NumericOptions {
    set_options!(mapping, NumericOptions::default())
}

/// Returns the options of codes of places. They are never stored: hits show the text of `_verbatim`.
pub(in crate::mapper) fn code_options(mapping: &FieldMapping) -> NumericOptions {
    let mapping = &FieldMapping {
        stored: false,
        ..mapping.clone()
    };
    set_options!(mapping, NumericOptions::default())
}

/// Returns the options of ranges. They are never stored: hits show the text of `_verbatim`.
pub(in crate::mapper) fn span_options(mapping: &FieldMapping) -> BytesOptions {
    match mapping.indexed {
        true => BytesOptions::default().set_indexed(),
        false => BytesOptions::default(),
    }
}

pub(in crate::mapper) fn ip_options(mapping: &FieldMapping) -> IpAddrOptions {
    set_options!(mapping, IpAddrOptions::default())
}

pub(in crate::mapper) fn bytes_options(mapping: &FieldMapping) -> BytesOptions {
    set_options!(mapping, BytesOptions::default())
}

/// Returns the options of a date field. The timestamp field has no terms: documents are sorted by
/// it, so its column finds single times as fast, and nearly every second would be a term.
pub(in crate::mapper) fn date_options(mapping: &FieldMapping, is_timestamp: bool) -> DateOptions {
    let mapping = &FieldMapping {
        indexed: mapping.indexed && !is_timestamp,
        ..mapping.clone()
    };
    let options = set_options!(mapping, DateOptions::default());
    match &mapping.kind {
        FieldKind::Date(date) => options.set_precision(date.precision),
        _ => options,
    }
}
