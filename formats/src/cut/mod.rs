//! Where a record ends. A cutter is given the stream piece by piece and keeps no bytes of it.

mod quoted;
#[cfg(test)]
mod tests;
mod values;

use crate::dialect::Dialect;
use crate::format::Format;
use quoted::Quoted;
use values::{Shape, Values};

/// What the next bytes of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All of them belong to the record that is being cut, which goes on.
    More,
    /// After so many of them the record ends. Zero only if some of it was given before.
    End(usize),
    /// So many of them, and what was given of the record before, are no record: white space between
    /// records, brackets around them. At least one.
    Drop(usize),
}

/// Finds the ends of records.
#[derive(Clone, Debug)]
pub struct Cutter(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Lines,
    Quoted(Quoted),
    Values(Values),
}

impl Cutter {
    /// The cutter of a format. `dialect` is that of tables, or what stands between their values: their records have lines
    /// in quotes.
    #[must_use]
    pub fn new(format: Format, dialect: impl Into<Dialect>) -> Cutter {
        Cutter(match format {
            Format::Csv | Format::Tsv | Format::PostgresCsv => {
                Kind::Quoted(Quoted::new(dialect.into()))
            }
            Format::Json => Kind::Values(Values::new(Shape::Bare)),
            Format::JsonArray => Kind::Values(Values::new(Shape::Array)),
            Format::CloudTrail => Kind::Values(Values::new(Shape::Within(&["Records", "records"]))),
            Format::OtlpJson => Kind::Values(Values::new(Shape::Within(&[
                "resourceLogs",
                "resource_logs",
            ]))),
            _ => Kind::Lines,
        })
    }

    /// Whether records are lines, so that the ends of lines are all that there is to find.
    #[must_use]
    pub fn is_of_lines(&self) -> bool {
        matches!(self.0, Kind::Lines)
    }

    /// What the next bytes, of which there is at least one, are. After anything but [`Cut::More`], the
    /// bytes after those that were named are to be given next.
    pub fn cut(&mut self, bytes: &[u8]) -> Cut {
        match &mut self.0 {
            Kind::Lines => match memchr::memchr(b'\n', bytes) {
                Some(at) => Cut::End(at + 1),
                None => Cut::More,
            },
            Kind::Quoted(quoted) => quoted.cut(bytes),
            Kind::Values(values) => values.cut(bytes),
        }
    }

    /// Whether the record that is being cut goes beyond its first line only because a quote was opened
    /// there: if it never ends, its first line is to be taken for a record, and the rest given again.
    #[must_use]
    pub fn is_in_quotes(&self) -> bool {
        matches!(&self.0, Kind::Quoted(quoted) if quoted.is_in_quotes())
    }

    /// The record is given up: what is given next begins another.
    pub fn begin_again(&mut self) {
        match &mut self.0 {
            Kind::Lines => {}
            Kind::Quoted(quoted) => quoted.begin_again(),
            Kind::Values(values) => values.begin_again(),
        }
    }
}
