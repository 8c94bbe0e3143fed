//! What was learned of the lines of a source: where the time stands and how it is written, and what the parts beside
//! it are.

use std::ops::Range;

use super::element::{after_space, element};
use super::known::{Known, lambda};
use super::parse::{ESCAPE, without_colours};
use super::step::{Field, Found, Shape, Step, take, unknown};
use super::time::{Reading, TimeForm, read, with_fraction};
use super::votes::Paragraph;
use crate::layout::Hints;

/// How the lines of a source are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineLayout {
    /// The ways in which records begin, the commonest first.
    pub(super) variants: Vec<Variant>,
    /// The layout with marks that the records have, instead of variants.
    pub(super) known: Option<Known>,
    /// The first time in the source, for what stands before it.
    pub(super) first: Option<Reading>,
    /// True if the index has a field for the words of heads ([`HEAD_WORDS`](super::HEAD_WORDS)).
    pub(crate) wants_words: bool,
}

/// One way in which a record begins.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// The parts before the time.
    pub(super) before: Vec<Step>,
    pub(super) form: TimeForm,
    /// The parts behind it that are of the head, too.
    pub(super) after: Vec<Step>,
    /// Whether lines end with the name of a logger in parentheses.
    pub(super) has_logger_at_end: bool,
    /// Whether messages have their level in a pair: `level=info`.
    pub(super) has_level_in_pairs: bool,
    /// Whether heads have no level, so that a message may begin with one: `error: text`.
    pub(super) may_tell_level: bool,
    /// Whether what stands before the time is a part of what is told.
    pub(super) tells_before: bool,
    /// The word with which a record begins, if other lines have a time there, too.
    pub(super) first_word: Option<Vec<u8>>,
    /// Set if records are paragraphs, of which a later line has the time.
    pub(super) paragraph: Option<Paragraph>,
}

/// The head of a record.
pub(super) struct Head {
    pub(super) reading: Reading,
    /// Where the time stands.
    pub(super) time: Range<usize>,
    pub(super) found: Found,
    /// Where the message begins.
    pub(super) end: usize,
    pub(super) has_logger_at_end: bool,
    pub(super) has_level_in_pairs: bool,
    pub(super) may_tell_level: bool,
}

impl LineLayout {
    /// Whether a line begins a record: it has a time where lines have it.
    pub(crate) fn begins_record(&self, line: &[u8]) -> bool {
        let plain;
        let line = match memchr::memchr(ESCAPE, line) {
            Some(_) => {
                plain = without_colours(&String::from_utf8_lossy(line)).into_owned();
                plain.as_bytes()
            }
            None => line,
        };
        let begins = |variant: &Variant| match &variant.paragraph {
            Some(paragraph) => paragraph.begins(line),
            None => variant.time(line, &mut Found::default()).is_some(),
        };
        match self.known {
            Some(known) => known.begins(line),
            None => self.variants.iter().any(begins),
        }
    }

    /// Whether a record tells of others, and is no document.
    pub(crate) fn is_remark(&self, record: &[u8]) -> bool {
        self.known.is_some_and(|known| known.is_remark(record))
    }

    /// Whether nothing was learned.
    pub(crate) fn is_empty(&self) -> bool {
        self.variants.is_empty() && self.known.is_none()
    }

    /// What its times do not say themselves, and where that is taken from.
    pub(crate) fn times(&self, hints: &Hints) -> Option<String> {
        let stamp = match self.first? {
            Reading::Time(stamp) => stamp,
            Reading::Uptime { .. } => {
                return Some(
                    "its times are seconds since the start, without a day: no timestamp".into(),
                );
            }
            Reading::Nothing => return Some("its lines say no time: no timestamp".into()),
        };
        let Some(date) = stamp.date else {
            return Some("its lines say a time of day, but no day: no timestamp".into());
        };
        let year = match (date.year, hints.year, hints.ended) {
            (Some(_), _, _) => None,
            (None, Some(year), _) => Some(format!("its times have no year: {year} was said")),
            (None, None, Some(end)) => Some(format!(
                "its times have no year: the latest before its last change, {:04}-{:02}-{:02}",
                end.year, end.month, end.day
            )),
            (None, None, None) => {
                Some("its times have no year, and 1970 is none: say --year".into())
            }
        };
        let zone = match stamp.zone {
            Some(_) => None,
            None => Some(format!("its times name no zone: {}", hints.zone.name())),
        };
        let said: Vec<String> = year.into_iter().chain(zone).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// Whether its times have a day.
    pub(crate) fn is_dated(&self) -> bool {
        self.variants.first().is_some_and(|variant| {
            !matches!(
                variant.form,
                TimeForm::Clock | TimeForm::Uptime | TimeForm::Untimed
            )
        })
    }

    /// The same for lines that are read without the record that they belong to, and have its time.
    pub(crate) fn with_time_of(&self, record: &[u8]) -> Option<LineLayout> {
        let reading = match self.known {
            Some(known) => known.reading(std::str::from_utf8(record).ok()?)?,
            None => self.head(record)?.reading,
        };
        Some(LineLayout {
            first: Some(reading),
            ..self.clone()
        })
    }

    pub(super) fn head(&self, record: &[u8]) -> Option<Head> {
        self.variants
            .iter()
            .find_map(|variant| variant.head(record))
    }
}

impl Variant {
    /// The time, and where it ends.
    pub(super) fn time(&self, line: &[u8], found: &mut Found) -> Option<(Reading, usize)> {
        let (reading, time) = self.place_of_time(line, found)?;
        Some((reading, time.end))
    }

    /// Returns the time, and where it stands.
    fn place_of_time(&self, line: &[u8], found: &mut Found) -> Option<(Reading, Range<usize>)> {
        let start = match &self.paragraph {
            Some(paragraph) => paragraph.line_with_time(line)?,
            None => 0,
        };
        let mut place = after_space(line, start);
        let begins = |word: &Vec<u8>| line.get(place..).is_some_and(|line| line.starts_with(word));
        self.first_word.as_ref().is_none_or(begins).then_some(())?;
        for step in &self.before {
            place = take(*step, line, place, found)?;
        }
        let (reading, end) = time_at(self.form, line, place)?;
        Some((reading, place..end))
    }

    pub(super) fn head(&self, record: &[u8]) -> Option<Head> {
        let mut found = Found::default();
        let (reading, time) = self.place_of_time(record, &mut found)?;
        let end = time.end;
        if let Some(level) = self.paragraph.as_ref().and_then(|own| own.level(record)) {
            found.set(Field::Level, level);
        }
        if self.form == TimeForm::Glog {
            let letter = element(record, after_space(record, 0)).map(|e| e.inside.start);
            let letter = letter.and_then(|place| record.get(place).copied());
            found.level = letter.and_then(super::level::of_letter);
        }
        // `INFO[0012] text`, as logrus writes it.
        if self.form == TimeForm::Uptime
            && record.get(time.start).is_some_and(u8::is_ascii_uppercase)
        {
            let len = record
                .get(time.clone())
                .and_then(|time| memchr::memchr(b'[', time));
            found.set(
                Field::Level,
                time.start..time.start + len.unwrap_or_default(),
            );
        }
        let mut place = match self.form {
            TimeForm::Untimed => end,
            _ => after_time(record, end),
        };
        let is_invocation = lambda::is_invocation(record, place);
        let rest = record.get(place..).unwrap_or_default();
        let line_end = memchr::memchr(b'\n', rest).map(|len| place + len);
        for step in self.after.iter().filter(|_| !is_invocation) {
            // A head ends with its line, but for a level.
            if line_end.is_some_and(|end| place > end) && step.shape != Shape::Level {
                break;
            }
            if let Some(next) = take(*step, record, place, &mut found) {
                place = next;
            }
        }
        let reading = match self.form {
            TimeForm::Untimed => reading_at_end(record).unwrap_or(reading),
            TimeForm::Epoch => with_fraction(reading, record.get(end..place).unwrap_or_default()),
            _ => reading,
        };
        Some(Head {
            reading,
            time,
            found,
            end: match self.tells_before || self.form == TimeForm::Object {
                true => 0,
                false => place,
            },
            has_logger_at_end: self.has_logger_at_end,
            has_level_in_pairs: self.has_level_in_pairs,
            may_tell_level: self.may_tell_level,
        })
    }
}

/// Returns the time of an object at the end of the first line: `info: text {"timestamp":"2024-05-01 10:00:00"}`, as winston
/// writes what its formats add to a record.
fn reading_at_end(record: &[u8]) -> Option<Reading> {
    let line = record.split(|byte| *byte == b'\n').next()?;
    let start = memchr::memmem::find(line, b" {\"")? + 1;
    Some(read(TimeForm::Object, line, start)?.0)
}

/// A time at a place, or behind what opens one there.
pub(super) fn time_at(form: TimeForm, line: &[u8], place: usize) -> Option<(Reading, usize)> {
    match form {
        TimeForm::Uptime | TimeForm::Untimed | TimeForm::Object => read(form, line, place),
        _ => read(form, line, opened(line, place)),
    }
}

/// Passes a bracket or quote, and the signs of Cisco's and WebLogic's that stand before a time: `*May  1`, `####<May 1`.
pub(super) fn opened(line: &[u8], place: usize) -> usize {
    const MOST_SIGNS: usize = 4;
    /// Says that what follows is written from left to right: WhatsApp's exports have it before some lines.
    const LEFT_TO_RIGHT: &[u8] = "\u{200e}".as_bytes();
    let rest = line.get(place..).unwrap_or_default();
    let (place, rest) = match rest.strip_prefix(LEFT_TO_RIGHT) {
        Some(behind) => (place + LEFT_TO_RIGHT.len(), behind),
        None => (place, rest),
    };
    let is_sign = |byte: &&u8| matches!(byte, b'#' | b'*' | b'.');
    let num_signs = rest.iter().take(MOST_SIGNS).take_while(is_sign).count();
    let opens = matches!(
        rest.get(num_signs),
        Some(b'[' | b'(' | b'"' | b'\'' | b'<' | b'{')
    );
    let place = place + num_signs + usize::from(opens);
    // `[ 2024-05-01 10:00:00.1234 12345/T1 …`, as Passenger writes it.
    place + usize::from(opens && line.get(place) == Some(&b' '))
}

/// Passes what closes a time, and the space behind it.
pub(super) fn after_time(line: &[u8], place: usize) -> usize {
    let rest = line.get(place..).unwrap_or_default();
    let closes = |byte: &&u8| {
        matches!(
            byte,
            b']' | b')' | b'"' | b'\'' | b'>' | b'}' | b',' | b';' | b':' | b'|'
        )
    };
    after_space(line, place + rest.iter().take_while(closes).count())
}

/// A variant of which only the time is known.
pub(super) fn bare((num_before, form): (usize, TimeForm)) -> Variant {
    Variant {
        before: unknown(num_before),
        form,
        after: Vec::new(),
        has_logger_at_end: false,
        has_level_in_pairs: false,
        may_tell_level: false,
        tells_before: false,
        first_word: None,
        paragraph: None,
    }
}
