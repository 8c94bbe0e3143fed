//! `filter_path`: selects parts of an answer. Shippers request only errors, to read less.
//! <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/common-options#common-options-response-filtering>

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::pattern::matches_pattern;

/// Maximum number of paths, and of names in one path.
const MAX_PATHS: usize = 64;

/// Selection of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterPath {
    wanted: Vec<Vec<String>>,
    unwanted: Vec<Vec<String>>,
}

impl FilterPath {
    /// Parses a list such as `took,items.*.error,-items.*._id`: names may contain `*`, and `**`
    /// stands for any number of names.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        for path in text
            .split(',')
            .map(str::trim)
            .filter(|path| !path.is_empty())
        {
            let (list, path) = match path.strip_prefix('-') {
                Some(path) => (&mut filter.unwanted, path),
                None => (&mut filter.wanted, path),
            };
            let names: Vec<String> = path.split('.').map(str::to_owned).collect();
            if names.len() > MAX_PATHS || list.len() == MAX_PATHS {
                return Err(format!(
                    "[filter_path] may have {MAX_PATHS} paths of so many names"
                ));
            }
            list.push(names);
        }
        Ok(filter)
    }

    /// Filters an answer in JSON.
    pub fn apply_to_text(&self, json: &str) -> String {
        match serde_json::from_str(json) {
            Ok(answer) => self.apply(answer).to_string(),
            Err(_) => json.to_owned(),
        }
    }

    /// Filters an answer.
    pub fn apply(&self, answer: Value) -> Value {
        let wanted = match self.wanted.is_empty() {
            true => Some(answer),
            false => keep(answer, &tails(&self.wanted)),
        };
        let kept = match self.unwanted.is_empty() {
            true => wanted,
            false => wanted.and_then(|answer| drop_from(answer, &tails(&self.unwanted))),
        };
        kept.unwrap_or_else(|| Value::Object(Map::new()))
    }
}

type Tail<'p> = &'p [String];

fn tails(paths: &[Vec<String>]) -> Vec<Tail<'_>> {
    paths.iter().map(Vec::as_slice).collect()
}

/// Returns the rests of these paths after a name, and whether one of the paths ends with it.
fn behind<'p>(paths: &[Tail<'p>], name: &str) -> (Vec<Tail<'p>>, bool) {
    let (mut rest, mut ends) = (Vec::new(), false);
    let mut waiting: Vec<Tail<'p>> = paths.to_vec();
    while let Some(path) = waiting.pop() {
        let Some((first, tail)) = path.split_first() else {
            continue;
        };
        if first == "**" {
            rest.push(path);
            match tail.is_empty() {
                true => ends = true,
                // `**` may match no name at all.
                false => waiting.push(tail),
            }
        } else if matches_pattern(first, name) {
            match tail.is_empty() {
                true => ends = true,
                false => rest.push(tail),
            }
        }
    }
    (rest, ends)
}

fn keep(value: Value, paths: &[Tail<'_>]) -> Option<Value> {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter_map(|(name, value)| {
                let (rest, ends) = behind(paths, &name);
                let value = if ends {
                    Some(value)
                } else {
                    keep(value, &rest)
                };
                Some((name, value?))
            });
            let kept: Map<String, Value> = kept.collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(values) => {
            let kept: Vec<Value> = values
                .into_iter()
                .filter_map(|value| keep(value, paths))
                .collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        _ => None,
    }
}

fn drop_from(value: Value, paths: &[Tail<'_>]) -> Option<Value> {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter_map(|(name, value)| {
                let (rest, ends) = behind(paths, &name);
                match ends {
                    true => None,
                    false => Some((name, drop_from(value, &rest)?)),
                }
            });
            let kept: Map<String, Value> = kept.collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(values) => Some(
            values
                .into_iter()
                .filter_map(|value| drop_from(value, paths))
                .collect(),
        ),
        value => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_wanted_is_left() {
        let answer = json!({"took": 1, "errors": true, "items": [
            {"index": {"_id": "a", "status": 201}},
            {"create": {"_id": "b", "status": 400, "error": {"type": "t", "reason": "r"}}},
        ]});
        for (paths, wanted) in [
            ("took", json!({"took": 1})),
            ("took,errors", json!({"took": 1, "errors": true})),
            (
                "items.*.error",
                json!({"items": [{"create": {"error": {"type": "t", "reason": "r"}}}]}),
            ),
            (
                "items.*.error.type,took",
                json!({"took": 1, "items": [{"create": {"error": {"type": "t"}}}]}),
            ),
            (
                "**.reason",
                json!({"items": [{"create": {"error": {"reason": "r"}}}]}),
            ),
            (
                "items.*.st*s",
                json!({"items": [{"index": {"status": 201}}, {"create": {"status": 400}}]}),
            ),
            ("nothing", json!({})),
            ("-items", json!({"took": 1, "errors": true})),
            (
                "items,-items.*.error",
                json!({"items": [
                {"index": {"_id": "a", "status": 201}}, {"create": {"_id": "b", "status": 400}}]}),
            ),
        ] {
            assert_eq!(
                FilterPath::parse(paths).unwrap().apply(answer.clone()),
                wanted,
                "{paths}"
            );
        }
    }
}
