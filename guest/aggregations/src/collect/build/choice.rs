//! `include` and `exclude`: which keys have a bucket.

use super::super::keyed::KeyFilter;
use crate::key::Key;
use crate::request::Choice;
use crate::respond::choice_text;
use crate::{Error, Result};

/// Whether a choice has a key, which comes with its text.
type Chooses = Box<dyn Fn(&Key, &str) -> bool>;

/// What `include` and `exclude` leave.
pub(super) fn key_filter(
    include: Option<&Choice>,
    exclude: Option<&Choice>,
) -> Result<Option<KeyFilter>> {
    let matcher = |choice: Option<&Choice>| -> Result<Option<Chooses>> {
        Ok(match choice {
            None => None,
            Some(Choice::Values(values)) => {
                let values = values.clone();
                Some(Box::new(move |key, text| {
                    let is_it = |value: &Key| match value {
                        Key::Text(value) => value == text,
                        value => value == key,
                    };
                    values.iter().any(is_it)
                }))
            }
            Some(Choice::Pattern(pattern)) => {
                let regex =
                    tantivy_fst::Regex::new(&format!("(?s:{pattern})")).map_err(|error| {
                        Error::Invalid(format!("the pattern {pattern:?} is none: {error}"))
                    })?;
                Some(Box::new(move |_, text| is_match(&regex, text)))
            }
        })
    };
    let (include, exclude) = (matcher(include)?, matcher(exclude)?);
    if include.is_none() && exclude.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(move |key| {
        let text = choice_text(key);
        include.as_ref().is_none_or(|include| include(key, &text))
            && !exclude.as_ref().is_some_and(|exclude| exclude(key, &text))
    })))
}

/// Whether an expression matches the whole of a text.
fn is_match(regex: &tantivy_fst::Regex, text: &str) -> bool {
    use tantivy_fst::Automaton;
    let mut state = regex.start();
    for byte in text.bytes() {
        if !regex.can_match(&state) {
            return false;
        }
        state = regex.accept(&state, byte);
    }
    regex.is_match(&state)
}
