//! What the rows of a table tell beyond its names: a day and a time of day in two columns, and numbers with a comma before
//! their decimals, as spreadsheets write them in most of Europe.

use std::borrow::Cow;

use super::csv::Values;
use crate::json::Object;
use crate::log_line::time::{DateForm, Reading, Reference, TimeForm, read};
use crate::recognition::dialect::Dialect;

/// What the rows tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) day: Option<DayAndClock>,
    /// Whether the numbers of a column have commas before their decimals.
    has_comma: Vec<bool>,
    /// Whether all values are in quotes, which say nothing of their types then.
    pub(crate) quotes_all: bool,
}

/// Columns that are a time together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DayAndClock {
    pub(crate) day: usize,
    pub(crate) clock: usize,
    form: DateForm,
}

/// Name of the member that has the time.
const TIMESTAMP: &str = "timestamp";

impl Rows {
    /// Learns from the first rows of a table with these names.
    pub(crate) fn learn(rows: &[&[u8]], names: &[String], dialect: Dialect) -> Rows {
        let quotes_all = quotes_all(rows, dialect);
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| values(row, dialect))
            .filter(|row| row.len() == names.len())
            .collect();
        let column = |place: usize| -> Vec<&str> {
            let values = rows.iter().filter_map(move |row| row.get(place));
            values.map(|value| value.trim()).collect()
        };
        let is_own = |name: &String| name.eq_ignore_ascii_case(TIMESTAMP);
        let has_time = names.iter().any(is_own);
        let day = (1..names.len()).find_map(|place| {
            let form = form(&column(place - 1), &column(place), names)?;
            Some(DayAndClock {
                day: place - 1,
                clock: place,
                form,
            })
        });
        Rows {
            day: day.filter(|_| !has_time),
            quotes_all,
            has_comma: match dialect.delimiter {
                b',' => Vec::new(),
                _ => (0..names.len())
                    .map(|place| has_comma(&column(place)))
                    .collect(),
            },
        }
    }

    /// Returns a value as a number with a point, if it is one of a column of numbers with commas.
    pub(crate) fn with_point<'t>(&self, place: usize, text: Cow<'t, str>) -> Cow<'t, str> {
        let is_it = self.has_comma.get(place) == Some(&true) && is_number(text.trim()).is_some();
        match is_it {
            true => Cow::Owned(text.trim().replace('.', "").replace(',', ".")),
            false => text,
        }
    }
}

impl DayAndClock {
    /// Adds the time that a day and a time of day are.
    pub(crate) fn add(
        self,
        day: &str,
        clock: &str,
        reference: &Reference<'_>,
        object: &mut Object<'_>,
    ) {
        let mut time = Vec::with_capacity(36);
        let stamp = match read_both(self.form, day, clock) {
            Some(Reading::Time(stamp)) => stamp.write(reference, &mut time),
            _ => None,
        };
        if stamp.is_some() {
            object.string(TIMESTAMP, std::str::from_utf8(&time).unwrap_or_default());
        }
    }
}

fn values(row: &[u8], dialect: Dialect) -> Vec<String> {
    let text = String::from_utf8_lossy(row);
    let values = Values::new(&text, dialect);
    values.map(|value| value.text.into_owned()).collect()
}

/// Returns whether all values of rows, of which there is one, are in quotes.
fn quotes_all(rows: &[&[u8]], dialect: Dialect) -> bool {
    let are_quoted = |row: &&[u8]| {
        let text = String::from_utf8_lossy(row);
        Values::new(&text, dialect).all(|value| value.is_quoted)
    };
    !rows.is_empty() && rows.iter().all(are_quoted)
}

fn read_both(form: DateForm, day: &str, clock: &str) -> Option<Reading> {
    let text = format!("{} {}", day.trim(), clock.trim());
    let (reading, end) = read(TimeForm::Dated(form), text.as_bytes(), 0)?;
    (end == text.len()).then_some(reading)
}

/// Returns how the days of a column are written, if the next one has times of day. Nothing, if days and months could be
/// taken for each other.
fn form(days: &[&str], clocks: &[&str], names: &[String]) -> Option<DateForm> {
    let both = || {
        days.iter()
            .zip(clocks)
            .filter(|(day, clock)| !day.is_empty() && !clock.is_empty())
    };
    let is_clock =
        |clock: &str| clock.starts_with(|c: char| c.is_ascii_digit()) && clock.contains(':');
    let is_day = |day: &str| !day.contains(':');
    if both().count() * 10 < days.len() * 9
        || both().next().is_none()
        || !both().all(|(day, clock)| is_day(day) && is_clock(clock))
    {
        return None;
    }
    let reads_all =
        |form: &DateForm| both().all(|(day, clock)| read_both(*form, day, clock).is_some());
    let forms: Vec<DateForm> = DateForm::ALL.into_iter().filter(reads_all).collect();
    match forms.as_slice() {
        [] => None,
        [form] => Some(*form),
        // Who writes clocks of twelve hours mostly writes the month first.
        _ if both().all(|(_, clock)| clock.ends_with(['M', 'm']))
            && forms.contains(&DateForm::MonthDayYear(b'/')) =>
        {
            Some(DateForm::MonthDayYear(b'/'))
        }
        // Windows' DHCP server writes the month first, whatever the country.
        _ if names
            .iter()
            .map(String::as_str)
            .take(4)
            .eq(["ID", "Date", "Time", "Description"]) =>
        {
            let form = DateForm::MonthDayShortYear(b'/');
            forms.contains(&form).then_some(form)
        }
        // Years of four digits tell where they are; the earlier of other forms is likelier.
        [
            first @ (DateForm::MonthDayYear(_) | DateForm::DayMonthYear(_)),
            second,
            ..,
        ] if matches!(
            second,
            DateForm::MonthDayYear(_) | DateForm::DayMonthYear(_)
        ) =>
        {
            both()
                .all(|(day, clock)| read_both(*first, day, clock) == read_both(*second, day, clock))
                .then_some(*first)
        }
        [
            DateForm::ShortYearMonthDay(_)
            | DateForm::MonthDayShortYear(_)
            | DateForm::DayMonthShortYear(_),
            _,
            ..,
        ] => None,
        [first, ..] => Some(*first),
    }
}

/// Returns whether all values are numbers, and some have decimals behind a comma.
fn has_comma(values: &[&str]) -> bool {
    let mut num_decimals = 0;
    for value in values.iter().filter(|value| !value.is_empty()) {
        match is_number(value) {
            Some(has_decimals) => num_decimals += usize::from(has_decimals),
            None => return false,
        }
    }
    num_decimals > 0
}

/// Returns whether `1.234,56`, `-0,5` or `12` has decimals; `None` for other texts.
fn is_number(text: &str) -> Option<bool> {
    let (whole, decimals) = match text.split_once(',') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text, None),
    };
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split('.');
    let first = groups.next().unwrap_or_default();
    let mut is_grouped = false;
    let are_groups = groups.all(|group| {
        is_grouped = true;
        group.len() == 3 && are_digits(group)
    });
    let is_whole =
        are_digits(first) && are_groups && (!is_grouped || first.len() <= 3) && whole.len() <= 18;
    // An id has zeros in front.
    let is_id = first.len() > 1 && first.starts_with('0');
    (is_whole && !is_id && decimals.is_none_or(are_digits)).then_some(decimals.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(rows: &[&str], delimiter: u8) -> Rows {
        let dialect = Dialect::new(delimiter);
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        let (names, rows) = rows.split_first().unwrap();
        Rows::learn(rows, &super::super::csv::names(names, dialect), dialect)
    }

    fn form_of(rows: &[&str]) -> Option<(usize, DateForm)> {
        let day = learn(rows, b';').day?;
        Some((day.day, day.form))
    }

    #[test]
    fn a_day_and_a_time_of_day_are_a_time() {
        let form = |day: &[&str], clock: &str| {
            let mut rows = vec!["n;day;clock;x".to_owned()];
            rows.extend(day.iter().map(|day| format!("1;{day};{clock};2")));
            form_of(&rows.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for (days, clock, expect) in [
            (
                &["01.05.2023", "02.05.2023"][..],
                "10:00:01",
                DateForm::DayMonthYear(b'.'),
            ),
            (&["2023-05-01"], "10:00", DateForm::YearMonthDay(b'-')),
            (
                &["05/13/2023", "05/01/2023"],
                "1:00:01 PM",
                DateForm::MonthDayYear(b'/'),
            ),
            (&["05/01/2023"], "1:00:01 PM", DateForm::MonthDayYear(b'/')),
            (
                &["13/05/2023", "01/05/2023"],
                "10:00:01",
                DateForm::DayMonthYear(b'/'),
            ),
            (&["20230501"], "10:00:01.5", DateForm::Compact),
            (&["May 1, 2023"], "10:00:01", DateForm::NameDayYear),
        ] {
            assert_eq!(form(days, clock), Some((1, expect)), "{days:?}");
        }
        for (days, clock) in [
            (&["01/05/2023", "02/05/2023"][..], "10:00:01"),
            (&["05/01/23"], "10:00:01"),
            (&["2023-05-01 10:00:00"], "10:00:01"),
            (&["2023-05-01"], "10"),
            (&["a"], "10:00:00"),
            (&[""], "10:00:00"),
        ] {
            assert_eq!(form(days, clock), None, "{days:?} {clock}");
        }
        assert_eq!(
            form_of(&["day;clock;timestamp", "2023-05-01;10:00:00;1"]),
            None
        );
        let dhcp = form_of(&["ID;Date;Time;Description", "10;05/01/23;10:00:01;x"]);
        assert_eq!(dhcp, Some((1, DateForm::MonthDayShortYear(b'/'))));
    }

    #[test]
    fn quotes_around_every_value_say_nothing() {
        assert!(learn(&["a;b", "\"1\";\"x\"", "\"\";\"2\""], b';').quotes_all);
        assert!(!learn(&["a;b", "\"1\";\"x\"", "\"\";2"], b';').quotes_all);
        assert!(!learn(&["\"a\";\"b\""], b';').quotes_all);
    }

    #[test]
    fn numbers_with_commas_are_numbers_in_columns_of_them() {
        let rows = learn(
            &[
                "a;b;c;d",
                "1.234,56;1.234;1,5;0049,1",
                "-0,5;1.5;x;0049,2",
                "12;7;2,5;1,5",
                "1.000;;;",
            ],
            b';',
        );
        let shown =
            |place: usize, text: &'static str| rows.with_point(place, text.into()).into_owned();
        assert_eq!(shown(0, "1.234,56"), "1234.56");
        assert_eq!(shown(0, "1.000"), "1000");
        assert_eq!(shown(0, "-0,5"), "-0.5");
        assert_eq!(shown(0, "n/a"), "n/a");
        assert_eq!(shown(1, "1.234"), "1.234");
        assert_eq!(shown(2, "1,5"), "1,5");
        assert_eq!(shown(3, "1,5"), "1,5");
        let rows = learn(&["a,b", "\"1,5\",2"], b',');
        assert_eq!(rows.with_point(0, "1,5".into()), "1,5");
    }
}
