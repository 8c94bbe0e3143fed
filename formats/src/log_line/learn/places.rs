//! Where the times of lines stand, and which of the places are those of most lines.

use std::collections::BTreeMap;

use crate::log_line::element::{after_space, element, quoted};
use crate::log_line::layout::{bare, opened, time_at};
use crate::log_line::level;
use crate::log_line::step::Found;
use crate::log_line::time::{DateForm, Reading, Stamp, TimeForm, days_of};

/// More parts do not stand before a time.
const MAX_BEFORE: usize = 6;
/// Nor more bytes.
const MAX_BEFORE_LEN: usize = 120;

/// Where a time stands: behind how many parts, and how it is written.
pub(super) type Place = (usize, TimeForm);

/// Every place of a line where a time stands, in every form that fits.
pub(super) fn places(line: &[u8]) -> Vec<Place> {
    let mut found = Vec::new();
    let mut place = after_space(line, 0);
    // Behind what was found: the time of day within a time is none of its own.
    let mut behind = 0;
    for num_before in 0..=MAX_BEFORE {
        let first = line.get(place).copied().unwrap_or_default();
        let mut last = 0;
        let inner = line.get(opened(line, place)).copied().unwrap_or_default();
        for form in TimeForm::all() {
            let may =
                form.may_begin(first) || (!first.is_ascii_alphanumeric() && form.may_begin(inner));
            let is_near = match form {
                TimeForm::Clock | TimeForm::Uptime => num_before <= 1,
                TimeForm::Untimed | TimeForm::HexEpoch | TimeForm::Object => num_before == 0,
                _ => true,
            };
            if !may || !is_near || place < behind {
                continue;
            }
            if let Some((reading, end)) = time_at(form, line, place)
                && (num_before == 0 || !is_of_file(reading))
            {
                found.push((num_before, form));
                last = last.max(end);
            }
        }
        behind = behind.max(last);
        match element(line, place).or_else(|| quoted(line, place)) {
            Some(element) if element.next > place && element.next < MAX_BEFORE_LEN => {
                place = element.next;
            }
            _ => break,
        }
    }
    found
}

/// Whether a time is written as `ls` writes when a file was changed, `May 28 11:35`, which tells of a time but where a line
/// begins with it.
fn is_of_file(reading: Reading) -> bool {
    let Reading::Time(stamp) = reading else {
        return false;
    };
    stamp.date.is_some_and(|date| date.year.is_none()) && !stamp.clock.has_seconds
}

/// How much a form says: a day with its year, one without, none.
pub(super) fn rank(form: TimeForm) -> u8 {
    match form {
        TimeForm::Epoch | TimeForm::HexEpoch => 0,
        TimeForm::Dated(DateForm::NameDay | DateForm::MonthDay(_))
        | TimeForm::Glog
        | TimeForm::Object => 2,
        TimeForm::Dated(_) => 1,
        TimeForm::Uptime => 3,
        TimeForm::Clock => 4,
        TimeForm::Untimed => 5,
    }
}

/// The place where most lines of a kind have their time.
pub(super) fn best(
    lines: &[&[u8]],
    places: &[Vec<Place>],
    is_of: &dyn Fn(usize) -> bool,
) -> Option<Place> {
    let mut counts: BTreeMap<Place, usize> = BTreeMap::new();
    for (_, places) in places.iter().enumerate().filter(|(place, _)| is_of(*place)) {
        for place in places {
            *counts.entry(*place).or_default() += 1;
        }
    }
    let is_number = |form: TimeForm| matches!(form, TimeForm::Epoch | TimeForm::HexEpoch);
    counts.retain(|place, _| !is_number(place.1) || are_times(*place, lines));
    let most = counts.values().copied().max()?;
    let common = counts.iter().filter(|(_, num)| **num * 10 >= most * 9);
    // Of places that as good as all have: the one that says most, the first of equals.
    let (num_before, wanted) = common
        .map(|((num_before, form), _)| (*num_before, rank(*form)))
        .min_by_key(|(num_before, rank)| (*rank, *num_before))?;
    let forms = counts
        .iter()
        .filter(|((place, form), _)| *place == num_before && rank(*form) == wanted);
    // Day and month, if they can be taken for each other: as most lines allow, then as they lie nearest together.
    let best = forms.min_by_key(|((place, form), num)| {
        let order = TimeForm::all().position(|other| other == *form);
        let place = (*place, *form);
        (
            usize::MAX - **num,
            span(place, lines),
            is_unlikely(place, lines),
            order,
        )
    });
    best.map(|(place, _)| *place)
}

/// Whether lines of one day, which another form reads, too, are likelier of that: `05/01/24` is no day of 2005, unless
/// log4j wrote it, and `05-01-2024 10:00:00.000 +0000 INFO` one of splunkd's, whose months come first.
fn is_unlikely(place: Place, lines: &[&[u8]]) -> bool {
    const FIRST_YEAR: u16 = 2013;
    let stamps = || {
        readings(place, lines).filter_map(|reading| match reading {
            Reading::Time(stamp) => Some(stamp),
            _ => None,
        })
    };
    let mut years = stamps().filter_map(|stamp| stamp.date?.year);
    match place.1 {
        TimeForm::Dated(DateForm::ShortYearMonthDay(b'/')) => {
            years.all(|year| year < FIRST_YEAR) && !are_most(place, lines, &level::is_log4j)
        }
        TimeForm::Dated(DateForm::DayMonthYear(b'-')) => {
            let is_zoned = |stamp: Stamp| stamp.zone.is_some() && stamp.clock.num_digits == 3;
            stamps().all(is_zoned) && are_most(place, lines, &level::leads)
        }
        _ => false,
    }
}

/// Whether what stands behind the time of most lines is of a kind.
fn are_most(place: Place, lines: &[&[u8]], is_it: &dyn Fn(&[u8]) -> bool) -> bool {
    let variant = bare(place);
    let is_such = |line: &&&[u8]| {
        let time = variant.time(line, &mut Found::default());
        time.is_some_and(|(_, end)| line.get(end..).is_some_and(is_it))
    };
    lines.iter().filter(is_such).count() * 2 > readings(place, lines).count()
}

fn readings<'l>(place: Place, lines: &'l [&'l [u8]]) -> impl Iterator<Item = Reading> + 'l {
    let variant = bare(place);
    lines
        .iter()
        .filter_map(move |line| Some(variant.time(line, &mut Found::default())?.0))
}

/// Days from the first to the last time.
fn span(place: Place, lines: &[&[u8]]) -> i64 {
    let days: Vec<i64> = readings(place, lines).filter_map(days_of).collect();
    match (days.iter().min(), days.iter().max()) {
        (Some(first), Some(last)) => last - first,
        _ => 0,
    }
}

/// Numbers that grow, or are of a few years, may be times; others are numbers.
fn are_times(place: Place, lines: &[&[u8]]) -> bool {
    const FEW_YEARS: i64 = 5 * 366;
    let mut all = readings(place, lines);
    let first = all.next();
    // One hexadecimal number in every line is the name of something.
    if place.1 == TimeForm::HexEpoch && lines.len() > 2 && all.all(|other| Some(other) == first) {
        return false;
    }
    let days: Vec<i64> = readings(place, lines).filter_map(days_of).collect();
    let num_pairs = days.windows(2).count();
    let pairs = days.windows(2).filter(|pair| match pair {
        [before, after] => (0..400).contains(&(after - before)),
        _ => false,
    });
    let are_in_order = pairs.count() * 10 >= num_pairs * 8;
    !days.is_empty() && (are_in_order || span(place, lines) < FEW_YEARS)
}
