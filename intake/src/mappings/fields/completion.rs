//! `completion`: a field of inputs with weights, which a suggester completes.

use canter_geo::{Distance, Unit, letters_of};
use serde_json::{Map, Value, json};

use super::analysis::{Analysis, Cut, analyzer};
use super::multi_fields::multi_fields;
use super::properties::Fields;
use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::{Options, object};

/// Letters of the geohash of a place without `precision`, as in Elasticsearch.
const DEFAULT_LETTERS: u32 = 6;

/// Reads a field of type `completion`.
pub(in crate::mappings) fn completion(
    so_far: &mut Fields,
    path: &str,
    options: &mut Options,
) -> Result<Value> {
    let mut own = entries(path, options, &so_far.analysis)?;
    let mut names = Vec::new();
    let mut others = Map::new();
    if let Some(fields) = options.take("fields") {
        for (name, definition) in object(&fields, &format!("[fields] of field [{path}]"))? {
            let path = format!("{path}.{name}");
            let definition = object(definition, &format!("the mapping of field [{path}]"))?;
            if definition.get("type").and_then(Value::as_str) != Some("completion") {
                others.insert(name.clone(), definition.clone().into());
                continue;
            }
            let mut inner = Options::of(definition, &path, "completion");
            let is_same = entries(&path, &mut inner, &so_far.analysis)? == own;
            inner.finish()?;
            if !is_same {
                return Err(MappingError::mapper(format!(
                    "the multi-field [{path}] differs from the completion it is of: map it as a field of its own"
                )));
            }
            names.push(name.clone());
        }
    }
    let mut fields = Map::new();
    fields.insert("fields".to_owned(), others.into());
    let mut others = Options::of(&fields, path, "completion");
    let further = multi_fields(&mut others, path, false, so_far)?;
    if !further.typed.is_empty() {
        return Err(MappingError::mapper(format!(
            "the fields of [{path}] of other types than keyword, text and completion are not supported: map them as fields of \
             their own"
        )));
    }
    own["names"] = names.into();
    let mut field = json!({
        "type": "array<text>", "stored": false, "indexed": true, "tokenizer": "raw", "record": "basic",
        "completion": own,
    });
    if !further.ways.is_empty() {
        field["fields"] = further.ways.into();
    }
    Ok(field)
}

/// Reads the options on which entries depend.
fn entries(path: &str, options: &mut Options, analysis: &Analysis) -> Result<Value> {
    // Its default is another than that of texts.
    let analyzer = match options.has("analyzer") {
        true => analyzer(options, analysis)?,
        false => Cut {
            tokenizer: "letters".to_owned(),
            of_queries: None,
        },
    };
    if analyzer.of_queries.is_some() {
        let problem = "can only be that of [analyzer]: what is typed is cut as the inputs are";
        return Err(options.wrong("search_analyzer", problem));
    }
    options.only(
        "preserve_position_increments",
        true,
        "words that are left out leave no gap here",
    )?;
    let preserves_separators = options.flag("preserve_separators", true)?;
    let mut own =
        json!({"analyzer": analyzer.tokenizer, "preserve_separators": preserves_separators});
    if let Some(length) = options.number("max_input_length")? {
        own["max_input_length"] = length.into();
    }
    let contexts = match options.take("contexts") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(contexts)) => contexts,
        Some(context) => vec![context],
    };
    let contexts = contexts.iter().map(|given| context(path, given));
    own["contexts"] = contexts.collect::<Result<Vec<_>>>()?.into();
    Ok(own)
}

fn context(path: &str, given: &Value) -> Result<Value> {
    let what = format!("a context of field [{path}]");
    let given = object(given, &what)?;
    let mut own = Options::of(given, &what, "completion");
    let name = own.text("name")?;
    let name = name.ok_or_else(|| MappingError::mapper(format!("{what} has no [name]")))?;
    let mut read = json!({"name": name});
    if let Some(path) = own.text("path")? {
        read["path"] = path.into();
    }
    match given.get("type").and_then(Value::as_str) {
        Some("category") => {}
        Some("geo") => {
            let precision = own.take("precision").filter(|value| !value.is_null());
            read["geohash"] = match &precision {
                None => DEFAULT_LETTERS,
                Some(precision) => letters(precision)
                    .ok_or_else(|| own.wrong("precision", "is 1 to 12, or a distance"))?,
            }
            .into();
        }
        other => {
            let problem = format!(
                "is category or geo, and not [{}]",
                other.unwrap_or_default()
            );
            return Err(own.wrong("type", &problem));
        }
    }
    own.finish()?;
    Ok(read)
}

/// Returns the number of letters of geohashes that a precision stands for: a number, or the size of a cell.
fn letters(precision: &Value) -> Option<u32> {
    let text = match precision {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let letters = match text.parse::<u32>() {
        Ok(letters) => letters,
        Err(_) => letters_of(Distance::parse(&text, Unit::METER).ok()?).min(12),
    };
    (1..=12).contains(&letters).then_some(letters)
}
