//! Patterns of dates that are read off a text: which of its parts are numbers of a day and of a clock, names, a zone, and
//! what stands between them.

/// A text has fewer parts.
const MAX_PARTS: usize = 40;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// A pattern that may read all texts of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Derived {
    pub(super) pattern: String,
    /// True if another pattern may read the same texts with day and month exchanged, and nothing tells which is meant.
    pub(super) is_of_either_order: bool,
    /// True if it has a whole year and a time of day: then the text is nothing but a date.
    pub(super) is_sure: bool,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'t> {
    Digits(&'t str),
    Word(&'t str),
    Mark(char),
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A number of the day: how many digits it has.
    Number(usize),
    /// A number of the day behind the name of a month, which spaces may pad.
    Padded,
}

/// Returns the patterns by which a text may be written; nothing if it has a part that no date has.
pub(super) fn of(text: &str) -> Vec<Derived> {
    let parts = parts(text);
    let Some(pieces) = Pieces::of(&parts) else {
        return Vec::new();
    };
    let orders = pieces.orders();
    let has_either = orders.len() > 1 && !pieces.has_half_days;
    let patterns = orders.into_iter().map(|order| Derived {
        pattern: pieces.pattern(order),
        is_of_either_order: has_either,
        is_sure: pieces.has_clock && pieces.pieces.contains(&Piece::Number(4)),
    });
    patterns.collect()
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same = |c: char| match first {
            _ if first.is_ascii_digit() => c.is_ascii_digit(),
            _ => c.is_alphabetic(),
        };
        let is_run = first.is_ascii_digit() || first.is_alphabetic();
        let len = match is_run {
            true => rest.find(|c| !is_same(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (run, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        parts.push(match first {
            _ if first.is_ascii_digit() => Part::Digits(run),
            _ if is_run => Part::Word(run),
            mark => Part::Mark(mark),
        });
        rest = after;
    }
    parts
}

/// The pattern but for the order of the day's numbers.
#[derive(Debug, Default)]
struct Pieces {
    pieces: Vec<Piece>,
    has_month_name: bool,
    has_clock: bool,
    has_half_days: bool,
}

impl Pieces {
    fn of(parts: &[Part<'_>]) -> Option<Pieces> {
        (parts.len() < MAX_PARTS).then_some(())?;
        let has_half_days = parts.iter().any(is_half_day);
        let mut found = Pieces {
            has_half_days,
            ..Pieces::default()
        };
        let mut place = 0;
        while let Some(part) = parts.get(place) {
            let rest = parts.get(place..)?;
            place += match part {
                Part::Digits(_)
                    if !found.has_clock && !found.is_behind_year() && begins_clock(rest) =>
                {
                    found.clock(rest)?
                }
                Part::Digits(digits) => {
                    found.number(digits.len());
                    1
                }
                Part::Mark('+' | '-') if found.has_clock && offset_len(rest).is_some() => {
                    found.text("%z");
                    offset_len(rest)?
                }
                Part::Mark(mark) => {
                    found.text(&mark.to_string());
                    1
                }
                Part::Word(word) => {
                    found.word(word, rest.len() == 1)?;
                    1
                }
            };
        }
        Some(found)
    }

    /// Returns whether a year and a colon were last: `2024:05:01` is a day.
    fn is_behind_year(&self) -> bool {
        matches!(self.pieces.as_slice(), [.., Piece::Number(4), Piece::Text(text)] if text == ":")
    }

    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn number(&mut self, num_digits: usize) {
        // `May  1`: a space pads the day.
        if self.has_month_name
            && num_digits < 3
            && let Some(Piece::Text(last)) = self.pieces.last_mut()
            && last.ends_with(' ')
        {
            if last.ends_with("  ") {
                last.pop();
            }
            return self.pieces.push(Piece::Padded);
        }
        self.pieces.push(Piece::Number(num_digits));
    }

    /// Takes `10:00`, `10:00:07.123`, `10.00.07`; returns the number of its parts.
    fn clock(&mut self, parts: &[Part<'_>]) -> Option<usize> {
        self.has_clock = true;
        let Some(Part::Mark(sep)) = parts.get(1) else {
            return None;
        };
        self.text(match self.has_half_days {
            true => "%I",
            false => "%H",
        });
        self.text(&format!("{sep}%M"));
        let has_seconds = parts.get(3) == Some(&Part::Mark(*sep)) && is_pair(parts.get(4));
        if !has_seconds {
            return Some(3);
        }
        self.text(&format!("{sep}%S"));
        let fraction = match parts.get(5..7) {
            Some([Part::Mark(mark @ ('.' | ',' | ':')), Part::Digits(digits)]) => {
                (digits.len() < 10).then_some(*mark)
            }
            _ => None,
        };
        match fraction {
            Some(mark @ (',' | ':')) => {
                self.text(&format!("{mark}%f"));
                Some(7)
            }
            Some(_) => {
                self.text("%.f");
                Some(7)
            }
            None => {
                // Other values may have one.
                self.text("%.f");
                Some(5)
            }
        }
    }

    fn word(&mut self, word: &str, is_last: bool) -> Option<()> {
        let lower = word.to_lowercase();
        let is_of = |names: &[&str]| {
            let is_short = names.iter().any(|name| name.get(..3) == Some(&*lower));
            (names.contains(&&*lower) && !is_short, is_short)
        };
        match (is_of(&MONTHS), is_of(&WEEKDAYS)) {
            ((is_long, is_short), _) if is_long || is_short => {
                (!self.has_month_name).then_some(())?;
                self.has_month_name = true;
                self.text(if is_short { "%b" } else { "%B" });
            }
            (_, (is_long, is_short)) if is_long || is_short => {
                self.text(if is_short { "%a" } else { "%A" });
            }
            _ if matches!(&*lower, "am" | "pm") => self.text("%p"),
            _ if matches!(word, "UTC" | "GMT" | "T" | "Z" | "at") => self.text(word),
            _ => {
                let is_zone = is_last
                    && self.has_clock
                    && (2..=5).contains(&word.len())
                    && word.bytes().all(|byte| byte.is_ascii_uppercase());
                is_zone.then_some(())?;
                self.text("%z");
            }
        }
        Some(())
    }

    /// Returns what the numbers of the day may be, likelier orders first.
    fn orders(&self) -> Vec<&'static [&'static str]> {
        let numbers = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Number(num) => Some(*num),
            Piece::Padded => Some(0),
        });
        let numbers: Vec<usize> = numbers.collect();
        let has_slash = self
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(text) if text == "/"));
        match (self.has_month_name, &*numbers) {
            (true, [0, 4]) => vec![&["%e", "%Y"]],
            (true, [0, 2]) => vec![&["%e", "%y"]],
            (true, [1 | 2, 4]) => vec![&["%d", "%Y"]],
            (true, [1 | 2, 2]) => vec![&["%d", "%y"]],
            (true, [4, 0]) => vec![&["%Y", "%e"]],
            (true, [4, 1 | 2]) => vec![&["%Y", "%d"]],
            (false, [4, 1 | 2, 1 | 2]) => vec![&["%Y", "%m", "%d"]],
            (false, [1 | 2, 1 | 2, 4]) if self.has_points() => vec![&["%d", "%m", "%Y"]],
            (false, [1 | 2, 1 | 2, 2]) if self.has_points() => vec![&["%d", "%m", "%y"]],
            (false, [1 | 2, 1 | 2, 4]) => vec![&["%m", "%d", "%Y"], &["%d", "%m", "%Y"]],
            (false, [1 | 2, 1 | 2, 2]) if has_slash => {
                vec![&["%m", "%d", "%y"], &["%d", "%m", "%y"]]
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether points are between the day's numbers, as nobody writes them who begins with the month.
    fn has_points(&self) -> bool {
        let numbers = self.pieces.windows(3);
        numbers.into_iter().any(|three| {
            matches!(three, [Piece::Number(_), Piece::Text(text), Piece::Number(_)] if text == ".")
        })
    }

    fn pattern(&self, order: &[&str]) -> String {
        let mut order = order.iter();
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Number(_) | Piece::Padded => order.next().copied().unwrap_or_default(),
        });
        pieces.collect()
    }
}

/// Returns the number of parts of `+0200` and `+02:00`, if parts begin so.
fn offset_len(parts: &[Part<'_>]) -> Option<usize> {
    match parts.get(1..) {
        Some([Part::Digits(digits), ..]) if digits.len() == 4 => Some(2),
        Some([Part::Digits(_), Part::Mark(':'), ..])
            if is_pair(parts.get(1)) && is_pair(parts.get(3)) =>
        {
            Some(4)
        }
        _ => None,
    }
}

fn is_half_day(part: &Part<'_>) -> bool {
    matches!(part, Part::Word(word) if matches!(word.to_lowercase().as_str(), "am" | "pm"))
}

fn is_pair(part: Option<&Part<'_>>) -> bool {
    matches!(part, Some(Part::Digits(digits)) if digits.len() == 2)
}

/// Returns whether parts begin with hours and minutes: `10:00`, `9:00`, `10.00.07`; not `2024:05:01`, nor `01.05.2024`.
fn begins_clock(parts: &[Part<'_>]) -> bool {
    let [
        Part::Digits(hours),
        Part::Mark(sep),
        Part::Digits(minutes),
        rest @ ..,
    ] = parts
    else {
        return false;
    };
    let goes_on = |len: usize| matches!(rest, [Part::Mark(mark), Part::Digits(digits), ..] if mark == sep && digits.len() == len);
    hours.len() < 3
        && minutes.len() == 2
        && match sep {
            ':' => !goes_on(4),
            // Of a day the year would be last, with four digits or behind no clock; `01.05.24` is one.
            '.' => hours.len() == 2 && goes_on(2) && is_behind_day(rest),
            _ => false,
        }
}

/// Returns whether what follows two numbers with points is the rest of a clock: seconds, then a fraction or half a day.
fn is_behind_day(rest: &[Part<'_>]) -> bool {
    match rest.get(2..) {
        Some([Part::Mark('.'), Part::Digits(_), ..]) => true,
        Some([Part::Mark(' '), half, ..]) => is_half_day(half),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use canter_doc_mapper::DateInput;

    use super::*;

    #[test]
    fn a_text_says_how_it_is_written() {
        for (text, expected) in [
            ("03.10.2026 - 07:12:18", &["%d.%m.%Y - %H:%M:%S%.f"][..]),
            (
                "23-10-2026 05:23:13",
                &["%m-%d-%Y %H:%M:%S%.f", "%d-%m-%Y %H:%M:%S%.f"],
            ),
            (
                "10/23/2026 11:00:00.123",
                &["%m/%d/%Y %H:%M:%S%.f", "%d/%m/%Y %H:%M:%S%.f"],
            ),
            ("2026:10:03-07:12:18", &["%Y:%m:%d-%H:%M:%S%.f"]),
            ("2026:10:03 07:12:18", &["%Y:%m:%d %H:%M:%S%.f"]),
            ("2026.10.03 07:12:18,123", &["%Y.%m.%d %H:%M:%S,%f"]),
            ("2026/10/03 07:12:18:123", &["%Y/%m/%d %H:%M:%S:%f"]),
            ("2026-10-03_07:12:18", &["%Y-%m-%d_%H:%M:%S%.f"]),
            ("3 October 2026 at 07:12", &["%d %B %Y at %H:%M"]),
            (
                "Saturday, October 3, 2026 7:12:18 AM",
                &["%A, %B %e, %Y %I:%M:%S%.f %p"],
            ),
            ("Sat Oct  3 07:12:18 2026", &["%a %b %e %H:%M:%S%.f %Y"]),
            ("03-OCT-26 07.12.18.123456 AM", &["%d-%b-%y %I.%M.%S%.f %p"]),
            (
                "2026-10-03 07:12:18 GMT+0200",
                &["%Y-%m-%d %H:%M:%S%.f GMT%z"],
            ),
            ("2026-10-03 07:12:18 CEST", &["%Y-%m-%d %H:%M:%S%.f %z"]),
            ("01.05.24 10:00", &["%d.%m.%y %H:%M"]),
            (
                "10/23/26, 7:12 PM",
                &["%m/%d/%y, %I:%M %p", "%d/%m/%y, %I:%M %p"],
            ),
            ("2026 Oct 03 07:12:18", &["%Y %b %e %H:%M:%S%.f"]),
        ] {
            let found: Vec<String> = of(text).into_iter().map(|found| found.pattern).collect();
            assert_eq!(found, expected, "{text}");
            let reads =
                |pattern: &String| DateInput::parse(pattern).is_ok_and(|input| input.reads(text));
            assert!(found.iter().any(reads), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_has_no_pattern() {
        for text in [
            "",
            "abc",
            "1.2.3",
            "10.0.0.1",
            "10:00:00",
            "some text of 2024: 10:00",
            "2024-05-01 a=b",
            "01/02",
            "datetime(2020, 10, 23)",
            "2024-05-01 10:00:00 99",
        ] {
            let found = of(text);
            let works = |found: &Derived| DateInput::parse(&found.pattern).is_ok();
            assert!(!found.iter().any(works), "{text}: {found:?}");
        }
    }
}
