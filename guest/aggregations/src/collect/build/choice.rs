//! `include` and `exclude`: selection of the keys that get a bucket.

use super::super::keyed::KeyFilter;
use super::partition::partition_of;
use crate::calendar::{DateFormat, Zone};
use crate::key::Key;
use crate::request::Choice;
use crate::respond::choice_text;
use crate::{Error, Result};

/// Predicate on a key and its text.
type Chooses = Box<dyn Fn(&Key, &str) -> bool>;

/// Combines `include` and `exclude` into one filter.
pub(super) fn key_filter(
    include: Option<&Choice>,
    exclude: Option<&Choice>,
) -> Result<Option<KeyFilter>> {
    let matcher = |choice: Option<&Choice>| -> Result<Option<Chooses>> {
        Ok(match choice {
            None => None,
            Some(Choice::Values(values)) => {
                let time_of = |value: &Key| {
                    let utc = Zone::utc();
                    DateFormat::usual().read(&choice_text(value), &utc, false)
                };
                let times: Vec<i64> = values
                    .iter()
                    .filter_map(|value| time_of(value).ok())
                    .collect();
                let values = values.clone();
                Some(Box::new(move |key, text| {
                    let is_it = |value: &Key| match value {
                        Key::Text(value) => value == text,
                        value => value == key,
                    };
                    match key {
                        // In any notation: answers write dates in several.
                        Key::Date(time_ns) => times.contains(time_ns),
                        _ => values.iter().any(is_it),
                    }
                }))
            }
            Some(Choice::Partition {
                partition,
                num_partitions,
            }) => {
                let (partition, num_partitions) = (*partition, *num_partitions);
                Some(Box::new(move |key, text| {
                    partition_of(key, text, num_partitions) == partition
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

/// Returns whether a regular expression matches a whole text.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Number;

    fn check(values: &[Key], key: &Key, expect: bool) {
        let choice = Choice::Values(values.to_vec());
        let included = key_filter(Some(&choice), None).unwrap().unwrap();
        assert_eq!(included(key), expect, "{values:?} {key:?}");
        let left = key_filter(None, Some(&choice)).unwrap().unwrap();
        assert_eq!(left(key), !expect, "{values:?} {key:?}");
    }

    #[test]
    fn a_date_is_chosen_however_it_is_written() {
        let text = |text: &str| Key::Text(text.to_owned());
        let date = Key::Date(1_460_505_600_000_000_000);
        for written in [
            text("2016-04-13T00:00:00Z"),
            // As `key_as_string` in Elasticsearch's API.
            text("2016-04-13T00:00:00.000Z"),
            text("2016-04-13"),
            text("1460505600000"),
            Key::Number(Number::Integer(1_460_505_600_000)),
        ] {
            check(&[text("x"), written.clone()], &date, true);
            check(
                std::slice::from_ref(&written),
                &Key::Date(1_460_505_600_001_000_000),
                false,
            );
        }
        check(&[text("x"), text("2016-04-14")], &date, false);
        // A text that looks like a date is still a text.
        let key = text("2016-04-13");
        check(std::slice::from_ref(&key), &key, true);
        check(&[text("2016-04-13T00:00:00Z")], &key, false);
    }

    #[test]
    fn other_values_are_those_that_are_listed() {
        let number = |number: i128| Key::Number(Number::Integer(number));
        check(&[number(7)], &number(7), true);
        check(&[number(7)], &number(8), false);
        check(&[Key::Text("true".to_owned())], &Key::Bool(true), true);
        check(
            &[Key::Text("10.0.0.1".to_owned())],
            &Key::Address(0xffff_0a00_0001),
            true,
        );
    }
}
