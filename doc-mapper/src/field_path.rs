//! Paths of fields: segments joined by `.`, where a dot inside a name is written `\.`.

use tantivy::schema::Value;
use tantivy::schema::document::ReferenceValue;

/// Splits a path at its dots; `\` escapes the next character.
///
/// `k8s.node\.id` has the segments `k8s` and `node.id`. A trailing `\` stands for itself.
pub fn split_path(path: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut current = String::new();
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => current.push(chars.next().unwrap_or('\\')),
            '.' => segments.push(std::mem::take(&mut current)),
            other => current.push(other),
        }
    }
    segments.push(current);
    segments
}

/// Escapes a segment, so that [`split_path`] reads it as one.
pub fn escape_segment(segment: &str) -> String {
    let mut escaped = String::with_capacity(segment.len());
    for c in segment.chars() {
        if matches!(c, '.' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Joins segments into a path.
pub(crate) fn join_path<S: AsRef<str>>(segments: &[S]) -> String {
    let escaped: Vec<String> = segments
        .iter()
        .map(|s| escape_segment(s.as_ref()))
        .collect();
    escaped.join(".")
}

/// Returns the total length of the paths of all scalars of a value: the keys on the way to each.
pub(crate) fn num_path_bytes<'v, V: Value<'v>>(value: V) -> u64 {
    fn below<'v, V: Value<'v>>(value: V, path_num_bytes: u64) -> u64 {
        let sum = |sum: u64, below: u64| sum.saturating_add(below);
        match value.as_value() {
            ReferenceValue::Leaf(_) => path_num_bytes,
            ReferenceValue::Array(items) => {
                items.map(|item| below(item, path_num_bytes)).fold(0, sum)
            }
            ReferenceValue::Object(entries) => entries
                .map(|(key, item)| below(item, path_num_bytes + key.len() as u64 + 1))
                .fold(0, sum),
        }
    }
    below(value, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_splits_and_joins_back() {
        let check = |path: &str, segments: &[&str]| {
            assert_eq!(split_path(path), segments, "{path}");
            assert_eq!(join_path(segments), path);
        };
        check("body", &["body"]);
        check("resource.service", &["resource", "service"]);
        check(r"k8s\.node.id", &["k8s.node", "id"]);
        check(r"a\\b", &[r"a\b"]);
        assert_eq!(split_path(r"a\"), [r"a\"]);
    }
}
