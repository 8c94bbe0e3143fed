//! Aggregations in the form that some clients want: with the `meta` of the request, and with their types in their
//! names.

use serde_json::{Map, Value};

/// Names of the fields whose numbers are unsigned.
type Unsigned<'a> = &'a [String];

/// Adds to each aggregation of an answer its `meta`, and with `types` its type before its name (`sterms#levels`),
/// as clients request by `typed_keys` to parse answers into types. Returns `None` if neither is requested.
///
/// `asked` are the aggregations of the request, and `types` the fields with unsigned numbers.
pub(in crate::root) fn named(
    answer: &str,
    asked: &Value,
    types: Option<Unsigned<'_>>,
) -> Option<String> {
    if types.is_none() && !has_meta(asked) {
        return None;
    }
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    rename(&mut answer, asked, types);
    Some(answer.to_string())
}

fn inside(asked: &Value) -> Option<&Value> {
    asked.get("aggs").or(asked.get("aggregations"))
}

fn has_meta(asked: &Value) -> bool {
    let all = asked.as_object().into_iter().flatten();
    let mut all = all.map(|(_, one)| one);
    all.any(|one| one.get("meta").is_some() || inside(one).is_some_and(has_meta))
}

/// Renames the aggregations in an object, which may have other keys.
fn rename(object: &mut Value, asked: &Value, types: Option<Unsigned<'_>>) {
    let Value::Object(entries) = object else {
        return;
    };
    let renamed = std::mem::take(entries)
        .into_iter()
        .map(|(name, mut value)| {
            let Some(one) = asked.get(&name) else {
                return (name, value);
            };
            if let Some(asked) = inside(one) {
                match value.get_mut("buckets") {
                    Some(Value::Array(buckets)) => {
                        buckets
                            .iter_mut()
                            .for_each(|bucket| rename(bucket, asked, types));
                    }
                    Some(Value::Object(buckets)) => {
                        buckets
                            .iter_mut()
                            .for_each(|(_, bucket)| rename(bucket, asked, types));
                    }
                    _ => rename(&mut value, asked, types),
                }
            }
            let name = match types {
                Some(unsigned) => format!("{}#{name}", type_of(one, &value, unsigned)),
                None => name,
            };
            if let (Some(meta), Value::Object(result)) = (one.get("meta"), &mut value) {
                result.insert("meta".to_owned(), meta.clone());
            }
            (name, value)
        });
    *entries = renamed.collect::<Map<String, Value>>();
}

/// Returns Elasticsearch's name for the type of an aggregation's result.
fn type_of<'a>(asked: &'a Value, result: &Value, unsigned: Unsigned<'_>) -> &'a str {
    let kinds = asked
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str());
    let mut kinds = kinds.filter(|key| !matches!(*key, "aggs" | "aggregations" | "meta"));
    let kind = kinds.next().unwrap_or_default();
    let first_key = || result.pointer("/buckets/0/key");
    let field = asked.pointer("/terms/field").and_then(Value::as_str);
    let is_unsigned = field.is_some_and(|field| unsigned.iter().any(|known| known == field));
    let has_hdr = asked
        .get(kind)
        .is_some_and(|body| body.get("hdr").is_some());
    match kind {
        "terms" => match first_key() {
            Some(Value::Number(number)) if number.is_f64() => "dterms",
            Some(Value::Number(number)) if !number.is_i64() => "ulterms",
            Some(Value::Number(_)) if is_unsigned => "ulterms",
            Some(Value::Number(_)) => "lterms",
            _ => "sterms",
        },
        "percentiles" | "percentile_ranks" if has_hdr => match kind {
            "percentiles" => "hdr_percentiles",
            _ => "hdr_percentile_ranks",
        },
        "significant_terms" | "significant_text" => match first_key() {
            Some(Value::Number(_)) => "siglterms",
            _ => "sigsterms",
        },
        "rare_terms" => match first_key() {
            Some(Value::Number(_)) => "lrareterms",
            _ => "srareterms",
        },
        "percentiles" => "tdigest_percentiles",
        "percentile_ranks" => "tdigest_percentile_ranks",
        "max_bucket" | "min_bucket" => "bucket_metric_value",
        "avg_bucket" | "sum_bucket" | "cumulative_sum" | "bucket_script" | "serial_diff"
        | "moving_fn" => "simple_value",
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named;

    #[test]
    fn names_have_types_and_results_their_meta() {
        let asked = json!({
            "levels": {"terms": {"field": "l"}, "meta": {"x": 1}, "aggs": {
                "codes": {"terms": {"field": "c"}},
                "far": {"filter": {}, "aggs": {"p": {"percentiles": {"field": "n"}}}},
            }},
            "parts": {"filters": {}, "aggregations": {"m": {"max": {"field": "n"}}}},
        });
        let answer = json!({
            "levels": {"buckets": [{"key": "a", "doc_count": 1, "codes": {"buckets": [{"key": 200}]},
                "far": {"doc_count": 1, "p": {"values": {}}}}]},
            "parts": {"buckets": {"one": {"doc_count": 2, "m": {"value": 1.0}}}},
        });
        let typed = named(&answer.to_string(), &asked, Some(&[])).unwrap();
        let wanted = json!({
            "sterms#levels": {"buckets": [{"key": "a", "doc_count": 1, "lterms#codes": {"buckets": [{"key": 200}]},
                "filter#far": {"doc_count": 1, "tdigest_percentiles#p": {"values": {}}}}], "meta": {"x": 1}},
            "filters#parts": {"buckets": {"one": {"doc_count": 2, "max#m": {"value": 1.0}}}},
        });
        assert_eq!(typed, wanted.to_string());
        let plain = named(&answer.to_string(), &asked, None).unwrap();
        assert!(plain.contains("\"meta\":{\"x\":1}") && !plain.contains('#'));
        assert_eq!(
            named("{}", &json!({"a": {"max": {"field": "n"}}}), None),
            None
        );
    }
}
