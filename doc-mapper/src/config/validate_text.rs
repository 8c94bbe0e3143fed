//! Validation of text: tokenizers exist, variants have unique names, and `concatenate` names
//! suitable fields.

use super::read::node::Result;
use super::validate::find;
use crate::config::read::read_text::{MAX_WAYS, no_such_tokenizer};
use crate::config::{ConfigError, DocMapping, FieldKind, FieldMapping, Mode, Normalizer, TextKind};
use crate::field_path::split_path;
use crate::tokenizers;

pub(in crate::config) fn text_fields(mapping: &DocMapping) -> Result<()> {
    if let Some(dynamic) = &mapping.dynamic_mapping {
        tokenizer_of(
            mapping,
            dynamic,
            "doc_mapping.dynamic_mapping",
            "dynamic_mapping",
        )?;
        length_of(
            mapping,
            dynamic,
            "doc_mapping.dynamic_mapping",
            "dynamic_mapping",
        )?;
    }
    fields(
        mapping,
        &mapping.field_mappings,
        "doc_mapping.field_mappings",
    )
}

fn fields(mapping: &DocMapping, list: &[FieldMapping], path: &str) -> Result<()> {
    for (i, field) in list.iter().enumerate() {
        let at = format!("{path}[{i}]");
        let what = format!("field mapping {:?}", field.name);
        tokenizer_of(mapping, field, &at, &what)?;
        length_of(mapping, field, &at, &what)?;
        words_in_values(mapping, field, &at, &what)?;
        fields(mapping, &field.sub_fields, &format!("{at}.sub_fields"))?;
        further_names_of(field, list, &at, &what)?;
        match &field.kind {
            FieldKind::Object(children) => {
                fields(mapping, children, &format!("{at}.field_mappings"))?;
            }
            FieldKind::Text(text) => {
                completion_of(mapping, text, &at, &what)?;
            }
            FieldKind::Concatenate(concatenate) => {
                let at = format!("{at}.concatenate_fields");
                let check = concatenated(mapping, &concatenate.fields, concatenate.include_dynamic);
                check.map_err(|problem| ConfigError::new(at, format!("{what} {problem}")))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that each further name of a field stands for one thing.
fn further_names_of(
    field: &FieldMapping,
    list: &[FieldMapping],
    at: &str,
    what: &str,
) -> Result<()> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    if let FieldKind::Text(text) = &field.kind {
        let variants = text.variants.iter().map(|variant| &variant.name);
        let ways = variants.chain(&text.whole_values);
        names.extend(ways.map(|name| ("fields", name.as_str())));
        let completions = text.completion.iter().flat_map(|own| &own.names);
        names.extend(completions.map(|name| ("completion.names", name.as_str())));
    }
    let subs = field.sub_fields.iter();
    names.extend(subs.map(|own| ("sub_fields", own.name.as_str())));
    let aliases = field.aliases.iter();
    names.extend(aliases.map(|name| ("aliases", name.as_str())));
    for (i, (key, name)) in names.iter().enumerate() {
        let path = format!("{}.{name}", field.name);
        let message = if list.iter().any(|other| other.name == path) {
            format!(
                "{what}: {path:?} is a field of its own: call this way of indexing it something else"
            )
        } else if names.iter().take(i).any(|(_, other)| other == name) {
            format!("{what} has the further name {name:?} twice")
        } else {
            continue;
        };
        return Err(ConfigError::new(format!("{at}.{key}"), message));
    }
    Ok(())
}

/// Checks that hits can show a completion, and that its tokenizer exists.
fn completion_of(mapping: &DocMapping, text: &TextKind, at: &str, what: &str) -> Result<()> {
    let Some(completion) = &text.completion else {
        return Ok(());
    };
    let name = &completion.analyzer;
    let mut custom = mapping.tokenizers.iter();
    let is_known =
        tokenizers::NAMES.contains(&&**name) || custom.any(|custom| custom.name == *name);
    let message = match (is_known, mapping.store_source) {
        (true, true) => return Ok(()),
        (false, _) => no_such_tokenizer(what, name, &mapping.tokenizers),
        (true, false) => {
            format!(
                "{what}: a completion is shown as it was sent, for which \"store_source\" must be true in \"doc_mapping\""
            )
        }
    };
    Err(ConfigError::new(format!("{at}.completion"), message))
}

fn tokenizer_of(mapping: &DocMapping, field: &FieldMapping, at: &str, what: &str) -> Result<()> {
    let check = |place: String, what: &str, name: &str| {
        let is_known = tokenizers::NAMES.contains(&name)
            || mapping.tokenizers.iter().any(|custom| custom.name == name);
        match is_known {
            true => Ok(()),
            false => {
                let message = no_such_tokenizer(what, name, &mapping.tokenizers);
                Err(ConfigError::new(place, message))
            }
        }
    };
    let own = match &field.kind {
        FieldKind::Text(text) => text,
        FieldKind::Concatenate(concatenate) => &concatenate.text,
        FieldKind::Json(json) => return check(format!("{at}.tokenizer"), what, &json.tokenizer),
        _ => {
            let counted_by = field.counted_by.as_deref();
            return counted_by.map_or(Ok(()), |name| check(format!("{at}.counted_by"), what, name));
        }
    };
    check(format!("{at}.tokenizer"), what, &own.tokenizer)?;
    if let Some(of_queries) = &own.search_tokenizer {
        check(format!("{at}.search_tokenizer"), what, of_queries)?;
    }
    for variant in &own.variants {
        let place = format!("{at}.fields.{}.tokenizer", variant.name);
        let what = format!("{:?} of {what}", variant.name);
        check(place.clone(), &what, &variant.tokenizer)?;
        if let Some(of_queries) = &variant.search_tokenizer {
            check(place, &what, of_queries)?;
        }
    }
    Ok(())
}

/// Checks that it can be told whether a document has a value that is too long for the fast field.
fn length_of(mapping: &DocMapping, field: &FieldMapping, at: &str, what: &str) -> Result<()> {
    let tokenizer = match &field.kind {
        FieldKind::Text(text) => &text.tokenizer,
        FieldKind::Json(json) => &json.tokenizer,
        _ => return Ok(()),
    };
    let has_words = field.is_searched() && !tokenizers::is_whole(tokenizer);
    if field.ignore_above.is_none()
        || field.fast.is_none()
        || !has_words
        || mapping.index_field_presence
    {
        return Ok(());
    }
    let message = format!(
        "{what}: \"ignore_above\" leaves long values out of the fast field, so that \"index_field_presence\" must be \
         true in \"doc_mapping\""
    );
    Err(ConfigError::new(format!("{at}.ignore_above"), message))
}

/// Checks that a field with the strategy `values` has words, and values to look for them in.
fn words_in_values(mapping: &DocMapping, field: &FieldMapping, at: &str, what: &str) -> Result<()> {
    if !field.by_values {
        return Ok(());
    }
    let (text, sources) = match &field.kind {
        FieldKind::Text(text) => (text, &[][..]),
        FieldKind::Concatenate(concatenate) => (&concatenate.text, &concatenate.fields[..]),
        _ => return Ok(()),
    };
    let is_unfit = tokenizers::is_whole(&text.tokenizer) || text.completion.is_some();
    if is_unfit || field.ignore_above.is_some() {
        let message = format!(
            "{what}: the strategy values finds words in whole values: the tokenizer must cut words, there are no \
             completions, and \"ignore_above\" would leave words out"
        );
        return Err(ConfigError::new(format!("{at}.strategy"), message));
    }
    for path in sources {
        let found = find(&mapping.field_mappings, &split_path(path));
        let has_values = found.is_some_and(|(source, rest)| match &source.kind {
            FieldKind::Text(_) if rest == 0 && source.by_values => true,
            FieldKind::Text(text) if rest == 0 && source.indexed => {
                tokenizers::is_whole(&text.tokenizer)
            }
            FieldKind::Text(_) => rest == 0 && source.fast == Some(Normalizer::Raw),
            _ => false,
        });
        if !has_values {
            let message = format!(
                "{what}: the strategy values finds words in whole values, and {path:?} is no text with the tokenizer \
                 raw or lowercase, nor with a column"
            );
            return Err(ConfigError::new(
                format!("{at}.concatenate_fields"),
                message,
            ));
        }
    }
    Ok(())
}

/// Checks that these fields can be concatenated.
fn concatenated(
    mapping: &DocMapping,
    paths: &[String],
    include_dynamic: bool,
) -> std::result::Result<(), String> {
    if include_dynamic && mapping.mode != Mode::Dynamic {
        return Err(
            "has \"include_dynamic_fields\", which is allowed only with \"mode: dynamic\""
                .to_owned(),
        );
    }
    if paths.is_empty() && !include_dynamic {
        return Err("concatenates nothing: name fields in \"concatenate_fields\"".to_owned());
    }
    for (i, path) in paths.iter().enumerate() {
        if paths.iter().take(i).any(|earlier| earlier == path) {
            return Err(format!("concatenates {path:?} twice"));
        }
        match find(&mapping.field_mappings, &split_path(path)) {
            Some((field, 0)) => can_be_concatenated(path, field)?,
            Some((field, _)) if matches!(field.kind, FieldKind::Json(_)) => {
                return Err(format!(
                    "cannot concatenate {path:?}, which is a part of {:?}: name the whole field",
                    field.name
                ));
            }
            _ if mapping.mode == Mode::Dynamic => {
                return Err(format!(
                    "concatenates {path:?}, which is not in \"field_mappings\": map it, or set \
                     include_dynamic_fields: true"
                ));
            }
            _ => {
                return Err(format!(
                    "concatenates {path:?}, which is not in \"field_mappings\""
                ));
            }
        }
        let is_too_much = |field: &FieldMapping| ways(mapping, field) > MAX_WAYS;
        if let Some((field, 0)) = find(&mapping.field_mappings, &split_path(path))
            && is_too_much(field)
        {
            return Err(format!(
                "concatenates {path:?}, which is indexed in more than {MAX_WAYS} ways then"
            ));
        }
    }
    Ok(())
}

/// Returns the maximum number of ways in which a field's values are indexed.
fn ways(mapping: &DocMapping, field: &FieldMapping) -> usize {
    let own = match &field.kind {
        FieldKind::Text(text) => 1 + text.variants.len(),
        _ => 1,
    };
    let concatenations = mapping.field_mappings.iter().filter(|other| {
        let FieldKind::Concatenate(concatenate) = &other.kind else {
            return false;
        };
        let mut names = concatenate.fields.iter();
        names.any(|path| {
            split_path(path)
                .last()
                .is_some_and(|last| *last == field.name)
        })
    });
    own + concatenations.count()
}

fn can_be_concatenated(path: &str, field: &FieldMapping) -> std::result::Result<(), String> {
    match &field.kind {
        FieldKind::Object(children) => children
            .iter()
            .try_for_each(|child| can_be_concatenated(&format!("{path}.{}", child.name), child)),
        FieldKind::Text(_)
        | FieldKind::I64(_)
        | FieldKind::U64(_)
        | FieldKind::F64(_)
        | FieldKind::Bool
        | FieldKind::Json(_) => Ok(()),
        FieldKind::Concatenate(_) => Err(format!(
            "cannot concatenate {path:?}, which is itself of the type concatenate"
        )),
        FieldKind::Date(_)
        | FieldKind::Ip
        | FieldKind::Bytes(_)
        | FieldKind::GeoPoint(_)
        | FieldKind::Range(_)
        | FieldKind::Vector(_) => Err(format!(
            "cannot concatenate {path:?}: only text, i64, u64, f64, bool and json can be, and it is {}",
            field.type_id()
        )),
    }
}
