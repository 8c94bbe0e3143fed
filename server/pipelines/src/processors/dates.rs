//! `date` and `date_index_name`.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit, Zoned, ZonedRound};

use crate::document::{Document, Path};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::java_dates::{JavaFormat, zone_of};
use crate::options::Options;
use crate::snippet::{Snippet, shown};

/// How dates are written if nothing else is said.
const OUTPUT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";

#[derive(Clone, Debug)]
enum Format {
    Iso,
    Seconds,
    Millis,
    Java(JavaFormat),
}

impl Format {
    fn of(name: &str) -> Result<Self, String> {
        match name {
            "ISO8601" | "iso8601" | "strict_date_optional_time" | "date_optional_time" => {
                Ok(Self::Iso)
            }
            "UNIX" | "epoch_second" => Ok(Self::Seconds),
            "UNIX_MS" | "epoch_millis" => Ok(Self::Millis),
            "TAI64N" => Err("the format [TAI64N] is not supported here".to_owned()),
            pattern => JavaFormat::of(pattern).map(Self::Java),
        }
    }

    fn parse(&self, text: &str, zone: &TimeZone, year: i16) -> Option<Timestamp> {
        match self {
            Self::Iso => {
                let whole = match text.len() {
                    4 => format!("{text}-01-01"),
                    7 => format!("{text}-01"),
                    _ => text.to_owned(),
                };
                if let Ok(time) = whole.parse::<Timestamp>() {
                    return Some(time);
                }
                let local: DateTime = whole.parse().ok()?;
                Some(local.to_zoned(zone.clone()).ok()?.timestamp())
            }
            Self::Seconds => {
                let seconds: f64 = text.parse().ok()?;
                let millis = (seconds * 1000.0).round();
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "jiff refuses what is out of its range"
                )]
                (millis.abs() < 9.0e15).then(|| Timestamp::from_millisecond(millis as i64).ok())?
            }
            Self::Millis => Timestamp::from_millisecond(text.parse().ok()?).ok(),
            Self::Java(format) => format.parse(text, zone, year),
        }
    }
}

/// A field that is read as a date.
#[derive(Debug)]
struct Read {
    field: Path,
    formats: Vec<Format>,
    zone: Option<Snippet>,
}

impl Read {
    fn take(options: &mut Options, formats: &str, default: &[&str]) -> Result<Self, ConfigError> {
        let field = options.required_path("field")?;
        let names = options.list(formats)?;
        let names =
            names.unwrap_or_else(|| default.iter().map(|name| (*name).to_owned()).collect());
        if names.is_empty() {
            return Err(options.wrong(formats, "required property is missing"));
        }
        let read: Result<Vec<Format>, String> = names.iter().map(|name| Format::of(name)).collect();
        let english = [
            "en", "en-US", "en_US", "en-GB", "en_GB", "ENGLISH", "ROOT", "root", "",
        ];
        options.only("locale", &english.map(Into::into))?;
        Ok(Self {
            field,
            formats: read.map_err(|error| options.wrong(formats, &error))?,
            zone: options.snippet("timezone")?,
        })
    }

    fn time(&self, document: &Document, now_ms: i64) -> Result<(Timestamp, TimeZone), Failure> {
        let text = shown(&document.get(&self.field)?);
        let zone = match &self.zone {
            None => TimeZone::UTC,
            Some(snippet) => {
                let name = snippet.text(document);
                zone_of(&name)
                    .ok_or_else(|| Failure::illegal(format!("Unknown time-zone ID: {name}")))?
            }
        };
        let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
        let year = zone.to_datetime(now).year();
        let time = self
            .formats
            .iter()
            .find_map(|format| format.parse(&text, &zone, year));
        match time {
            Some(time) => Ok((time, zone)),
            None => Err(Failure::illegal(format!("unable to parse date [{text}]"))),
        }
    }
}

#[derive(Debug)]
struct Dated {
    read: Read,
    target: Path,
    output: JavaFormat,
}

pub(super) fn date(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let read = Read::take(options, "formats", &[])?;
    let target = match options.path("target_field")? {
        Some(target) => target,
        None => Path::of("@timestamp")
            .map_err(|failure| options.wrong("target_field", &failure.reason))?,
    };
    let output = options.text("output_format")?;
    let output = JavaFormat::of(output.as_deref().unwrap_or(OUTPUT))
        .map_err(|error| options.wrong("output_format", &error))?;
    Ok(Box::new(Dated {
        read,
        target,
        output,
    }))
}

impl Process for Dated {
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure> {
        let (time, zone) = self.read.time(document, run.now_ms)?;
        document.set(&self.target, self.output.write(time, &zone).into())?;
        Ok(Flow::Next)
    }
}

#[derive(Debug)]
struct Named {
    read: Read,
    prefix: Snippet,
    rounding: Snippet,
    format: Snippet,
}

pub(super) fn index_name(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let read = Read::take(options, "date_formats", &["yyyy-MM-dd'T'HH:mm:ss.SSSXX"])?;
    let rounding = options.required_snippet("date_rounding")?;
    let prefix = match options.snippet("index_name_prefix")? {
        Some(prefix) => prefix,
        None => Snippet::of("")?,
    };
    let format = match options.snippet("index_name_format")? {
        Some(format) => format,
        None => Snippet::of("yyyy-MM-dd")?,
    };
    Ok(Box::new(Named {
        read,
        prefix,
        rounding,
        format,
    }))
}

impl Process for Named {
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure> {
        let (time, zone) = self.read.time(document, run.now_ms)?;
        let rounding = self.rounding.text(document);
        let begin = begin_of(time.to_zoned(zone.clone()), &rounding).ok_or_else(|| {
            Failure::illegal(format!(
                "unit [{rounding}] not supported for date math [/{rounding}]"
            ))
        })?;
        let format = JavaFormat::of(&self.format.text(document)).map_err(Failure::illegal)?;
        let date = format.write(begin.timestamp(), &zone);
        let name = format!("{}{date}", self.prefix.text(document));
        document.set(&Path::of("_index")?, name.into())?;
        Ok(Flow::Next)
    }
}

/// Returns the beginning of the unit that a time lies in.
fn begin_of(time: Zoned, unit: &str) -> Option<Zoned> {
    let day = |days: i64| {
        let first = time
            .date()
            .checked_sub(jiff::Span::new().try_days(days).ok()?)
            .ok()?;
        first.to_zoned(time.time_zone().clone()).ok()
    };
    let rounded = |unit: Unit| {
        time.round(
            ZonedRound::new()
                .smallest(unit)
                .mode(jiff::RoundMode::Trunc),
        )
        .ok()
    };
    match unit {
        "y" => day(i64::from(time.day_of_year()) - 1),
        "M" => day(i64::from(time.day()) - 1),
        "w" => day(i64::from(time.weekday().to_monday_zero_offset())),
        "d" => day(0),
        "h" | "H" => rounded(Unit::Hour),
        "m" => rounded(Unit::Minute),
        "s" => rounded(Unit::Second),
        _ => None,
    }
}
