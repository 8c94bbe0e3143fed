//! Fields of vectors.

use serde_json::{Map, Value, json};

use super::field::no_multi_fields;
use crate::mappings::error::Result;
use crate::mappings::options::Options;

/// Reads a field of vectors. How Elasticsearch finds the nearest makes no difference here.
pub(super) fn vector(options: &mut Options) -> Result<Value> {
    let dims = dims(options, "dims")?;
    let is_indexed = options.flag("index", true)?;
    let mut field =
        json!({"type": "dense_vector", "stored": false, "indexed": is_indexed, "dims": dims});
    for (name, known) in [
        ("element_type", &["float", "byte", "bit"][..]),
        (
            "similarity",
            &["cosine", "dot_product", "l2_norm", "max_inner_product"][..],
        ),
    ] {
        if let Some(text) = options.text(name)? {
            if !known.contains(&text.as_str()) {
                let problem = format!("is one of [{}], and not [{text}]", known.join(", "));
                return Err(options.wrong(name, &problem));
            }
            field[name] = text.into();
        }
    }
    if field["element_type"] == "bit" {
        if field.get("similarity").is_some_and(|of| *of != "l2_norm") {
            return Err(options.wrong("similarity", "of vectors of bits can only be [l2_norm]"));
        }
        if dims % 8 != 0 {
            return Err(options.wrong("dims", "of vectors of bits is a multiple of 8"));
        }
    }
    options.ignore(&["index_options"]);
    no_multi_fields(options)?;
    Ok(field)
}

/// Checks a field of vectors whose number of dimensions is that of the first document.
pub(in crate::mappings) fn check_without_dims(
    definition: &Map<String, Value>,
    path: &str,
) -> Result<()> {
    let mut whole = definition.clone();
    whole.insert("dims".to_owned(), 8.into());
    let mut options = Options::of(&whole, path, "dense_vector");
    vector(&mut options)?;
    options.finish()
}

fn dims(options: &mut Options, name: &str) -> Result<u64> {
    const MAX_DIMS: u64 = 4_096;
    let dims = options.number(name)?;
    dims.filter(|dims| (1..=MAX_DIMS).contains(dims))
        .ok_or_else(|| {
            let problem = "is required, from 1 to 4096";
            options.wrong(name, problem)
        })
}

/// Reads OpenSearch's field of vectors. Of its method, only the measure of nearness makes a difference here.
pub(super) fn knn_vector(options: &mut Options) -> Result<Value> {
    let dims = dims(options, "dimension")?;
    let mut field = json!({"type": "dense_vector", "stored": false, "indexed": true, "dims": dims});
    let element = match options.text("data_type")?.as_deref() {
        None | Some("float") => "float",
        Some("byte") => "byte",
        Some(other) => {
            let problem = format!("is one of [float, byte], and not [{other}]");
            return Err(options.wrong("data_type", &problem));
        }
    };
    let method = options.take("method").unwrap_or_default();
    let of_method = method["space_type"].as_str().map(str::to_owned);
    let space = options.text("space_type")?.or(of_method);
    let similarity = match space.as_deref() {
        None | Some("l2") => "l2_norm",
        Some("cosinesimil") => "cosine",
        Some("innerproduct") => "max_inner_product",
        Some(other) => {
            let problem = format!("is one of [l2, cosinesimil, innerproduct], and not [{other}]");
            return Err(options.wrong("space_type", &problem));
        }
    };
    field["element_type"] = element.into();
    field["similarity"] = similarity.into();
    options.ignore(&["mode", "compression_level", "doc_values", "store"]);
    no_multi_fields(options)?;
    Ok(field)
}
