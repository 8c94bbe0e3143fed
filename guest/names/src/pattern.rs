//! Name patterns in which `*` matches any text.

/// Returns whether `pattern`, in which each `*` matches any text, matches `name`.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match name.split_once(part) {
            Some((_, after)) => name = after,
            None => return false,
        }
    }
    name.ends_with(end)
}

/// Returns whether one of `patterns` matches `name`.
pub fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| matches_pattern(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expect) in [
            ("logs", "logs", true),
            ("logs", "logs-2", false),
            ("*", "", true),
            ("logs-*", "logs-2", true),
            ("logs-*", "log", false),
            ("*-eu-*", "logs-eu-2", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*a", "aba", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), expect, "{pattern} {name}");
        }
    }
}
