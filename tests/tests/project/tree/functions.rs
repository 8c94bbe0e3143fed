//! Lengths of functions.

use std::collections::BTreeMap;

use super::exceptions::{FUNCTIONS, check};
use super::source::{code_of, crates, sources};

/// Maximum number of lines of a function, from its name to its last brace.
pub(super) const MAX_LINES: usize = 70;

#[test]
fn functions_have_at_most_seventy_lines() {
    let mut found = BTreeMap::new();
    for source in crates()
        .iter()
        .flat_map(|crate_folder| sources(crate_folder))
    {
        for (name, num_lines) in functions(&source.code) {
            if num_lines > MAX_LINES {
                found.insert(format!("{}::{name}", source.path), num_lines);
            }
        }
    }
    check("lines of functions", &found, FUNCTIONS);
}

/// Returns the names of functions with a body, and their numbers of lines.
fn functions(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + 3..];
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let name: String = rest.chars().take_while(|c| is_of_name(*c)).collect();
        let Some(body) = body_end(rest).filter(|_| !name.is_empty()) else {
            continue;
        };
        found.push((name, rest[..body].lines().count()));
    }
    found
}

/// Returns the end of a function's body. There is none if a semicolon outside of brackets comes before a brace.
fn body_end(rest: &str) -> Option<usize> {
    let (mut depth, mut brackets) = (0_usize, 0_usize);
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' if depth == 0 => brackets += 1,
            ')' | ']' if depth == 0 => brackets = brackets.saturating_sub(1),
            ';' if depth == 0 && brackets == 0 => return None,
            '{' if brackets == 0 => depth += 1,
            '}' if brackets == 0 => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn lines_are_counted_from_the_name_to_the_last_brace() {
    let code = code_of(
        "trait T { fn a(&self, x: [u8; 2]); }\nfn b<T>() -> u8\nwhere T: X {\n  if x { 1 } // }\n}\nfn c() {}",
    );
    let expected = [("b", 4), ("c", 1)].map(|(name, len)| (name.to_owned(), len));
    assert_eq!(functions(&code), expected);
}
