//! Layout of a source besides its format: the names of its values, and their types.

use std::sync::Arc;

use super::between::Between;
use super::container::Container;
use super::hints::{Column, Hints, named};
use super::objects::Objects;
use crate::cut::without_nuls;
use crate::failure::{Failure, Sink};
use crate::json::{Members, Object};
use crate::log_line::{self, LineLayout};
use crate::parse::tables::csv::Table;
use crate::parse::tables::rows::Rows;
use crate::parse::{self, tables::zeek};
use crate::recognition::dialect::{Dialect, named_delimiter};
use crate::recognition::format::Format;
use crate::recognition::recognise::{Recognised, recognise, sample_lines};
use crate::recognition::tables::records;

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// A record.
    Record,
    /// A line that determines how the next ones are parsed; the layout has adopted it.
    Taken,
}

/// Parser settings for the records of one source, or of a part of it.
#[derive(Clone, Debug)]
pub struct Layout {
    format: Format,
    dialect: Dialect,
    columns: Vec<Column>,
    hints: Arc<Hints>,
    /// Zeek's description of its values.
    zeek: Option<Arc<zeek::Header>>,
    learned: Learned,
    /// Kind of its records, if they are JSON.
    objects: Objects,
    /// What the rows of a table tell.
    rows: Arc<Rows>,
    /// True if the W3C's names and values are separated by commas.
    is_table: bool,
    /// The day that the W3C's last line `#Date:` names.
    day: Option<Arc<str>>,
}

/// Knowledge about lines from the beginning of a source.
#[derive(Clone, Debug)]
enum Learned {
    Nothing,
    Lines(Arc<LineLayout>),
    /// Of lines between objects, of which there are as many or more.
    Between(Arc<Between>),
    Container(Arc<Container>),
}

impl Layout {
    /// Returns the layout of a source with this beginning; `is_whole` is true if that is all.
    #[must_use]
    pub fn of(
        recognised: Recognised,
        beginning: &[u8],
        is_whole: bool,
        hints: Arc<Hints>,
    ) -> Layout {
        let mut layout = Layout::new(recognised.format, recognised.dialect, hints);
        let lines = match recognised.format {
            Format::Log | Format::Container => sample_lines(beginning, is_whole),
            Format::Csv | Format::Tsv => {
                layout.learn_rows(beginning, is_whole);
                return layout;
            }
            format => {
                if format.is_json() {
                    layout.objects = Objects::of(beginning);
                }
                if format == Format::Ndjson {
                    let wants_words = layout.hints.fields.contains_key(log_line::HEAD_WORDS);
                    let found = Between::learn(sample_lines(beginning, is_whole), wants_words);
                    layout.learned =
                        found.map_or(Learned::Nothing, |found| Learned::Between(Arc::new(found)));
                }
                return layout;
            }
        };
        layout.learned = match recognised.format {
            Format::Container => {
                let hints = Arc::clone(&layout.hints);
                let inner = |text: &str| inner_layout(text.as_bytes(), hints);
                Learned::Container(Arc::new(Container::learn(&lines, inner)))
            }
            _ => {
                let mut lines = log_line::learn_from(&lines).unwrap_or_default();
                lines.wants_words = layout.hints.fields.contains_key(log_line::HEAD_WORDS);
                Learned::Lines(Arc::new(lines))
            }
        };
        layout
    }

    /// Learns from the first rows of a table.
    fn learn_rows(&mut self, beginning: &[u8], is_whole: bool) {
        let records = records(beginning, is_whole, self.dialect);
        let mut table = self.clone();
        let mut rows: Vec<&[u8]> = Vec::with_capacity(records.len());
        for record in records {
            let names_values =
                table.may_be_directive(record) && table.take_directive(record) == Directive::Taken;
            if !names_values {
                rows.push(record);
            }
        }
        let names: Vec<String> = table.columns.iter().map(|own| own.name.clone()).collect();
        self.rows = Arc::new(Rows::learn(&rows, &names, self.dialect));
    }

    /// Returns the layout of a source of which nothing was read yet.
    #[must_use]
    pub fn new(format: Format, dialect: impl Into<Dialect>, hints: Arc<Hints>) -> Layout {
        let dialect = dialect.into();
        let columns = hints
            .columns
            .as_deref()
            .filter(|_| matches!(format, Format::Csv | Format::Tsv | Format::VpcFlow));
        let unnamed = || {
            let num = dialect.num_unnamed.map(usize::from)?;
            Some(vec![String::new(); num])
        };
        let columns = columns.map(<[String]>::to_vec).or_else(unnamed);
        let columns = columns.map(|names| named(names, &hints));
        Layout {
            format,
            dialect,
            columns: columns.unwrap_or_default(),
            hints,
            zeek: None,
            learned: Learned::Nothing,
            objects: Objects::Documents,
            rows: Arc::default(),
            is_table: false,
            day: None,
        }
    }

    /// Returns the knowledge about lines with times.
    pub(crate) fn lines(&self) -> Option<&LineLayout> {
        match &self.learned {
            Learned::Lines(lines) => Some(lines),
            Learned::Nothing | Learned::Between(_) | Learned::Container(_) => None,
        }
    }

    /// Returns whether lines may continue the previous record, so that [`Layout::continues`] must be called.
    #[must_use]
    #[inline]
    pub fn has_continuations(&self) -> bool {
        !matches!(self.learned, Learned::Nothing)
    }

    /// Returns whether a line continues the previous record, of which `record` is the part read so far.
    #[must_use]
    pub fn continues(&self, record: &[u8], line: &[u8]) -> bool {
        match &self.learned {
            Learned::Nothing => false,
            Learned::Lines(lines) => !lines.is_empty() && !lines.begins_record(without_nuls(line)),
            Learned::Between(between) => between.continues(record, without_nuls(line)),
            Learned::Container(container) => container.continues(record, line),
        }
    }

    /// Returns the layout of lines that belong to a record and are parsed without it: they have its time.
    #[must_use]
    pub fn with_time_of(&self, record: &[u8]) -> Layout {
        let mut layout = self.clone();
        if let Learned::Lines(lines) = &self.learned
            && let Some(lines) = lines.with_time_of(record)
        {
            layout.learned = Learned::Lines(Arc::new(lines));
        }
        layout
    }

    /// Returns whether a record is complete whatever follows: a whole JSON object, where each line is one.
    #[must_use]
    pub fn ends_itself(&self, record: &[u8]) -> bool {
        let last = match self.format {
            Format::Ndjson | Format::CloudFrontJson => record,
            Format::Container => record.rsplit(|b| *b == b'\n').next().unwrap_or_default(),
            _ => return false,
        };
        let last = last.trim_ascii();
        last.starts_with(b"{")
            && last.ends_with(b"}")
            && serde_json::from_slice::<serde_json::Value>(last).is_ok()
    }

    /// Returns assumptions about incomplete times, as a sentence without an end; `None` if all times are complete.
    #[must_use]
    pub fn times(&self) -> Option<String> {
        let lines = match &self.learned {
            Learned::Lines(lines) => lines,
            Learned::Between(between) => &between.lines,
            Learned::Nothing | Learned::Container(_) => return None,
        };
        lines.times(&self.hints)
    }

    /// Returns the format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Takes a line with the names of the values after it. Must be called for each record in turn;
    /// only formats with such lines examine it.
    pub fn take_directive(&mut self, record: &[u8]) -> Directive {
        let record = without_nuls(record);
        let names = match self.format {
            Format::Csv | Format::Tsv => match self.take_table_line(record) {
                Some(names) => names,
                None => return Directive::Taken,
            },
            Format::Zeek if record.starts_with(b"#") => {
                let mut header = self.zeek.as_deref().cloned().unwrap_or_default();
                header.take(&String::from_utf8_lossy(record));
                self.zeek = Some(Arc::new(header));
                return Directive::Taken;
            }
            Format::VpcFlow if self.columns.is_empty() => parse::vpc_flow::names(record),
            Format::W3c if record.starts_with(b"#") => match parse::tables::w3c::names(record) {
                Some(names) => {
                    self.is_table = parse::tables::w3c::is_table(record);
                    names
                }
                None => {
                    let day = parse::tables::w3c::date(record).map(Arc::from);
                    self.day = day.or_else(|| self.day.take());
                    return Directive::Taken;
                }
            },
            Format::Syslog if parse::syslog::is_remark(record) => return Directive::Taken,
            Format::Log if self.lines().is_some_and(|lines| lines.is_remark(record)) => {
                return Directive::Taken;
            }
            Format::Ndjson if self.objects.is_action(record) => return Directive::Taken,
            _ => return Directive::Record,
        };
        if names.is_empty() {
            return Directive::Record;
        }
        self.columns = named(names, &self.hints);
        Directive::Taken
    }

    /// Returns the names in a line of a table; an empty list for a row, and `None` for a line that names nothing.
    fn take_table_line(&self, record: &[u8]) -> Option<Vec<String>> {
        let dialect = self.dialect;
        let has_names = !self.columns.is_empty();
        if !has_names && named_delimiter(record).is_some() {
            return None;
        }
        if dialect.has_comments && record.starts_with(b"#") {
            let names = parse::tables::csv::names(record, dialect);
            let num_names = dialect.num_commented_names.map(usize::from);
            if !has_names && num_names == Some(names.len()) && !record.starts_with(b"##") {
                return Some(names);
            }
            if parse::tables::csv::is_comment(record, dialect, self.columns.len()) {
                return None;
            }
        }
        if has_names {
            return Some(Vec::new());
        }
        let names = parse::tables::csv::all_names(record, dialect);
        match dialect.num_names_behind_others {
            Some(num_names) if usize::from(num_names) != names.len() => None,
            _ => Some(names),
        }
    }

    /// Returns whether [`Layout::take_directive`] may apply to a record.
    #[must_use]
    #[inline]
    pub fn may_be_directive(&self, record: &[u8]) -> bool {
        let record = without_nuls(record);
        match self.format {
            Format::VpcFlow => self.columns.is_empty(),
            Format::Csv | Format::Tsv => {
                self.columns.is_empty() || (self.dialect.has_comments && record.starts_with(b"#"))
            }
            Format::W3c | Format::Zeek => record.starts_with(b"#"),
            Format::Syslog => parse::syslog::is_remark(record),
            Format::Log => self.lines().is_some_and(|lines| lines.is_remark(record)),
            Format::Ndjson => self.objects.is_action(record),
            _ => false,
        }
    }

    /// Converts a record without its line ending to JSON objects, and passes each to `sink`, or an
    /// error. `scratch` is reusable memory.
    #[inline]
    pub fn parse(&self, record: &[u8], scratch: &mut Vec<u8>, sink: &mut Sink<'_>) {
        let record = without_nuls(record);
        if !self.format.is_json() {
            return self.parse_other(record, scratch, sink);
        }
        scratch.clear();
        if let Learned::Between(between) = &self.learned
            && between.parse(record, &self.hints, scratch)
        {
            return sink(Ok(scratch.as_slice()));
        }
        match self.objects != Objects::Documents && self.objects.write(record, scratch) {
            true => sink(Ok(scratch.as_slice())),
            false => sink(Ok(record)),
        }
    }

    /// Adds the members of a record's document to a receiver that needs no JSON. Returns false, and has added nothing, if
    /// documents of the layout have to go through [`Layout::parse`], as well as a record that is not UTF-8.
    pub fn add_members(&self, record: &[u8], members: &mut dyn Members) -> bool {
        let Learned::Lines(lines) = &self.learned else {
            return false;
        };
        let Ok(text) = std::str::from_utf8(without_nuls(record)) else {
            return false;
        };
        lines.parse(text, &self.hints.reference(), members);
        true
    }

    fn parse_other(&self, record: &[u8], scratch: &mut Vec<u8>, sink: &mut Sink<'_>) {
        if self.format == Format::OtlpJson {
            return parse::otlp::parse(record, scratch, sink);
        }
        scratch.clear();
        let parsed = match std::str::from_utf8(record) {
            Ok(text) => self.parse_text(text, scratch),
            Err(error) => Err(Failure::utf8(error)),
        };
        sink(parsed.map(|()| scratch.as_slice()));
    }

    fn table(&self) -> Table<'_> {
        Table {
            columns: &self.columns,
            rows: &self.rows,
            reference: self.hints.reference(),
        }
    }

    fn parse_text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
        match self.format {
            Format::Csv | Format::Tsv => {
                parse::tables::csv::parse(text, self.table(), self.dialect, out)
            }
            Format::AccessLog => parse::access_log::parse(text, out),
            Format::Alb => parse::alb::parse(text, out),
            Format::W3c if self.is_table => {
                parse::tables::csv::parse(text, self.table(), self.dialect, out)
            }
            Format::W3c => parse::tables::w3c::parse(text, &self.columns, self.day.as_deref(), out),
            Format::CloudFrontJson => parse::tables::w3c::parse_json(text, &self.hints, out),
            Format::Zeek => match &self.zeek {
                Some(header) => header.parse(text, &self.hints, out),
                None => zeek::Header::default().parse(text, &self.hints, out),
            },
            Format::PostgresCsv => parse::postgres::parse(text, &self.hints, out),
            Format::VpcFlow => parse::vpc_flow::parse(text, &self.columns, out),
            Format::Syslog => parse::syslog::parse(text, &self.hints.reference(), out),
            Format::Log => {
                match &self.learned {
                    Learned::Lines(lines) => {
                        let mut object = Object::begin(out);
                        lines.parse(text, &self.hints.reference(), &mut object);
                        object.end();
                    }
                    Learned::Nothing | Learned::Between(_) | Learned::Container(_) => {
                        parse::plain(text, out);
                    }
                }
                Ok(())
            }
            Format::Container => match &self.learned {
                Learned::Container(container) => container.parse(text, out),
                Learned::Nothing | Learned::Between(_) | Learned::Lines(_) => {
                    let plain = Layout::new(Format::Plain, b',', Arc::clone(&self.hints));
                    Container::of(plain).parse(text, out)
                }
            },
            Format::Logfmt => parse::logfmt::parse(text, &self.hints, out),
            Format::Plain => {
                parse::plain(text, out);
                Ok(())
            }
            Format::Ndjson
            | Format::Parquet
            | Format::Json
            | Format::JsonArray
            | Format::CloudTrail
            | Format::OtlpJson => Ok(()),
        }
    }
}

/// Returns the layout of the text inside envelopes.
fn inner_layout(text: &[u8], hints: Arc<Hints>) -> Layout {
    let recognised = recognise(text, false);
    let format = match recognised.format {
        Format::Json | Format::CloudFrontJson => Format::Ndjson,
        format @ (Format::Ndjson
        | Format::AccessLog
        | Format::Syslog
        | Format::Logfmt
        | Format::Log) => format,
        _ => Format::Plain,
    };
    Layout::of(
        Recognised {
            format,
            ..recognised
        },
        text,
        false,
        hints,
    )
}
