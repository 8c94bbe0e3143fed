//! Inputs of pipelines: paths, scripts over them, and the keys of a sort.

use serde_json::Value;

use crate::pipeline::script::{Names, Script};
use crate::pipeline::types::PipelineOf;
use crate::request::{Body, number_of};
use crate::{Error, Result};

/// Maximum number of paths of one pipeline, and of parameters of a script.
const MAX_PATHS: usize = 50;

/// Path as written, with its location in the request. Inputs of scripts have names.
pub(super) struct Input<'a> {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) text: &'a str,
}

/// Reads the only path of most pipelines: a text, or a list of one text.
pub(super) fn one<'a>(body: &Body<'a>) -> Result<Vec<Input<'a>>> {
    let text = match body.get("buckets_path") {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(Value::Array(texts)) => match texts.as_slice() {
            [Value::String(text)] => Some(text.as_str()),
            _ => None,
        },
        _ => None,
    };
    let Some(text) = text else {
        return Err(body.invalid(
            "buckets_path",
            "a path such as \"name\" or \"name>_count\" is missing",
        ));
    };
    Ok(vec![Input {
        name: "_value".to_owned(),
        place: format!("{}.buckets_path", body.path),
        text,
    }])
}

/// Reads the named paths of a script.
pub(super) fn named<'a>(body: &Body<'a>) -> Result<Vec<Input<'a>>> {
    let given: Vec<(String, String, &Value)> = match body.get("buckets_path") {
        Some(Value::Object(named)) => {
            let named = named.iter();
            named
                .map(|(name, text)| (name.clone(), format!(".{name}"), text))
                .collect()
        }
        Some(Value::Array(texts)) => {
            let texts = texts.iter().enumerate();
            texts
                .map(|(place, text)| (format!("_value{place}"), format!(".{place}"), text))
                .collect()
        }
        Some(text) => vec![("_value".to_owned(), String::new(), text)],
        None => Vec::new(),
    };
    if given.is_empty() {
        let what = "an object such as {\"x\": \"name\"} is missing";
        return Err(body.invalid("buckets_path", what));
    }
    if given.len() > MAX_PATHS {
        let what = format!(
            "{} paths are more than the limit of {MAX_PATHS}",
            given.len()
        );
        return Err(body.too_large("buckets_path", &what));
    }
    let inputs = given.into_iter().map(|(name, end, text)| {
        let place = format!("{}.buckets_path{end}", body.path);
        match text {
            Value::String(text) => Ok(Input { name, place, text }),
            _ => Err(Error::invalid(&place, "a path is a text")),
        }
    });
    inputs.collect()
}

/// Reads a script: a text, or an object with the text and numbers as parameters.
pub(super) fn script(body: &Body<'_>, inputs: &[Input<'_>], has_window: bool) -> Result<Script> {
    let place = format!("{}.script", body.path);
    let mut names = Names {
        inputs: inputs.iter().map(|input| input.name.as_str()).collect(),
        has_window,
        ..Names::default()
    };
    let source = match body.get("script") {
        Some(Value::String(source)) => source.as_str(),
        Some(value @ Value::Object(_)) => {
            let script = Body::read(
                place.clone(),
                value,
                &["source", "inline", "lang", "params"],
            )?;
            names.is_bare = match script.text("lang")? {
                None | Some("painless") => false,
                Some("expression") => true,
                Some(_) => {
                    return Err(script.invalid("lang", "this must be painless or expression"));
                }
            };
            if let Some(params) = script.get("params") {
                names.constants = constants(&script, params)?;
            }
            let source = script.text("source")?.or(script.text("inline")?);
            source.ok_or_else(|| script.invalid("source", "the script is missing"))?
        }
        _ => return Err(body.invalid("script", "the script is missing")),
    };
    Script::parse(source, &names).map_err(|what| Error::invalid(&place, &what))
}

fn constants<'a>(script: &Body<'_>, params: &'a Value) -> Result<Vec<(&'a str, f64)>> {
    let params = params.as_object();
    let params = params.ok_or_else(|| script.invalid("params", "this must be a JSON object"))?;
    if params.len() > MAX_PATHS {
        let what = format!("{} are more than the limit of {MAX_PATHS}", params.len());
        return Err(script.too_large("params", &what));
    }
    let constants = params.iter().map(|(name, value)| {
        let number = number_of(value).filter(|_| value.is_number());
        match number {
            Some(number) => Ok((name.as_str(), number)),
            None => Err(script.invalid(&format!("params.{name}"), "this must be a number")),
        }
    });
    constants.collect()
}

pub(super) fn bucket_sort<'a>(body: &Body<'a>) -> Result<(PipelineOf, Vec<Input<'a>>)> {
    let keys = match body.get("sort") {
        None => &[],
        Some(Value::Array(keys)) => keys.as_slice(),
        Some(key) => std::slice::from_ref(key),
    };
    if keys.len() > MAX_PATHS {
        let what = format!("{} keys are more than the limit of {MAX_PATHS}", keys.len());
        return Err(body.too_large("sort", &what));
    }
    let mut descending = Vec::with_capacity(keys.len());
    let mut inputs = Vec::with_capacity(keys.len());
    for key in keys {
        let (text, is_descending) = match (key, sort_key(key)) {
            (Value::String(text), _) => (text.as_str(), false),
            (_, Some(key)) => key,
            _ => {
                let what = "each entry is a path, or such as {\"path\": {\"order\": \"desc\"}}";
                return Err(body.invalid("sort", what));
            }
        };
        descending.push(is_descending);
        inputs.push(Input {
            name: String::new(),
            place: format!("{}.sort", body.path),
            text,
        });
    }
    let from = body.count("from", 0, u64::from(u32::MAX))?;
    let size = body.count("size", 1, u64::from(u32::MAX))?;
    if inputs.is_empty() && from.is_none() && size.is_none() {
        return Err(body.invalid("sort", "there must be one of sort, from and size"));
    }
    let what = PipelineOf::BucketSort {
        descending,
        from: to_usize(from.unwrap_or(0)),
        size: size.map(to_usize),
    };
    Ok((what, inputs))
}

/// Reads `{"path": "desc"}` or `{"path": {"order": "desc"}}`.
fn sort_key(key: &Value) -> Option<(&str, bool)> {
    let key = key.as_object().filter(|key| key.len() == 1)?;
    let (text, order) = key.iter().next()?;
    let order = match order {
        Value::Object(order) if order.is_empty() => return Some((text, false)),
        Value::Object(order) if order.len() == 1 => order.get("order")?,
        order => order,
    };
    match order.as_str()? {
        "asc" => Some((text, false)),
        "desc" => Some((text, true)),
        _ => None,
    }
}

pub(super) fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
