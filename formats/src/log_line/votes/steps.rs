//! Which parts follow the time in most of a sample's records.
//!
//! Part by part: what do most records have here? The head ends where they do not agree, or where only words would
//! follow: those are the message. So words count only if something that no sentence has follows them.

use std::collections::BTreeMap;

use super::decide::{Before, Weight, decide};
use crate::log_line::element::{Class, Element, class, element};
use crate::log_line::known::lambda;
use crate::log_line::naming::{self, Values};
use crate::log_line::step::{
    Found, Meaning, Shape, Step, end_of, is_level_at, php_level, take, verbosity,
};

/// More parts have no head.
const MAX_STEPS: usize = 12;

/// A part that most records have.
struct Voted {
    shape: Shape,
    weight: Weight,
    /// What its class is in most records.
    class: Class,
    /// Whether a `|` follows it in most records.
    is_barred: bool,
    values: Values,
}

/// The steps that most records have from these places on; `has_level` is true if their level stands before them.
pub(in crate::log_line) fn steps(records: &[(&[u8], usize)], has_level: bool) -> Vec<Step> {
    if let Some(steps) = behind_verbosity(records) {
        return steps;
    }
    let mut rest: Vec<(&[u8], usize)> = records.to_vec();
    let mut voted: Vec<Voted> = Vec::new();
    while voted.len() < MAX_STEPS
        && let Some(next) = vote(&rest, &voted, has_level)
    {
        let step = Step {
            shape: next.shape,
            meaning: Meaning::Nothing,
        };
        let is_last = has_level && close(&rest);
        for (text, place) in &mut rest {
            if let Some(after) = take(step, text, *place, &mut Found::default()) {
                *place = after;
            }
        }
        voted.push(next);
        if is_last {
            break;
        }
    }
    let named: Vec<(Shape, Class, &Values)> = voted
        .iter()
        .map(|part| (part.shape, part.class, &part.values))
        .collect();
    let mut num_kept = num_kept(&voted, &naming::meanings(&named));
    loop {
        // Once more: what is of messages names nothing.
        let meanings = naming::meanings(named.get(..num_kept).unwrap_or_default());
        let parts = voted.iter().zip(meanings).take(num_kept);
        let steps: Vec<Step> = parts
            .map(|(part, meaning)| Step {
                shape: part.shape,
                meaning,
            })
            .collect();
        if steps.is_empty() {
            return steps;
        }
        let num_fewer = match take_most(&steps, records) {
            true => num_before_words(&steps).or_else(|| first_told(&steps, records.len())),
            false => None,
        };
        num_kept = match num_fewer {
            Some(num_fewer) => num_fewer,
            None if take_all(&steps, records) => num_without_last(&steps),
            None => return steps,
        };
    }
}

/// Returns whether the next part of most records closes a bracket that was opened before: `[I 240501 10:00:00 web:22] text`.
fn close(rest: &[(&[u8], usize)]) -> bool {
    let closes = |(text, place): &&(&[u8], usize)| {
        let opens = matches!(text.get(..3), Some([b'[', b'A'..=b'Z', b' ']));
        let next = element(text, *place).filter(|_| opens);
        next.is_some_and(|next| next.open.is_none() && next.tail == Some(b']'))
    };
    rest.iter().filter(closes).count() * 2 > rest.len()
}

/// Returns the number of steps without the last one and the words before it, which nothing follows then.
fn num_without_last(steps: &[Step]) -> usize {
    let (_, before) = steps.split_last().unzip();
    let before: &[Step] = before.unwrap_or_default();
    let words = before.iter().rev().take_while(|step| is_bare_word(step));
    before.len() - words.count()
}

fn is_bare_word(step: &Step) -> bool {
    step.shape == Shape::Word && step.meaning == Meaning::Nothing
}

/// Returns the number of steps before the words that the last step stands behind: `… server [-] served 7 status: 200`.
fn num_before_words(steps: &[Step]) -> Option<usize> {
    let (last, before) = steps.split_last()?;
    let words = before.iter().rev().take_while(|step| is_bare_word(step));
    let num_words = words.count();
    let has_level = before.iter().any(|step| step.shape == Shape::Level);
    let is_near = match last.shape {
        Shape::Tag | Shape::Number | Shape::Word | Shape::Mark => true,
        shape => shape == Shape::Level && has_level,
    };
    (is_near && num_words > 0).then_some(before.len() - num_words)
}

/// Returns the place of the first step over words that nothing is known of. Messages of few records may all be short.
fn first_told(steps: &[Step], num_records: usize) -> Option<usize> {
    let is_word = |step: &Step| matches!(step.shape, Shape::Word | Shape::Number);
    let is_told = |step: &Step| step.meaning == Meaning::Nothing && is_word(step);
    steps.iter().position(is_told).filter(|_| num_records >= 8)
}

/// Returns whether steps leave no more than a word or an object of most records: what they take is what is told.
fn take_most(steps: &[Step], records: &[(&[u8], usize)]) -> bool {
    let is_most = |(text, place): &&(&[u8], usize)| {
        let rest = text.get(end_of(steps, text, *place)..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        line.starts_with(b"{") || !line.trim_ascii().contains(&b' ')
    };
    records.iter().filter(is_most).count() * 10 > records.len() * 4
}

/// The steps behind Samba's debug level, if it is what follows the time in its bracket.
fn behind_verbosity(records: &[(&[u8], usize)]) -> Option<Vec<Step>> {
    let is_behind_time = |(text, place): &&(&[u8], usize)| {
        let before = text.get(..*place).unwrap_or_default().trim_ascii_end();
        text.first() == Some(&b'[') && before.ends_with(b",")
    };
    let behind = |record: &(&[u8], usize)| verbosity(record.0, record.1);
    let rest = records.iter().filter(is_behind_time);
    let rest = rest.filter_map(|record| Some((record.0, behind(record)?.next)));
    let rest: Vec<(&[u8], usize)> = rest.collect();
    (!rest.is_empty() && rest.len() * 10 >= records.len() * 9).then_some(())?;
    let first = Step {
        shape: Shape::Verbosity,
        meaning: Meaning::Level,
    };
    Some([vec![first], steps(&rest, true)].concat())
}

/// Whether steps leave nothing of most records, so that they are no head.
fn take_all(steps: &[Step], records: &[(&[u8], usize)]) -> bool {
    let is_all = |(text, place): &&(&[u8], usize)| end_of(steps, text, *place) >= text.len();
    records.iter().filter(is_all).count() * 2 > records.len()
}

/// How many of the parts are of the head.
fn num_kept(voted: &[Voted], meanings: &[Meaning]) -> usize {
    let (mut num_kept, mut num_words, mut num_bare) = (0, 0, 0);
    let mut has_pairs = false;
    for (place, (part, meaning)) in voted.iter().zip(meanings).enumerate() {
        let is_unknown = part.shape == Shape::Group && *meaning == Meaning::Nothing;
        has_pairs |= part.shape == Shape::Word && part.values.are(60, is_pair);
        let is_kept = match part.weight {
            // `H=mail.example.com [10.0.0.1]:25`: behind a pair, only a level is of the head.
            _ if has_pairs && !matches!(part.shape, Shape::Level | Shape::Letter) => false,
            // `client @0x7f 10.0.0.1#5 (example.com): query: example.com IN A`: words, and a group and a letter among them.
            Weight::Head
                if matches!(part.shape, Shape::Group | Shape::Letter)
                    && num_bare >= 3
                    && !is_behind_column(voted, place) =>
            {
                false
            }
            Weight::Head => !is_unknown,
            Weight::Near if num_words == 0 => true,
            Weight::Near => num_words <= 2 && !is_of_sentence(voted, place, num_kept),
            Weight::Word => false,
        };
        match is_kept {
            true => {
                num_kept = place + 1;
                (num_words, num_bare) = (0, 0);
            }
            false => {
                num_words += 1;
                num_bare += usize::from(part.shape != Shape::Group);
            }
        }
    }
    num_kept
}

/// Returns whether what stands before a letter ends as columns do: `1000-2000 Tag      com.example.app      I  text`, as
/// Android Studio shows its log.
fn is_behind_column(voted: &[Voted], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| voted.get(before));
    let is_letter = voted
        .get(place)
        .is_some_and(|part| part.shape == Shape::Letter);
    is_letter && before.is_some_and(|before| before.class == Class::Column)
}

/// Returns whether a word is a key and its value: `H=mail.example.com`.
fn is_pair(word: &[u8]) -> bool {
    let sign = memchr::memchr(b'=', word).filter(|sign| *sign > 0 && sign + 1 < word.len());
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    sign.is_some_and(|sign| word.iter().take(sign).all(is_key))
}

/// Whether a part behind words ends a sentence: a word before a gap, a second one with a colon, or the last word of
/// several between bars.
fn is_of_sentence(voted: &[Voted], place: usize, num_kept: usize) -> bool {
    let Some(part) = voted.get(place) else {
        return false;
    };
    let is_name = |part: &Voted| matches!(part.class, Class::Tag | Class::Dotted);
    match part.class {
        // `|failed for 7|System.Exception: text`.
        Class::Column | Class::Number if part.is_barred => {
            let mut between = voted.get(num_kept..place).unwrap_or_default().iter();
            voted.iter().take(num_kept).any(|kept| kept.is_barred)
                && between.any(|word| !word.is_barred && word.shape != Shape::Group)
        }
        Class::Column => true,
        Class::Tag => voted.iter().take(num_kept).any(is_name),
        _ => false,
    }
}

fn vote(records: &[(&[u8], usize)], voted: &[Voted], has_level: bool) -> Option<Voted> {
    let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
    let (mut elements, mut num, mut num_php) = (Vec::new(), 0, 0);
    for (text, place) in records {
        // A head ends with its line, but for a level.
        let is_behind = memchr::memchr(b'\n', text).is_some_and(|end| end < *place);
        if *place >= text.len()
            || (is_behind && !is_level_at(text, *place))
            || lambda::is_invocation(text, *place)
        {
            continue;
        }
        num += 1;
        num_php += usize::from(php_level(text, *place).is_some());
        let found = element(text, *place);
        if let Some((class, element)) = found.and_then(|e| Some((class(text, &e)?, e))) {
            *counts.entry(class).or_default() += 1;
            elements.push((*text, element, class));
        }
    }
    // What only few have is of their messages.
    if num == 0 || num * 2 < records.len() {
        return None;
    }
    if num_php * 2 >= num {
        return Some(Voted {
            shape: Shape::PhpLevel,
            weight: Weight::Head,
            class: Class::Level,
            is_barred: false,
            values: Values::default(),
        });
    }
    let is_level = |part: &Voted| matches!(part.class, Class::Level | Class::Letter);
    let before = Before {
        has_level: has_level || voted.iter().any(is_level),
        is_empty: voted.is_empty(),
        has_word: voted.iter().any(|part| part.shape == Shape::Word),
        num_needed: match voted.last() {
            // Shorter records have none behind their words.
            Some(part) if part.shape == Shape::Word => records.len(),
            _ => num,
        },
    };
    let (shape, weight, class) = decide(&counts, num, &elements, before)?;
    let is_of = |element: &Element, found: Class| match shape {
        Shape::Group => element.open.is_some(),
        Shape::Word => element.open.is_none() && found != Class::Mark,
        Shape::User => element.open.is_none() && !matches!(found, Class::Mark | Class::Level),
        _ => found == class,
    };
    let values = elements.iter().filter(|(_, e, c)| is_of(e, *c));
    let values = values.filter_map(|(text, e, _)| text.get(e.inside.clone()).map(<[u8]>::to_vec));
    let has_bar = |(text, e, _): &&(&[u8], Element, Class)| {
        let gap = text.get(e.inside.end..e.next).unwrap_or_default();
        gap.contains(&b'|')
    };
    let num_barred = elements.iter().filter(has_bar).count();
    Some(Voted {
        shape,
        weight,
        class,
        is_barred: num_barred * 2 > elements.len(),
        values: Values(values.collect()),
    })
}
