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
/// An input that has changed since it was ingested, and cannot be read again, only fails itself, unless there is no
/// other.
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
    };
    let (mut failure, mut num_failed) = (None, 0);
    for (source_ord, source) in sources.into_iter().enumerate() {
        let input_place = InputPlace::of(&source);
        let object = match source.as_object() {
            None => None,
            Some(_) => {
                let object = ahead.next()?;
                if object.is_none() {
                    all_read.push(Came::Gone);
                    continue;
                }
                object
            }
        };
        let num_stored_bytes = plan.meter.tally.num_stored_bytes.clone();
        let (is_found, is_in_memory) = (source.is_found(), source.is_in_memory());
        let input = match source.open_with(object, num_stored_bytes, plan.settings) {
            // It was not named explicitly.
            Err(error) if is_found && error.kind() == ErrorKind::Invalid => {
                all_read.push(Came::NoLog(error));
                continue;
            }
            opened => opened?,
        };
        let mut records = RecordReader::new(input, source_ord, plan.settings)?;
        match reading.read_input(input_place, &mut records) {
            Ok((Given::All, came)) => all_read.push(came),
            Ok((Given::Unwanted, _)) => return Ok(Some(all_read)),
            Ok((Given::Changed, _)) => return Ok(None),
            Err(error) if is_found && records.is_misfit() => {
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
    match failure {
        Some(failure) if num_failed == all_read.len() => Err(failure),
        _ => Ok(reading.resume_at.is_none().then_some(all_read)),
    }
}

impl Reading<'_> {
    fn read_input(
        &mut self,
        place: InputPlace,
        records: &mut RecordReader,
    ) -> Result<(Given, Came), BuildError> {
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
