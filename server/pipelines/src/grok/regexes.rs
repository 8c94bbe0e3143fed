//! Java's regular expressions, as far as the engine here has them. The steps back of a match are bounded.

use fancy_regex::{Captures, Regex, RegexBuilder};

use crate::error::Failure;
use crate::limits::{MAX_BACKTRACKS, MAX_PATTERN_BYTES};

/// Compiles a regular expression.
///
/// # Errors
/// It is invalid or too long.
pub(crate) fn regex_of(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!(
            "a pattern has more than {MAX_PATTERN_BYTES} bytes, which is the limit"
        ));
    }
    let built = RegexBuilder::new(pattern)
        .backtrack_limit(MAX_BACKTRACKS)
        .build();
    built.map_err(|error| format!("{error} in [{pattern}]"))
}

/// Replaces all matches. In the replacement, `$1` and `${name}` stand for groups, and a backslash takes the meaning from
/// what follows.
///
/// # Errors
/// The match takes too many steps, or there is no such group.
pub(crate) fn replaced(regex: &Regex, text: &str, replacement: &str) -> Result<String, Failure> {
    let mut made = String::with_capacity(text.len());
    let mut from = 0;
    for captures in regex.captures_iter(text) {
        let captures = captures.map_err(|error| Failure::illegal(error.to_string()))?;
        let Some(whole) = captures.get(0) else {
            continue;
        };
        made.push_str(text.get(from..whole.start()).unwrap_or_default());
        from = whole.end();
        write(&captures, replacement, &mut made)?;
    }
    made.push_str(text.get(from..).unwrap_or_default());
    Ok(made)
}

fn write(captures: &Captures<'_>, replacement: &str, made: &mut String) -> Result<(), Failure> {
    let mut chars = replacement.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => made.extend(chars.next()),
            '$' => {
                let mut name = String::new();
                if chars.next_if_eq(&'{').is_some() {
                    while let Some(char) = chars.next_if(|char| *char != '}') {
                        name.push(char);
                    }
                    chars.next();
                } else if let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    name.push(digit);
                }
                let group = match name.parse::<usize>() {
                    Ok(number) if number < captures.len() => captures.get(number),
                    Err(_) if !name.is_empty() => captures.name(&name),
                    _ => return Err(Failure::illegal(format!("No group {name}"))),
                };
                made.push_str(group.map(|group| group.as_str()).unwrap_or_default());
            }
            char => made.push(char),
        }
    }
    Ok(())
}
