//! Reads the inputs one after another, identifies their sources, and passes batches of records to the parsers in turn.

use std::sync::mpsc::SyncSender;

use canter_formats::Format;

use super::run::Plan;
use super::standing::{Position, fingerprint};
use crate::error::{BuildError, ErrorKind};
use crate::input::source::{
    Identities, Identity, InputPlace, ReadAhead, RecordBatch, RecordReader, Source, SourceRead,
};

/// A batch of records with its position.
pub(super) type PlacedBatch = (Position, RecordBatch);

/// Result of reading a source.
pub(super) enum Came {
    Read(Box<Said>, Option<SourceRead>),
    Gone,
    /// It is part of a pattern, a folder or an archive, and is not a readable log, or the index would store nothing of
    /// it.
    NoLog(BuildError),
}

/// Facts about a source from its reader.
pub(super) struct Said {
    pub(super) format: Format,
    pub(super) times: Option<String>,
    pub(super) num_late_lines: u64,
    pub(super) note: Option<String>,
    pub(super) waiting: Option<String>,
    /// True if it was read completely.
    pub(super) is_taken: bool,
}

impl Said {
    fn of(records: &RecordReader, note: Option<String>, is_taken: bool) -> Box<Said> {
        Box::new(Said {
            format: records.format(),
            times: records.times(),
            num_late_lines: records.num_late_lines(),
            waiting: records.waiting().map(str::to_owned),
            note,
            is_taken,
        })
    }
}

/// State of reading.
struct Reading<'r> {
    parsers: &'r [SyncSender<PlacedBatch>],
    next_parser: usize,
    /// Batches before this position are in splits.
    resume_at: Option<Position>,
    /// Fingerprint of the previous inputs.
    before: u64,
    identities: Identities<'r>,
    /// True if records of the current input that were not known before are in splits, or on the way there.
    has_given: bool,
}

/// Result of passing batches on.
enum Given {
    All,
    /// The receivers have ended.
    Unwanted,
    /// The input has changed since an interrupted run read it.
    Changed,
}

/// Passes batches to the parsers in turn, from `resume_at` on. `None` if the input does not reach that position.
///
/// An input that has changed since it was ingested and cannot be read again, or while it was read, only fails itself,
/// unless there is no other. It fails all if new records of it were passed on before: once published, they would be
/// there twice, because the next run reads the replacement as a new source.
pub(super) fn read(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    resume_at: Option<Position>,
    parsers: &[SyncSender<PlacedBatch>],
) -> Result<Option<Vec<Came>>, BuildError> {
    let mut all_read = Vec::with_capacity(sources.len());
    let objects = sources.iter().filter_map(Source::as_object).cloned();
    let mut ahead = ReadAhead::start(objects.collect())?;
    let mut reading = Reading {
        parsers,
        next_parser: 0,
        resume_at,
        before: 0,
        identities: Identities::new(plan.ledger, plan.settings),
        has_given: false,
    };
    let (mut failure, mut num_failed) = (None, 0);
    for (source_ord, source) in sources.into_iter().enumerate() {
        let input_place = InputPlace::of(&source);
        let (is_found, is_in_memory) = (source.is_found(), source.is_in_memory());
        let mut records = match open(plan, source, source_ord, &mut ahead) {
            Ok(Some(records)) => records,
            Ok(None) => {
                all_read.push(Came::Gone);
                continue;
            }
            // It was not named explicitly, or concerns no other input.
            Err(error)
                if is_found && error.kind() == ErrorKind::Invalid
                    || error.is_of_replaced_input() =>
            {
                all_read.push(Came::NoLog(error));
                continue;
            }
            Err(error) => return Err(error),
        };
        match reading.read_input(input_place, &mut records) {
            Ok((Given::All, came)) => all_read.push(came),
            Ok((Given::Unwanted, _)) => return Ok(Some(all_read)),
            Ok((Given::Changed, _)) => return Ok(None),
            Err(error) if is_found && records.is_misfit() => {
                all_read.push(Came::NoLog(error));
                continue;
            }
            Err(error) if error.is_of_replaced_input() && reading.has_given => {
                return Err(half_read(&error));
            }
            // Positions in later inputs are as if it were not there.
            Err(error) if error.is_of_replaced_input() => {
                all_read.push(Came::NoLog(error));
                continue;
            }
            // Lines in memory were acknowledged to a client: they must not count as ingested.
            Err(error) if records.is_another() && !is_in_memory => {
                let said = Said::of(&records, Some(error.to_string()), false);
                all_read.push(Came::Read(said, None));
                failure.get_or_insert(error);
                num_failed += 1;
            }
            Err(error) => return Err(error),
        }
        plan.meter.add(&plan.meter.tally.num_inputs, 1);
    }
    let is_log = |came: &&Came| !matches!(came, Came::NoLog(_));
    match failure {
        Some(failure) if num_failed == all_read.iter().filter(is_log).count() => Err(failure),
        _ => Ok(reading.resume_at.is_none().then_some(all_read)),
    }
}

/// Returns the failure of an ingest by an input that was replaced after records of it were read.
fn half_read(error: &BuildError) -> BuildError {
    BuildError::unavailable(format!(
        "{error}; records of it had been read before, so nothing was published"
    ))
}

/// Opens a source; `None` if it does not exist any more.
fn open(
    plan: &Plan<'_>,
    source: Source,
    source_ord: usize,
    ahead: &mut ReadAhead,
) -> Result<Option<RecordReader>, BuildError> {
    let object = match source.as_object() {
        None if source.is_gone() => return Ok(None),
        None => None,
        Some(_) => match ahead.next()? {
            None => return Ok(None),
            object => object,
        },
    };
    let num_stored_bytes = plan.meter.tally.num_stored_bytes.clone();
    let input = source.open_with(object, num_stored_bytes, plan.settings)?;
    RecordReader::new(input, source_ord, plan.settings).map(Some)
}

impl Reading<'_> {
    fn read_input(
        &mut self,
        place: InputPlace,
        records: &mut RecordReader,
    ) -> Result<(Given, Came), BuildError> {
        self.has_given = false;
        let note = match self.identities.identify(&place, records)? {
            Identity::Left(why) => {
                self.before = fingerprint(self.before, records.so_far());
                return Ok((
                    Given::All,
                    Came::Read(Said::of(records, Some(why), false), None),
                ));
            }
            Identity::Source(known) => records.is_source(known),
        };
        let given = self.give(records)?;
        self.before = fingerprint(self.before, records.so_far());
        let said = Said::of(records, note, true);
        let read = records.finish()?;
        if let Some(read) = &read {
            self.identities.note(place, &records.known_by(), read);
        }
        Ok((given, Came::Read(said, read)))
    }

    fn give(&mut self, records: &mut RecordReader) -> Result<Given, BuildError> {
        let source_ord = records.source_ord();
        loop {
            let so_far = records.so_far();
            let Some(batch) = records.next_batch()? else {
                return Ok(Given::All);
            };
            self.has_given |= batch.has_new();
            let place = Position::new(source_ord, batch.first_record, self.before, so_far);
            match self.resume_at {
                Some(wanted) if place == wanted => self.resume_at = None,
                Some(wanted) if place.is_beyond(&wanted) => return Ok(Given::Changed),
                // Its documents are in splits.
                Some(_) => continue,
                None => {}
            }
            let parser = self.parsers.get(self.next_parser % self.parsers.len());
            self.next_parser += 1;
            if parser.is_none_or(|parser| parser.send((place, batch)).is_err()) {
                return Ok(Given::Unwanted);
            }
        }
    }
}
