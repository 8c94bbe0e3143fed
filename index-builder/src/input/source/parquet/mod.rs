//! Parquet as lines of JSON, one per row: row groups and column chunks are read by range, and only the columns that
//! the index stores.
//!
//! A file that cannot be read to its end breaks off like any other input; the rows before are taken. So does one that
//! would take too much memory: see `bounded.rs`.

mod bounded;
mod intervals;
mod object;
mod page_header;
mod tables;
mod texts;
mod value;
mod views;
mod wanted;
mod watched;

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use canter_split_format::checksum64;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::LogicalType;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use bounded::{Bounded, Ledger};
use intervals::{int96_of, intervals_of};
pub(super) use object::ObjectRanges;
pub use tables::ArrowTables;
use value::RowWriter;
use views::with_views;
pub(super) use wanted::Wanted;
use watched::{Failure, Watched};

/// Minimum number of bytes of lines that are written at once.
const LINES_NUM_BYTES: usize = 1 << 20;

/// Memory limits of reading a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParquetLimits {
    /// Maximum number of decompressed bytes of pages in memory.
    pub(super) max_pages_num_bytes: u64,
    /// Maximum length of a line: a longer one may be cut, because only its excess matters; without it, all lines are
    /// complete.
    pub(super) max_line_num_bytes: Option<usize>,
}

/// Rows as lines of JSON.
pub(super) struct ParquetLines {
    rows: Rows,
    lines: Vec<u8>,
    /// Number of bytes of `lines` that were read.
    place: usize,
    /// Identifies the file: it never grows, and its footer contains the positions of everything in it.
    footer_checksum: u64,
    /// All names in the file, including columns that are not read.
    column_names: Vec<String>,
    /// The reason why the file could not be read, if it is not damaged.
    failure: Failure,
}

enum Rows {
    Open(Box<Columns>),
    /// Reported once.
    Broken(Option<io::Error>),
    Ended,
}

struct Columns {
    batches: ParquetRecordBatchReader,
    /// Decoded rows, and the number of them that are lines already.
    batch: Option<(RecordBatch, usize)>,
    ledger: Ledger,
    max_line_num_bytes: Option<usize>,
    wanted: Wanted,
    special: Special,
}

impl ParquetLines {
    /// Opens a file, and reads its footer.
    pub(super) fn open<R: ChunkReader + 'static>(
        file: R,
        wanted: &Wanted,
        limits: ParquetLimits,
    ) -> ParquetLines {
        let failure = Failure::default();
        let file = Watched {
            inner: file,
            failure: failure.clone(),
        };
        let opened = guarded(|| {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let metadata = ArrowReaderMetadata::load(&file, options).map_err(invalid)?;
            let checksum = checksum_of(metadata.metadata());
            let schema = metadata.metadata().file_metadata().schema_descr();
            let roots = schema.root_schema().get_fields().iter();
            let names = roots.map(|field| field.name().to_owned()).collect();
            let known_as = Special::of(metadata.metadata());
            let metadata = with_views(&metadata)?;
            let ledger = Ledger::new(metadata.metadata(), limits.max_pages_num_bytes);
            let file = Bounded {
                inner: file,
                ledger: ledger.clone(),
                failure: failure.clone(),
            };
            let batches = batches(file, metadata.clone(), wanted, ledger.batch_num_rows())?;
            let columns = Columns {
                batches,
                batch: None,
                ledger,
                max_line_num_bytes: limits.max_line_num_bytes,
                wanted: wanted.clone(),
                special: known_as,
            };
            Ok((Rows::Open(Box::new(columns)), checksum, names))
        });
        let (rows, footer_checksum, column_names) = opened.unwrap_or_else(|error| {
            let error = failure.take().unwrap_or(error);
            (Rows::Broken(Some(error)), 0, Vec::new())
        });
        ParquetLines {
            rows,
            lines: Vec::new(),
            place: 0,
            footer_checksum,
            column_names,
            failure,
        }
    }

    /// Returns the checksum that identifies the file; 0 for one without a footer.
    pub(super) fn footer_checksum(&self) -> u64 {
        self.footer_checksum
    }

    /// Returns the names of all columns; none for a file without a footer.
    pub(super) fn column_names(&self) -> &[String] {
        &self.column_names
    }

    /// Writes the lines of the next rows; returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.lines.clear();
        self.place = 0;
        let columns = match &mut self.rows {
            Rows::Open(columns) => columns,
            Rows::Broken(error) => {
                return error.take().map_or(Ok(false), Err);
            }
            Rows::Ended => return Ok(false),
        };
        let lines = &mut self.lines;
        let filled = guarded(|| columns.fill(lines));
        match filled {
            Ok(true) => {}
            Ok(false) => self.rows = Rows::Ended,
            Err(_) => {
                self.rows = Rows::Broken(None);
                // Half a batch would be taken for all of it.
                self.lines.clear();
            }
        }
        filled.map_err(|error| self.failure.take().unwrap_or(error))
    }
}

impl Columns {
    /// Writes the lines of some rows, decoding more if there are none left; returns false at the end.
    fn fill(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        let (batch, mut row) = match self.batch.take() {
            Some(rest) => rest,
            None => {
                self.ledger.begin_batch();
                let Some(batch) = self.batches.next() else {
                    return Ok(false);
                };
                (batch.map_err(invalid)?, 0)
            }
        };
        let max = self.max_line_num_bytes;
        let writer = writer_of(&batch, &self.wanted, &self.special, max)?;
        while row < batch.num_rows() && lines.len() < LINES_NUM_BYTES {
            writer.write(row, lines);
            lines.push(b'\n');
            row += 1;
        }
        drop(writer);
        if row < batch.num_rows() {
            self.batch = Some((batch, row));
        }
        Ok(true)
    }
}

impl Read for ParquetLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.place == self.lines.len() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        let rest = self.lines.get(self.place..).unwrap_or_default();
        let len = rest.len().min(out.len());
        if let (Some(out), Some(rest)) = (out.get_mut(..len), rest.get(..len)) {
            out.copy_from_slice(rest);
        }
        self.place += len;
        Ok(len)
    }
}

fn batches<R: ChunkReader + 'static>(
    file: R,
    metadata: ArrowReaderMetadata,
    wanted: &Wanted,
    batch_num_rows: usize,
) -> io::Result<ParquetRecordBatchReader> {
    let schema = metadata.metadata().file_metadata().schema_descr_ptr();
    let roots = schema.root_schema().get_fields().iter().enumerate();
    let roots = roots.filter(|(_, field)| wanted.takes(field.name()));
    let roots: Vec<usize> = roots.map(|(ord, _)| ord).collect();
    ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_projection(ProjectionMask::roots(&schema, roots))
        .with_batch_size(batch_num_rows)
        .build()
        .map_err(invalid)
}

fn writer_of<'b>(
    batch: &'b RecordBatch,
    wanted: &Wanted,
    special: &Special,
    max_num_bytes: Option<usize>,
) -> io::Result<RowWriter<'b>> {
    let max_num_bytes = max_num_bytes.unwrap_or(usize::MAX);
    RowWriter::of_batch(batch, wanted, special, max_num_bytes)
        .map_err(|message| io::Error::new(io::ErrorKind::InvalidData, message))
}

/// Returns a checksum of the positions and statistics of the column chunks: no two separately written files have the
/// same by chance.
fn checksum_of(metadata: &ParquetMetaData) -> u64 {
    let mut all = Vec::new();
    for group in metadata.row_groups() {
        let numbers = [group.num_rows(), group.total_byte_size()];
        all.extend(numbers.into_iter().flat_map(i64::to_le_bytes));
        for column in group.columns() {
            let (start, len) = column.byte_range();
            all.extend([start, len].into_iter().flat_map(u64::to_le_bytes));
            all.extend_from_slice(column.column_path().string().as_bytes());
            all.extend_from_slice(format!("{:?}", column.statistics()).as_bytes());
        }
    }
    checksum64(&all)
}

/// Byte columns with a special meaning.
#[derive(Debug, Default)]
struct Special {
    /// Paths of columns with UUIDs.
    uuids: Vec<String>,
    /// Paths of columns with intervals.
    intervals: Vec<String>,
    /// Paths of columns with INT96.
    int96: Vec<String>,
}

impl Special {
    fn of(metadata: &ParquetMetaData) -> Special {
        let columns = metadata.file_metadata().schema_descr().columns().iter();
        let uuids = columns.filter(|column| column.logical_type_ref() == Some(&LogicalType::Uuid));
        Special {
            uuids: uuids.map(|column| column.path().string()).collect(),
            intervals: intervals_of(metadata),
            int96: int96_of(metadata),
        }
    }
}

fn invalid(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

/// Converts a panic of the library into an error of the file.
fn guarded<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(invalid("its pages are damaged")))
}

#[cfg(test)]
mod tests;
