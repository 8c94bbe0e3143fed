//! Java's regular expressions of tokenizers, as the index has them: there, `\w` and its like are of ASCII.

/// Classes with a letter, and their characters.
const CLASSES: [(char, &str); 3] = [
    ('w', "0-9A-Za-z_"),
    ('d', "0-9"),
    ('s', " \\t\\n\\x0B\\x0C\\r"),
];

fn class_of(letter: char) -> Option<&'static str> {
    let found = CLASSES.iter().find(|(own, _)| *own == letter);
    found.map(|(_, characters)| *characters)
}

/// Returns the pattern of what stands between the matches of a character or class of characters; `None` for other
/// patterns.
pub(super) fn words_between(pattern: &str) -> Option<String> {
    let one = pattern
        .strip_suffix('+')
        .filter(|rest| !rest.ends_with('\\'));
    let one = one.unwrap_or(pattern);
    let mut characters = one.chars();
    let first = characters.next()?;
    if let Some(inner) = one.strip_prefix('[') {
        let inner = inner.strip_suffix(']')?;
        let (sign, inner) = match inner.strip_prefix('^') {
            Some(inner) => ("", inner),
            None => ("^", inner),
        };
        return Some(format!("[{sign}{}]+", inside(inner)?));
    }
    if first == '\\' {
        let escaped = characters.next()?;
        if characters.next().is_some() {
            return None;
        }
        return match (class_of(escaped), class_of(escaped.to_ascii_lowercase())) {
            (Some(class), _) => Some(format!("[^{class}]+")),
            (None, Some(class)) => Some(format!("[{class}]+")),
            (None, None) if escaped.is_ascii_alphanumeric() => match escaped {
                't' | 'n' | 'r' => Some(format!("[^\\{escaped}]+")),
                _ => None,
            },
            (None, None) => Some(format!("[^{}]+", self::escaped(escaped))),
        };
    }
    let is_operator = "()[]{}.*+?^$|".contains(first);
    match characters.next() {
        None if !is_operator => Some(format!("[^{}]+", escaped(first))),
        _ => None,
    }
}

/// Returns the pattern of what stands between characters, or kinds of characters; `None` if one is neither.
pub(super) fn words_between_chars(characters: &[String]) -> Option<String> {
    let classes = characters.iter().map(|given| {
        Some(match given.as_str() {
            "whitespace" => "\\s".to_owned(),
            "letter" => "\\p{L}".to_owned(),
            "digit" => "\\p{Nd}".to_owned(),
            "punctuation" => "\\p{P}".to_owned(),
            "symbol" => "\\p{S}".to_owned(),
            "\\n" => "\\n".to_owned(),
            "\\t" => "\\t".to_owned(),
            one => {
                let mut characters = one.chars();
                let first = characters.next()?;
                characters.next().is_none().then(|| escaped(first))?
            }
        })
    });
    let classes: String = classes.collect::<Option<_>>()?;
    (!classes.is_empty()).then(|| format!("[^{classes}]+"))
}

/// Returns a character as it stands in a class.
fn escaped(character: char) -> String {
    match "\\^-[]&~".contains(character) {
        true => format!("\\{character}"),
        false => character.to_string(),
    }
}

/// Returns the inner part of a class of characters.
fn inside(inner: &str) -> Option<String> {
    let mut written = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '[' | ']' | '&' => return None,
            '\\' => {
                let next = characters.next()?;
                match class_of(next) {
                    Some(class) => written.push_str(class),
                    None if next.is_ascii_alphanumeric() && !"tnr".contains(next) => return None,
                    None if next.is_ascii_alphanumeric() => written.extend(['\\', next]),
                    None => written.push_str(&escaped(next)),
                }
            }
            other => written.push(other),
        }
    }
    (!written.is_empty()).then_some(written)
}

/// Java's classes of ASCII, and their characters.
const POSIX: [(&str, &str); 7] = [
    ("{Lower}", "a-z"),
    ("{Upper}", "A-Z"),
    ("{Alpha}", "a-zA-Z"),
    ("{Digit}", "0-9"),
    ("{Alnum}", "a-zA-Z0-9"),
    ("{Punct}", "!-/:-@\\[-`{-~"),
    ("{Space}", " \\t\\n\\x0B\\x0C\\r"),
];

/// Returns the characters of a class of Java whose name begins a text, and the rest of the text.
fn posix(text: &str) -> Option<(&'static str, &str)> {
    POSIX
        .iter()
        .find_map(|(name, class)| Some((*class, text.strip_prefix(name)?)))
}

/// Returns a pattern with classes of ASCII; `None` for one with a class that cannot be written so.
pub(super) fn ascii_pattern(pattern: &str) -> Option<String> {
    let mut written = String::new();
    let mut characters = pattern.chars();
    let mut is_in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                let next = characters.next()?;
                if next == 'p'
                    && let Some((class, rest)) = posix(characters.as_str())
                {
                    characters = rest.chars();
                    match is_in_class {
                        true => written.push_str(class),
                        false => written.push_str(&format!("[{class}]")),
                    }
                    continue;
                }
                let lower = next.to_ascii_lowercase();
                match (class_of(next), class_of(lower)) {
                    (Some(class), _) if is_in_class => written.push_str(class),
                    (Some(class), _) => written.push_str(&format!("[{class}]")),
                    (None, Some(_)) if is_in_class => return None,
                    (None, Some(class)) => written.push_str(&format!("[^{class}]")),
                    (None, None) => written.extend(['\\', next]),
                }
            }
            other => {
                is_in_class = match other {
                    '[' => true,
                    ']' => false,
                    _ => is_in_class,
                };
                written.push(other);
            }
        }
    }
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_become_the_words_between_them() {
        let check = |pattern: &str, expect: Option<&str>| {
            assert_eq!(words_between(pattern).as_deref(), expect, "{pattern}");
        };
        check(",", Some("[^,]+"));
        check("\\W+", Some("[0-9A-Za-z_]+"));
        check("\\s", Some("[^ \\t\\n\\x0B\\x0C\\r]+"));
        check("\\|", Some("[^|]+"));
        check("\\-", Some("[^\\-]+"));
        check("[<\\-]", Some("[^<\\-]+"));
        check("\\+", Some("[^+]+"));
        check("[,;\\s]+", Some("[^,; \\t\\n\\x0B\\x0C\\r]+"));
        check("[^a-z]", Some("[a-z]+"));
        for other in [
            "", ", ", ".", "a|b", "(?<=x)", "[a[b]]", "\\b", "x*", "[a&&b]",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn classes_of_words_are_those_of_ascii() {
        assert_eq!(
            ascii_pattern("\\w+@[\\w.]+").unwrap(),
            "[0-9A-Za-z_]+@[0-9A-Za-z_.]+"
        );
        assert_eq!(
            ascii_pattern("\\p{Lower}+[\\p{Upper}x]").unwrap(),
            "[a-z]+[A-Zx]"
        );
        let between = |characters: &[&str]| {
            let characters: Vec<String> = characters.iter().map(|one| (*one).to_owned()).collect();
            words_between_chars(&characters)
        };
        assert_eq!(between(&["whitespace", "-", "\n"]).unwrap(), "[^\\s\\-\n]+");
        assert_eq!(between(&["ab"]), None);
        assert_eq!(ascii_pattern("[\\W]"), None);
    }
}
