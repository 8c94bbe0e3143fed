//! What a part is, by what stands in its place in the records of a sample.

use std::collections::BTreeMap;

use crate::log_line::element::{
    Class, Element, is_name_and_process, is_small_letter, thread_and_name,
};
use crate::log_line::step::{Shape, is_level_tag};

/// How sure it is that a part belongs to the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// It belongs there, with all before it.
    Head,
    /// It does if it is no more than two words behind what does.
    Near,
    /// Only what follows can say.
    Word,
}

pub(super) type Elements<'r> = [(&'r [u8], Element, Class)];

/// What stands before a part.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub(super) has_level: bool,
    /// True if the part is the first one.
    pub(super) is_empty: bool,
    pub(super) has_word: bool,
    /// Number of records most of which must have a second level.
    pub(super) num_needed: usize,
}

/// Whether a part is a level. A second one is a word of what is told, unless all have it: `Login information: text`.
fn is_of_level(
    counts: &BTreeMap<Class, usize>,
    num: usize,
    elements: &Elements<'_>,
    before: Before,
) -> bool {
    let num_levels = counts.get(&Class::Level).copied().unwrap_or(0);
    if !before.has_level {
        return num_levels * 2 >= num;
    }
    let is_word = |(text, e, class): &&(&[u8], Element, Class)| {
        let word = text.get(e.inside.clone()).unwrap_or_default();
        *class == Class::Level && e.open.is_none() && word.iter().all(u8::is_ascii_lowercase)
    };
    let num_words = elements.iter().filter(is_word).count();
    num_levels.saturating_sub(num_words) * 100 >= before.num_needed * 95
}

pub(super) fn decide(
    counts: &BTreeMap<Class, usize>,
    num: usize,
    elements: &Elements<'_>,
    before: Before,
) -> Option<(Shape, Weight, Class)> {
    let count = |class: Class| counts.get(&class).copied().unwrap_or(0);
    let is = |part: usize, percent: usize| part * 100 >= num * percent;
    if is_of_level(counts, num, elements, before) {
        return Some((Shape::Level, Weight::Head, Class::Level));
    }
    // `Notice A shell was spawned`: behind a level, a letter is a word.
    if !before.has_level && is(count(Class::Letter), 90) {
        return Some((Shape::Letter, Weight::Head, Class::Letter));
    }
    if !before.has_level && are_small_letters(num, elements) {
        return Some((Shape::Letter, Weight::Head, Class::Letter));
    }
    if is(count(Class::Mark), 90) {
        // An arrow stands between what is told: `10.0.0.1.40000 > 10.0.0.2.80:`, or Exim's `1s1x00-0001Ab-2C <= bob@example.com`.
        let is_arrow = |(text, e, _): &&(&[u8], Element, Class)| {
            let word = text.get(e.inside.clone()).unwrap_or_default();
            let has_point = word.contains(&b'>') || matches!(word, b"<=" | b"<-" | b"==" | b"**");
            has_point && word.iter().all(|byte| b"<=->*".contains(byte))
        };
        let is_told = !before.is_empty && is(elements.iter().filter(is_arrow).count(), 50);
        let weight = if is_told { Weight::Word } else { Weight::Near };
        return Some((Shape::Mark, weight, Class::Mark));
    }
    if is(count(Class::Source), 70) {
        return Some((Shape::Source, Weight::Near, Class::Source));
    }
    let groups = elements.iter().filter(|(_, e, _)| e.open.is_some()).count();
    // A second level that only some have is no group of the others.
    let is_second = |class: Class| before.has_level && class == Class::Level;
    let named = elements
        .iter()
        .filter(|(_, e, class)| e.open.is_some() && !is_second(*class));
    if is(named.count(), 80) {
        return Some((Shape::Group, Weight::Head, Class::Group));
    }
    if is(count(Class::Tag), 80) {
        return decide_tag(num, elements);
    }
    if is(count(Class::Number), 90) {
        let is_dressed = |(text, e, class): &&(&[u8], Element, Class)| {
            let word = text.get(e.inside.clone()).unwrap_or_default();
            *class == Class::Number && (e.is_column || e.tail.is_some() || word.contains(&b'#'))
        };
        let is_told = is(elements.iter().filter(has_pairs).count(), 60);
        let weight = match is(elements.iter().filter(is_dressed).count(), 90) && !is_told {
            true => Weight::Near,
            false => Weight::Word,
        };
        return Some((Shape::Number, weight, Class::Number));
    }
    let words = elements.len() - groups - count(Class::Mark);
    if !is(words, 90) {
        return None;
    }
    Some(decide_word_or_user(counts, num, elements, before))
}

/// Returns whether all records have a letter in lower case that may be a level, and not all of them the same.
fn are_small_letters(num: usize, elements: &Elements<'_>) -> bool {
    let words = || {
        elements
            .iter()
            .map(|(text, e, _)| text.get(e.inside.clone()).unwrap_or_default())
    };
    elements.len() == num
        && words().all(is_small_letter)
        && words().any(|word| Some(word) != words().next())
}

/// Whether pairs follow a part: `started      port=8080` is what is told, and its pairs.
fn has_pairs((text, element, _): &&(&[u8], Element, Class)) -> bool {
    let rest = text.get(element.next..).unwrap_or_default();
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let len = len.count();
    len > 0 && rest.get(len) == Some(&b'=')
}

/// Decides how sure it is that words with a colon are names; nothing if they are keys of what is told.
fn decide_tag(num: usize, elements: &Elements<'_>) -> Option<(Shape, Weight, Class)> {
    let is = |part: usize, percent: usize| part * 100 >= num * percent;
    let has_process = |(text, e, _): &&(&[u8], Element, Class)| {
        let word = text.get(e.inside.clone()).unwrap_or_default();
        e.tail == Some(b':') && word.last() == Some(&b']')
    };
    // `clientid: c1, line: 12`: pairs of what is told.
    let has_pairs = |(text, e, _): &&(&[u8], Element, Class)| {
        let line = text.get(e.next..).unwrap_or_default();
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut others = memchr::memmem::find_iter(line, b", ");
        others.any(|comma| {
            let key = line.get(comma + 2..).unwrap_or_default();
            let is_key = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b'_';
            let len = key.iter().take_while(is_key).count();
            len > 0 && key.get(len..len + 2) == Some(b": ")
        })
    };
    let is_message = |(text, e, _): &&(&[u8], Element, Class)| {
        matches!(text.get(e.inside.clone()), Some(b"msg" | b"message"))
    };
    // `Installed: lib-1.2`.
    let is_deed = |(text, e, _): &&(&[u8], Element, Class)| {
        text.get(e.inside.clone()).is_some_and(is_deed_of_packages)
    };
    let num_pairs = elements
        .iter()
        .filter(|e| has_pairs(e) || is_message(e) || is_deed(e))
        .count();
    let weight = match is(elements.iter().filter(has_process).count(), 80) {
        true => Weight::Head,
        false if is(num_pairs, 60) => return None,
        false => Weight::Near,
    };
    Some((Shape::Tag, weight, Class::Tag))
}

/// Returns whether a word is what a package manager did: it is told, and names nothing that did it.
fn is_deed_of_packages(word: &[u8]) -> bool {
    const DEEDS: [&[u8]; 9] = [
        b"Install",
        b"Reinstall",
        b"Upgrade",
        b"Downgrade",
        b"Update",
        b"Erase",
        b"Remove",
        b"Obsolete",
        b"Cleanup",
    ];
    let is_past = |deed: &&[u8]| {
        let rest = word.strip_prefix(deed.strip_suffix(b"e").unwrap_or(deed));
        rest == Some(b"ed")
    };
    DEEDS.iter().any(|deed| word == *deed || is_past(deed))
}

/// Decides as [`decide_word`]; a word in whose place some records have their level may be absent.
fn decide_word_or_user(
    counts: &BTreeMap<Class, usize>,
    num: usize,
    elements: &Elements<'_>,
    before: Before,
) -> (Shape, Weight, Class) {
    let (shape, weight, class) = decide_word(counts, num, elements);
    let is_tag = |(text, e, _): &&(&[u8], Element, Class)| {
        is_level_tag(text.get(e.inside.clone()).unwrap_or_default(), e)
    };
    let has_tags = elements.iter().filter(is_tag).count() * 20 >= num;
    let may_be_absent = class == Class::Word && has_tags && !before.has_level && !before.has_word;
    (
        if may_be_absent { Shape::User } else { shape },
        weight,
        class,
    )
}

/// Decides which kind of word a part is that is one in most records.
fn decide_word(
    counts: &BTreeMap<Class, usize>,
    num: usize,
    elements: &Elements<'_>,
) -> (Shape, Weight, Class) {
    let count = |class: Class| counts.get(&class).copied().unwrap_or(0);
    let is = |part: usize, percent: usize| part * 100 >= num * percent;
    let are = |is_it: &dyn Fn(&[u8], &Element) -> bool| {
        let num = elements.iter().filter(|(text, e, _)| {
            let word = text.get(e.inside.clone()).unwrap_or_default();
            e.open.is_none() && is_it(word, e)
        });
        is(num.count(), 80)
    };
    // `hostd[1234] text`, `13[IKE] text`.
    if are(&|word, _| is_name_and_process(word) || thread_and_name(word).is_some()) {
        return (Shape::Word, Weight::Head, Class::Tag);
    }
    let columns = elements.iter().filter(|(_, e, _)| e.is_column).count();
    let columns = match is(elements.iter().filter(has_pairs).count(), 60) {
        true => 0,
        false => columns,
    };
    for (class, num) in [
        (Class::Dotted, count(Class::Dotted)),
        (Class::Id, count(Class::Id)),
        (Class::Column, columns),
    ] {
        if is(num, 70) {
            return (Shape::Word, Weight::Near, class);
        }
    }
    // `[ns_server:info,2024-05-01T10:00:00.123Z,ns_1@127.0.0.1:<0.11.0>:janitor:run:12]text`: the end of the bracket of the time.
    if are(&|_, element| element.tail == Some(b']')) {
        // `[2024-05-01T10:00:00Z INFO  app] text`.
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:.".contains(byte);
        let are_names = are(&|word, _| {
            word.first().is_some_and(u8::is_ascii_alphabetic) && word.iter().all(is_name)
        });
        let class = if are_names {
            Class::Dotted
        } else {
            Class::Word
        };
        return (Shape::Word, Weight::Head, class);
    }
    (Shape::Word, Weight::Word, Class::Word)
}
