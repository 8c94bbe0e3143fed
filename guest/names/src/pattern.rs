//! Names in which `*` stands for any text.

/// Whether `name` is `pattern`, in which each `*` stands for any text.
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

/// Whether one of `patterns` is that of `name`.
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
