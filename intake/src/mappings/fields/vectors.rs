//! Fields of vectors.

use serde_json::{Value, json};

use super::field::no_multi_fields;
use crate::mappings::error::Result;
use crate::mappings::options::Options;

/// Reads a field of vectors. How Elasticsearch finds the nearest makes no difference here.
pub(super) fn vector(options: &mut Options) -> Result<Value> {
    const MAX_DIMS: u64 = 4_096;
    let dims = options.number("dims")?;
    let Some(dims) = dims.filter(|dims| (1..=MAX_DIMS).contains(dims)) else {
        return Err(options.wrong(
            "dims",
            "is required, from 1 to 4096: it is not taken from the first document here",
        ));
    };
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
