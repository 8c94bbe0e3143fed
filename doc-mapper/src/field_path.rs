//! Paths of fields: segments joined by `.`, where a dot inside a name is written `\.`.

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
