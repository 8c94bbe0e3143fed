//! The name of an index among several.

use canter_runtime::observe::redact_urls;

/// Parses `NAME=URI`, or a URI that ends in the name.
pub(crate) fn parse_index(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty() && name.chars().all(is_good)
    };
    if let Some((name, uri)) = text.split_once('=').filter(|(name, _)| is_name(name)) {
        return match uri.is_empty() {
            true => Err(format!("{name:?} has no URI")),
            false => Ok((name.to_owned(), uri.to_owned())),
        };
    }
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next();
    let last = last.unwrap_or_default();
    match is_name(last) && last != "." && last != ".." {
        true => Ok((last.to_owned(), text.to_owned())),
        false => Err(format!(
            "{last:?} cannot be a name; put one in front, such as logs={}",
            redact_urls(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_a_name_of_its_own_or_its_uris_last_part() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            let parsed = parse_index(text).ok();
            let parsed = parsed
                .as_ref()
                .map(|(name, uri)| (name.as_str(), uri.as_str()));
            assert_eq!(parsed, expect, "{text}");
        };
        check("./logs", Some(("logs", "./logs")));
        check("s3://b/x/logs/", Some(("logs", "s3://b/x/logs/")));
        check("logs=s3://b/2026", Some(("logs", "s3://b/2026")));
        check("https://h/a?sig=b", Some(("a", "https://h/a?sig=b")));
        check("l=https://h/a?sig=b", Some(("l", "https://h/a?sig=b")));
        check("logs=", None);
        check("..", None);
        check("./my logs", None);
        check("mine=./my logs", Some(("mine", "./my logs")));
    }
}
