//! Date formats: patterns, named formats, and alternatives of both.

use std::sync::LazyLock;

use super::super::zone::{Zone, clamped};
use super::fields::Fields;
use super::named;
use super::pattern::{Item, Strictness, compile};
use super::{print, read};

/// Usual length of a date and time with an offset, in bytes.
const USUAL_LEN: usize = 32;

/// Default format, compiled once.
static DEFAULT: LazyLock<DateFormat> = LazyLock::new(DateFormat::default);

/// Default format, but always with milliseconds.
static WITH_MILLISECONDS: LazyLock<DateFormat> = LazyLock::new(|| {
    let usual = DateFormat::default();
    match named::form("strict_date_optional_time") {
        Some(first) => DateFormat { first, ..usual },
        None => usual,
    }
});

/// Format in which times are written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DateFormat {
    first: Form,
    others: Vec<Form>,
}

/// One way to write and read a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Patterns, one for writing and one for reading, which may accept more.
    Pattern { print: Vec<Item>, read: Vec<Item> },
    /// Number of units of `unit_ns` nanoseconds since 1970.
    Epoch { unit_ns: u64 },
}

/// RFC 3339 without a fraction if it is zero, and otherwise with at least three digits. Reads dates
/// like `strict_date_optional_time`, and milliseconds since 1970.
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
    /// Returns the default format.
    pub(crate) fn usual() -> &'static DateFormat {
        &DEFAULT
    }

    /// Returns the default format of Elasticsearch's API, which reads the same dates and always
    /// writes milliseconds.
    pub(crate) fn with_milliseconds() -> &'static DateFormat {
        &WITH_MILLISECONDS
    }

    /// Parses a `format`.
    ///
    /// # Errors
    /// The pattern has an unknown letter or another problem.
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

    /// Formats a time in a zone.
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

    /// Parses a time, in a zone if the text names none. Missing hours and smaller units get their
    /// first value, or their last one with `round_up`. A missing month or day is 1, and a missing
    /// year 1970. Times before 1677 and after 2262 become the ends of the range.
    ///
    /// # Errors
    /// The text does not match the format.
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
