//! Which parts follow the time in most of a sample's records.
//!
//! Part by part: what do most records have here? The head ends where they do not agree, or where only words would
//! follow: those are the message. So words count only if something that no sentence has follows them.

use std::collections::BTreeMap;

use super::element::{Class, Element, after_space, class, element, quoted};
use super::known::lambda;
use super::naming::{self, Values};
use super::step::{Found, Meaning, Shape, Step, php_level, take};

/// More parts have no head.
const MAX_STEPS: usize = 12;

/// How sure it is that a part belongs to the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It belongs there, with all before it.
    Head,
    /// It does if it is no more than two words behind what does.
    Near,
    /// Only what follows can say.
    Word,
}

/// A part that most records have.
struct Voted {
    shape: Shape,
    weight: Weight,
    /// What its class is in most records.
    class: Class,
    values: Values,
}

/// The steps that most records have from these places on.
pub(super) fn steps(records: &[(&[u8], usize)]) -> Vec<Step> {
    let mut rest: Vec<(&[u8], usize)> = records.to_vec();
    let mut voted: Vec<Voted> = Vec::new();
    while voted.len() < MAX_STEPS
        && let Some(next) = vote(&rest)
    {
        let step = Step {
            shape: next.shape,
            meaning: Meaning::Nothing,
        };
        for (text, place) in &mut rest {
            if let Some(after) = take(step, text, *place, &mut Found::default()) {
                *place = after;
            }
        }
        voted.push(next);
    }
    let named: Vec<(Shape, Class, &Values)> = voted
        .iter()
        .map(|part| (part.shape, part.class, &part.values))
        .collect();
    let num_kept = num_kept(&voted, &naming::meanings(&named));
    // Once more: what is of messages names nothing.
    let meanings = naming::meanings(named.get(..num_kept).unwrap_or_default());
    let parts = voted.iter().zip(meanings).take(num_kept);
    parts
        .map(|(part, meaning)| Step {
            shape: part.shape,
            meaning,
        })
        .collect()
}

/// How many of the parts are of the head.
fn num_kept(voted: &[Voted], meanings: &[Meaning]) -> usize {
    let (mut num_kept, mut num_words) = (0, 0);
    for (place, (part, meaning)) in voted.iter().zip(meanings).enumerate() {
        let is_unknown = part.shape == Shape::Group && *meaning == Meaning::Nothing;
        let is_kept = match part.weight {
            Weight::Head => !is_unknown,
            Weight::Near => num_words <= 2,
            Weight::Word => false,
        };
        match is_kept {
            true => {
                num_kept = place + 1;
                num_words = 0;
            }
            false => num_words += 1,
        }
    }
    num_kept
}

fn vote(records: &[(&[u8], usize)]) -> Option<Voted> {
    let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
    let (mut elements, mut num, mut num_php) = (Vec::new(), 0, 0);
    for (text, place) in records {
        if *place >= text.len() || lambda::is_invocation(text, *place) {
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
            values: Values::default(),
        });
    }
    let (shape, weight, class) = decide(&counts, num, &elements)?;
    let is_of = |element: &Element, found: Class| match shape {
        Shape::Group => element.open.is_some(),
        Shape::Word => element.open.is_none() && found != Class::Mark,
        _ => found == class,
    };
    let values = elements.iter().filter(|(_, e, c)| is_of(e, *c));
    let values = values.filter_map(|(text, e, _)| text.get(e.inside.clone()).map(<[u8]>::to_vec));
    Some(Voted {
        shape,
        weight,
        class,
        values: Values(values.collect()),
    })
}

type Elements<'r> = [(&'r [u8], Element, Class)];

fn decide(
    counts: &BTreeMap<Class, usize>,
    num: usize,
    elements: &Elements<'_>,
) -> Option<(Shape, Weight, Class)> {
    let count = |class: Class| counts.get(&class).copied().unwrap_or(0);
    let is = |part: usize, percent: usize| part * 100 >= num * percent;
    if is(count(Class::Level), 50) {
        return Some((Shape::Level, Weight::Head, Class::Level));
    }
    if is(count(Class::Letter), 90) {
        return Some((Shape::Letter, Weight::Head, Class::Letter));
    }
    if is(count(Class::Mark), 90) {
        return Some((Shape::Mark, Weight::Near, Class::Mark));
    }
    if is(count(Class::Source), 70) {
        return Some((Shape::Source, Weight::Near, Class::Source));
    }
    let groups = elements.iter().filter(|(_, e, _)| e.open.is_some()).count();
    if is(groups, 80) {
        return Some((Shape::Group, Weight::Head, Class::Group));
    }
    if is(count(Class::Tag), 80) {
        let has_process = |(text, e, _): &&(&[u8], Element, Class)| {
            let word = text.get(e.inside.clone()).unwrap_or_default();
            e.tail == Some(b':') && word.last() == Some(&b']')
        };
        let weight = match is(elements.iter().filter(has_process).count(), 80) {
            true => Weight::Head,
            false => Weight::Near,
        };
        return Some((Shape::Tag, weight, Class::Tag));
    }
    if is(count(Class::Number), 90) {
        let is_dressed = |(text, e, class): &&(&[u8], Element, Class)| {
            let word = text.get(e.inside.clone()).unwrap_or_default();
            *class == Class::Number && (e.is_column || e.tail.is_some() || word.contains(&b'#'))
        };
        let weight = match is(elements.iter().filter(is_dressed).count(), 90) {
            true => Weight::Near,
            false => Weight::Word,
        };
        return Some((Shape::Number, weight, Class::Number));
    }
    let words = elements.len() - groups - count(Class::Mark);
    if !is(words, 90) {
        return None;
    }
    let columns = elements.iter().filter(|(_, e, _)| e.is_column).count();
    for (class, num) in [
        (Class::Dotted, count(Class::Dotted)),
        (Class::Id, count(Class::Id)),
        (Class::Column, columns),
    ] {
        if is(num, 70) {
            return Some((Shape::Word, Weight::Near, class));
        }
    }
    Some((Shape::Word, Weight::Word, Class::Word))
}

/// The steps over the parts before the time: whatever they are, so many of them.
pub(super) fn before(records: &[&[u8]], num_before: usize) -> Vec<Step> {
    let mut rest: Vec<(&[u8], usize)> = records
        .iter()
        .map(|text| (*text, after_space(text, 0)))
        .collect();
    let mut voted: Vec<(Class, Values)> = Vec::new();
    for _ in 0..num_before {
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        let mut values = Vec::new();
        for (text, place) in &mut rest {
            let Some(element) = element(text, *place).or_else(|| quoted(text, *place)) else {
                continue;
            };
            if let Some(class) = class(text, &element) {
                *counts.entry(class).or_default() += 1;
            }
            values.push(
                text.get(element.inside.clone())
                    .unwrap_or_default()
                    .to_vec(),
            );
            *place = element.next;
        }
        let most = counts.into_iter().max_by_key(|(_, num)| *num);
        let class = most.map_or(Class::Word, |(class, _)| class);
        voted.push((class, Values(values)));
    }
    let parts: Vec<(Shape, Class, &Values)> = voted
        .iter()
        .map(|(class, values)| (Shape::Any, *class, values))
        .collect();
    let meanings = naming::meanings(&parts).into_iter().zip(&voted);
    meanings
        .map(|(meaning, (class, _))| Step {
            shape: Shape::Any,
            meaning: match (class, meaning) {
                (Class::Word | Class::Figure | Class::Column, Meaning::Logger) => Meaning::Nothing,
                // Of a line, not of a process.
                (Class::Number, _) | (_, Meaning::Sign) => Meaning::Nothing,
                (_, meaning) => meaning,
            },
        })
        .collect()
}

/// Parts of which nothing is known.
pub(super) fn unknown(num: usize) -> Vec<Step> {
    let step = Step {
        shape: Shape::Any,
        meaning: Meaning::Nothing,
    };
    vec![step; num]
}
