//! Detection of the ends of records. A cutter gets the stream piece by piece and stores none of its bytes.

mod counted;
mod features;
mod quoted;
#[cfg(test)]
mod tests;
mod values;

use crate::recognition::dialect::Dialect;
use crate::recognition::format::Format;
use counted::Counted;
pub(crate) use counted::is_counted;
pub(crate) use features::is_collection;
use quoted::Quoted;
use values::{Shape, Values};

/// Meaning of the next bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All of them belong to the current record, which continues.
    More,
    /// The record ends after this number of bytes. Zero only if some of it was passed before.
    End(usize),
    /// This number of bytes, and the previously passed part of the record, are not a record: white
    /// space between records, brackets around them. At least one.
    Drop(usize),
}

/// Finds the ends of records.
#[derive(Clone, Debug)]
pub struct Cutter(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Lines,
    Counted(Counted),
    Quoted(Quoted),
    Values(Values),
}

impl Cutter {
    /// Creates the cutter of a format. `dialect` is that of tables, or their delimiter: their records have line breaks
    /// in quotes; and of syslog, whose records may stand behind their lengths.
    #[must_use]
    pub fn new(format: Format, dialect: impl Into<Dialect>) -> Cutter {
        let dialect = dialect.into();
        Cutter(match format {
            Format::Syslog if dialect.counts_octets => Kind::Counted(Counted::default()),
            Format::Csv | Format::Tsv | Format::PostgresCsv => Kind::Quoted(Quoted::new(dialect)),
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

    /// Returns whether records are lines, so that only line breaks have to be found.
    #[must_use]
    pub fn is_of_lines(&self) -> bool {
        matches!(self.0, Kind::Lines)
    }

    /// Returns the meaning of the next bytes, of which there is at least one. After anything but
    /// [`Cut::More`], the bytes after those that were counted must be passed next.
    pub fn cut(&mut self, bytes: &[u8]) -> Cut {
        match &mut self.0 {
            Kind::Lines => match memchr::memchr(b'\n', bytes) {
                Some(at) => Cut::End(at + 1),
                None => Cut::More,
            },
            Kind::Counted(counted) => counted.cut(bytes),
            Kind::Quoted(quoted) => quoted.cut(bytes),
            Kind::Values(values) => values.cut(bytes),
        }
    }

    /// Returns whether the current record continues beyond its first line only because a quote was opened there: if it
    /// never ends, its first line must be taken as a record, and the rest passed again.
    #[must_use]
    pub fn is_in_quotes(&self) -> bool {
        matches!(&self.0, Kind::Quoted(quoted) if quoted.is_in_quotes())
    }

    /// Abandons the record: the next bytes begin another one.
    pub fn begin_again(&mut self) {
        match &mut self.0 {
            Kind::Lines => {}
            Kind::Counted(counted) => counted.begin_again(),
            Kind::Quoted(quoted) => quoted.begin_again(),
            Kind::Values(values) => values.begin_again(),
        }
    }
}

/// Returns a record without leading and trailing NULs, which a file system leaves where a machine stopped before it
/// wrote the rest.
#[inline]
pub(crate) fn without_nuls(record: &[u8]) -> &[u8] {
    match (record.first(), record.last()) {
        (Some(0), _) | (_, Some(0)) => {
            let start = record.iter().position(|byte| *byte != 0);
            let end = record.iter().rposition(|byte| *byte != 0);
            let range = start.zip(end).map(|(start, end)| start..=end);
            range
                .and_then(|range| record.get(range))
                .unwrap_or_default()
        }
        _ => record,
    }
}
