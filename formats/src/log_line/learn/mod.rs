//! From a sample of lines to a layout: where most of them have a time.

mod places;

use super::element::{goes_on, is_of_trace, is_preamble, opens_before_date};
use super::known::Known;
use super::layout::{LineLayout, Variant, after_time, bare};
use super::level;
use super::naming;
use super::parse::without_colours;
use super::step::{Found, Meaning, Shape, Step};
use super::time::{Reading, TimeForm};
use super::votes;
use places::{Place, best, places, rank};

const MAX_VARIANTS: usize = 3;
/// As many parts before a time of which nothing is known are what is told: `Started GET "/" for 10.0.0.7 at …`.
const SENTENCE: usize = 5;
/// So many lines of a record are looked at.
const MAX_RECORD_LINES: usize = 3;

/// What these lines have in common, their colours left out.
pub(crate) fn learn_from(lines: &[String]) -> Option<LineLayout> {
    let plain: Vec<_> = lines.iter().map(|line| without_colours(line)).collect();
    let plain: Vec<&[u8]> = plain.iter().map(|line| line.as_bytes()).collect();
    learn(&plain)
}

/// What these lines, none of them blank, have in common; nothing if most have no time in one place.
fn learn(lines: &[&[u8]]) -> Option<LineLayout> {
    let num_before = lines.iter().take_while(|line| is_preamble(line)).count();
    let lines = lines.get(num_before..).unwrap_or_default();
    if let Some(known) = Known::of(lines) {
        let texts = lines
            .iter()
            .filter_map(|line| std::str::from_utf8(line).ok());
        return Some(LineLayout {
            variants: Vec::new(),
            known: Some(known),
            first: texts.filter_map(|text| known.reading(text)).next(),
            wants_words: false,
        });
    }
    let places: Vec<Vec<Place>> = lines.iter().map(|line| places(line)).collect();
    if let Some(layout) = paragraphs(lines, &places) {
        return Some(layout);
    }
    let (place, first_word) = place_of_records(lines, places.clone())?;
    let is_only = first_word.is_some();
    let mut layout = LineLayout {
        variants: vec![variant(place, lines, first_word)],
        known: None,
        first: None,
        wants_words: false,
    };
    layout.first = lines
        .iter()
        .find_map(|line| layout.head(line))
        .map(|head| head.reading);
    while !is_only
        && layout.variants.len() < MAX_VARIANTS
        && let Some(variant) = another(&layout, lines, &places)
    {
        layout.variants.push(variant);
    }
    Some(layout)
}

/// Returns the place of the times with which records begin, and the word before it if other lines have a time there, too. What
/// most lines have may be a number of their messages, so that the next best is tried.
fn place_of_records(
    lines: &[&[u8]],
    mut places: Vec<Vec<Place>>,
) -> Option<(Place, Option<Vec<u8>>)> {
    /// More places are not tried.
    const MAX_PLACES: usize = 3;
    for _ in 0..MAX_PLACES {
        let place = best(lines, &places, &|_| true)?;
        let first_word = first_key(place, lines, &places);
        if first_word.is_some() || is_enough(place, lines, &places) {
            return Some((place, first_word));
        }
        for places in &mut places {
            places.retain(|other| *other != place);
        }
    }
    None
}

/// Returns the layout of records that are paragraphs.
fn paragraphs(lines: &[&[u8]], places: &[Vec<Place>]) -> Option<LineLayout> {
    let timed = best(lines, places, &|_| true).filter(|place| rank(place.1) == 1 && place.0 > 0)?;
    let is_value = |line: &[u8]| {
        let time = bare(timed).time(line, &mut Found::default());
        time.is_some_and(|(_, end)| after_time(line, end) == line.len())
    };
    let variant = Variant {
        tells_before: true,
        paragraph: Some(votes::Paragraph::of(lines, &is_value)?),
        ..bare(timed)
    };
    let first = lines.iter().find(|line| is_value(line))?;
    let reading = variant.time(first, &mut Found::default());
    Some(LineLayout {
        first: reading.map(|(reading, _)| reading),
        variants: vec![variant],
        ..LineLayout::default()
    })
}

/// Whether so many lines have their time there that the others belong to those.
fn is_enough(place: Place, lines: &[&[u8]], places: &[Vec<Place>]) -> bool {
    let (mut num, mut num_others) = (0, 0);
    for (line, places) in lines.iter().zip(places) {
        match places.contains(&place) {
            true => num += 1,
            false => num_others += usize::from(!goes_on(line)),
        }
    }
    let is = |percent: usize| num * 100 >= (num + num_others) * percent;
    let (num_before, form) = place;
    let has_year = |(line, _): (&&[u8], _)| {
        let reading = bare(place).time(line, &mut Found::default());
        matches!(reading, Some((Reading::Time(stamp), _)) if stamp.date.is_some_and(|date| date.year.is_some()))
    };
    let num_with_year = || {
        let of_place = lines
            .iter()
            .zip(places)
            .filter(|(_, places)| places.contains(&place));
        of_place.filter(|pair| has_year(*pair)).count()
    };
    let is_full = rank(form) == 1 || (rank(form) == 2 && num_with_year() == num);
    let begins = lines.first().zip(places.first());
    let is_first = begins.is_some_and(|(_, places)| places.contains(&place));
    let is_anchored = lines.iter().zip(places).all(|(line, places)| {
        !places.contains(&place)
            || matches!(line.first(), Some(b'#' | b'=' | b'*'))
            || opens_before_date(line, 0).is_some()
    });
    let is_anchored = is_anchored || (num >= 3 && have_one_beginning(place, lines, places));
    match form {
        _ if num == 0 => false,
        // A line that says itself that a record begins.
        TimeForm::Dated(_) if num_before > 0 && is_anchored && is(10) && is_first => true,
        // A line of nothing but its time is the head of what follows it: `M Wed May  1 10:00:00 2024`.
        TimeForm::Dated(_)
            if num_before < SENTENCE
                && num >= 3
                && is_full
                && is(10)
                && are_alone(place, lines) =>
        {
            true
        }
        TimeForm::Dated(_) if num_before == 0 && is_full => {
            is(50) || (num >= 3 && is(20) && is_first)
        }
        // Tables of several lines stand between the lines of programs that use glog.
        TimeForm::Glog if num >= 2 && is(20) && is_first => true,
        TimeForm::Dated(_) | TimeForm::Glog | TimeForm::Uptime => {
            is(60) && (num >= 2 || lines.len() == 1)
        }
        TimeForm::Epoch => {
            let percent = if num_before > 0 { 20 } else { 30 };
            (is(80) && num >= 2) || (is_anchored && is(percent) && num >= 3 && is_first)
        }
        TimeForm::HexEpoch => is(80) && num >= 2,
        TimeForm::Clock => is(70) && num >= 2,
        TimeForm::Untimed => is(80) && (num >= 2 || lines.len() <= 2),
        // Objects are a format of their own, and stand between lines of another one here.
        TimeForm::Object => false,
    }
}

/// Returns whether lines that have a time in a place end with it.
fn are_alone(place: Place, lines: &[&[u8]]) -> bool {
    let variant = bare(place);
    let mut ends = lines
        .iter()
        .filter_map(|line| Some((line, variant.time(line, &mut Found::default())?.1)));
    ends.all(|(line, end)| after_time(line, end) >= line.len())
}

/// Returns the word with which a line begins.
fn first_word(line: &[u8]) -> Vec<u8> {
    let len = line.iter().take_while(|byte| !byte.is_ascii_whitespace());
    line.get(..len.count()).unwrap_or_default().to_vec()
}

/// Returns whether all lines with a time in a place behind others begin with one word, and no other line does.
fn have_one_beginning(place: Place, lines: &[&[u8]], places: &[Vec<Place>]) -> bool {
    let mut first = None;
    let is_alike = lines.iter().zip(places).all(|(line, places)| {
        let word = first_word(line);
        let beginning = match places.contains(&place) {
            true => first.get_or_insert_with(|| word.clone()),
            false => return first.as_ref() != Some(&word),
        };
        *beginning == word
    });
    let is_word = |word: Vec<u8>| word.len() >= 3 && word.iter().any(u8::is_ascii_alphabetic);
    place.0 > 0 && is_alike && first.is_some_and(is_word)
}

/// Returns the key with which a record begins, if times are the values of several keys: `Start-Date:`, `End-Date:`.
fn first_key(place: Place, lines: &[&[u8]], places: &[Vec<Place>]) -> Option<Vec<u8>> {
    let key = first_word(lines.first()?);
    (place.0 > 0 && rank(place.1) == 1 && key.ends_with(b":")).then_some(())?;
    let timed = || {
        let timed = lines
            .iter()
            .zip(places)
            .filter(|(_, places)| places.contains(&place));
        timed.map(|(line, _)| *line)
    };
    let is_value = |line: &[u8]| {
        let time = bare(place).time(line, &mut Found::default());
        time.is_some_and(|(_, end)| after_time(line, end) == line.len())
    };
    let num = |lines: &mut dyn Iterator<Item = &[u8]>| {
        lines.filter(|line| first_word(line) == key).count()
    };
    let num_of_key = num(&mut timed());
    let is_it = num_of_key >= 3
        && num_of_key == num(&mut lines.iter().copied())
        && num_of_key < timed().count()
        && timed().all(is_value);
    is_it.then_some(key)
}

/// A variant with its parts.
fn variant(place: Place, lines: &[&[u8]], first_word: Option<Vec<u8>>) -> Variant {
    let mut variant = Variant {
        first_word,
        ..bare(place)
    };
    let records = records(&variant, lines);
    let texts: Vec<&[u8]> = records.iter().map(|(text, _)| text.as_slice()).collect();
    variant.before = votes::before(&texts, place.0);
    let behind: Vec<(&[u8], usize)> = records
        .iter()
        .map(|(text, end)| match place.1 {
            TimeForm::Untimed => (text.as_slice(), *end),
            _ => (text.as_slice(), after_time(text, *end)),
        })
        .collect();
    variant.tells_before = variant
        .before
        .iter()
        .filter(|step| step.meaning == Meaning::Nothing)
        .count()
        >= SENTENCE;
    // A line that has nothing but its time is no head of what follows it.
    let num_alone = records.iter().filter(|(text, end)| is_alone(text, *end));
    if num_alone.count() * 2 < records.len() && !variant.tells_before {
        let is_level = |step: &Step| step.meaning == Meaning::Level;
        let has_level = variant.form == TimeForm::Glog || variant.before.iter().any(is_level);
        variant.after = votes::steps(&behind, has_level);
        // The milliseconds of `0 [main] INFO app - text` and `I (1234) wifi: text`, not a process.
        let are_ms = |step: &&mut Step| match step.shape {
            Shape::Number => true,
            Shape::Group => step.meaning == Meaning::ProcessId,
            _ => false,
        };
        if variant.form == TimeForm::Untimed
            && let Some(first) = variant.after.iter_mut().take(2).find(are_ms)
        {
            first.meaning = Meaning::Nothing;
        }
        let are_of_redis =
            texts.iter().filter(|text| naming::has_role(text)).count() * 2 > texts.len();
        let signs = variant.after.iter_mut();
        let signs = signs.filter(|step| step.meaning == Meaning::Sign && !are_of_redis);
        signs.for_each(|step| step.meaning = Meaning::Nothing);
    }
    let num_loggers = texts
        .iter()
        .filter(|text| names_logger_at_end(&variant, text));
    let num_loggers = num_loggers.count();
    let names = |step: &Step| step.meaning == Meaning::Logger;
    variant.has_logger_at_end =
        num_loggers * 10 >= texts.len() * 8 && !variant.after.iter().any(names);
    let says_level = |text: &&&[u8]| {
        let message = variant.head(text).and_then(|head| text.get(head.end..));
        let message = message.and_then(|message| std::str::from_utf8(message).ok());
        message.is_some_and(|message| level::in_message(message).is_some())
    };
    let num_levels = texts.iter().filter(says_level).count();
    let steps = variant.before.iter().chain(&variant.after);
    let has_level = steps
        .clone()
        .any(|step| matches!(step.meaning, Meaning::Level | Meaning::Sign));
    let has_level = has_level || variant.form == TimeForm::Glog;
    variant.has_level_in_pairs = num_levels * 2 > texts.len() && !has_level;
    variant.may_tell_level = !has_level;
    variant
}

/// Whether the first line of a record ends with the name of a logger, behind more than a word: `CMD (run.sh)` tells what runs.
fn names_logger_at_end(variant: &Variant, text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    naming::logger_at_end(line).is_some_and(|name| {
        let head = variant.head(text);
        let told = head.and_then(|head| line.get(head.end..name.start - 1));
        told.is_some_and(|told| told.trim_ascii().contains(&b' '))
    })
}

/// Whether a day stands in a line: it may begin a record of another kind.
fn has_day(line: &[u8]) -> bool {
    places(line).iter().any(|(_, form)| rank(*form) < 3)
}

/// Whether the line ends where its time does.
fn is_alone(text: &[u8], end: usize) -> bool {
    let line_end = text.iter().position(|byte| *byte == b'\n');
    line_end.is_some_and(|line_end| after_time(text, end) > line_end)
}

/// Records, each with the place where its time ends.
fn records(variant: &Variant, lines: &[&[u8]]) -> Vec<(Vec<u8>, usize)> {
    let mut records: Vec<(Vec<u8>, usize)> = Vec::new();
    let mut num_lines = 0;
    for line in lines {
        match (
            variant.time(line, &mut Found::default()),
            records.last_mut(),
        ) {
            (Some((_, end)), _) => {
                records.push((line.to_vec(), end));
                num_lines = 1;
            }
            (None, _) if is_of_trace(line) => num_lines = MAX_RECORD_LINES,
            (None, Some((record, _))) if num_lines < MAX_RECORD_LINES && !has_day(line) => {
                record.push(b'\n');
                record.extend_from_slice(line);
                num_lines += 1;
            }
            _ => {}
        }
    }
    records
}

/// Another way in which records begin: most of the lines that are of none yet have a time in one place.
fn another(layout: &LineLayout, lines: &[&[u8]], places: &[Vec<Place>]) -> Option<Variant> {
    let is_open = |place: usize| {
        lines
            .get(place)
            .is_some_and(|line| !layout.begins_record(line) && !goes_on(line))
    };
    let num_open = (0..lines.len()).filter(|place| is_open(*place)).count();
    let place = best(lines, places, &is_open)?;
    let is_it =
        |line: &usize| is_open(*line) && places.get(*line).is_some_and(|p| p.contains(&place));
    let num = (0..lines.len()).filter(is_it).count();
    let is_dated = rank(place.1) < 3;
    // In a short sample, one line that begins with a full date is enough.
    let is_full = place.0 == 0 && rank(place.1) == 1 && num == num_open;
    let is_common = num * 2 >= num_open && num * 20 >= lines.len() && (num >= 2 || is_full);
    if !is_common || is_dated != layout.is_dated() {
        return None;
    }
    let open: Vec<&[u8]> = (0..lines.len())
        .filter(is_it)
        .filter_map(|line| lines.get(line).copied())
        .collect();
    Some(variant(place, &open, None))
}
