//! A format as a request names it: patterns, names, and alternatives of them.

use std::sync::LazyLock;

use super::super::zone::{Zone, clamped};
use super::fields::Fields;
use super::named;
use super::pattern::{Item, Strictness, compile};
use super::{print, read};

/// Bytes of a date and a time with an offset.
const USUAL_LEN: usize = 32;

/// The format of what names none, compiled once.
static DEFAULT: LazyLock<DateFormat> = LazyLock::new(DateFormat::default);

/// The same with milliseconds at least.
static WITH_MILLISECONDS: LazyLock<DateFormat> = LazyLock::new(|| {
    let usual = DateFormat::default();
    match named::form("strict_date_optional_time") {
        Some(first) => DateFormat { first, ..usual },
        None => usual,
    }
});

/// How times are written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DateFormat {
    first: Form,
    others: Vec<Form>,
}

/// One way to write and read a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By patterns, which differ where more is read than is written.
    Pattern { print: Vec<Item>, read: Vec<Item> },
    /// A number of units of so many nanoseconds since 1970.
    Epoch { unit_ns: u64 },
}

/// RFC 3339: no fraction where it is zero, else at least three digits. Read are dates as
/// `strict_date_optional_time` reads them, and milliseconds since 1970.
impl Default for DateFormat {
    fn default() -> DateFormat {
        let [first, other] = named::default_forms();
        DateFormat {
            first,
            others: vec![other],
        }
    }
}

impl DateFormat {
    /// The format of what names none.
    pub(crate) fn usual() -> &'static DateFormat {
        &DEFAULT
    }

    /// The format of what names none in Elasticsearch's API: it reads the same, and always writes milliseconds.
    pub(crate) fn with_milliseconds() -> &'static DateFormat {
        &WITH_MILLISECONDS
    }

    /// Reads a `format`.
    ///
    /// # Errors
    /// The letter that is not known, or what else is wrong with the pattern.
    pub(crate) fn parse(text: &str) -> Result<DateFormat, String> {
        let mut forms = text.split("||").map(|part| {
            if let Some(form) = named::form(part) {
                return Ok(form);
            }
            let items = compile(part, Strictness::Exact).map_err(|problem| {
                format!(
                    "date format {part:?}: {problem}; write letters as in yyyy-MM-dd, or a name such as \
                     epoch_millis"
                )
            })?;
            Ok(Form::Pattern { print: items.clone(), read: items })
        });
        let first = forms
            .next()
            .unwrap_or_else(|| Err("a date format is missing".to_string()))?;
        let others = forms.collect::<Result<_, String>>()?;
        Ok(DateFormat { first, others })
    }

    /// A time as it is in a zone.
    pub(crate) fn format(&self, time_ns: i64, zone: &Zone) -> String {
        match &self.first {
            Form::Pattern { print, .. } => {
                let mut text = String::with_capacity(USUAL_LEN);
                print::print(print, &Fields::of(time_ns, zone), &mut text);
                text
            }
            Form::Epoch { unit_ns } => print::epoch(time_ns, *unit_ns),
        }
    }

    /// The time of a text, in a zone if the text names no other. What the text leaves out is the first that
    /// it can be, or with `round_up` the last, of hours and less; months and days are 1 and the year 1970.
    /// Times before 1677 and after 2262 are the ends of the range.
    ///
    /// # Errors
    /// That the text is not of the format.
    pub(crate) fn read(&self, text: &str, zone: &Zone, round_up: bool) -> Result<i64, String> {
        let mut forms = std::iter::once(&self.first).chain(&self.others);
        let time = forms.find_map(|form| match form {
            Form::Pattern { read, .. } => read::read(read, text)?.resolve(zone, round_up),
            Form::Epoch { unit_ns } => read::epoch(text, *unit_ns, round_up).map(clamped),
        });
        time.ok_or_else(|| {
            let example = self.format(1_460_505_600_000_000_000, zone);
            format!("{text:?} is no date of the format: write it as in {example:?}")
        })
    }
}
