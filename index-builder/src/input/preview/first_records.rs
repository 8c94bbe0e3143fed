//! The first records of a source, and the documents made of each.

use crate::error::BuildError;
use crate::ingest::IngestOptions;
use crate::input::source::{
    Extent, ReadSettings, Record, RecordBatch, RecordReader, Source, is_blank, take_apart,
};
use crate::transform::{Outcome, Runner, on_large_stack};
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_formats::Format;
use canter_names::mend_json;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The first records of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The source's name.
    pub name: String,
    /// Its detected or given format.
    pub format: Format,
    /// Assumptions about incomplete times: year, zone, day.
    pub times: Option<String>,
    /// The records, in order.
    pub records: Vec<PreviewRecord>,
}

/// A record, and the documents made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewRecord {
    /// The number of its first line, from 1.
    pub line_num: u64,
    /// Its offset in the uncompressed source.
    pub byte_offset: u64,
    /// Its bytes; the beginning of a long one.
    pub bytes: Vec<u8>,
    /// Its documents: one, or several if a record contains them.
    pub docs: Vec<PreviewDoc>,
    /// The transform's reasons for dropping it, or documents of it.
    pub dropped: Vec<String>,
}

/// A document, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewDoc {
    /// The result of the format and the transform, before the doc mapping; null if one of them fails.
    pub json: Value,
    /// Why the doc mapping or the format refuses it: a reason in a word, and a sentence.
    pub refused: Option<(String, String)>,
}

/// Reads the first `num_records` records of a source and returns the documents that an index of
/// `config` would make of them. Writes nothing.
///
/// # Errors
/// `Invalid` for an invalid source or invalid options, `Unavailable` if the source cannot be read.
pub fn preview(
    config: &IndexConfig,
    options: &IngestOptions,
    source: Source,
    num_records: usize,
) -> Result<Preview, BuildError> {
    let look = || preview_here(config, options, source, num_records);
    match options.transform {
        Some(_) => on_large_stack(look),
        None => look(),
    }
}

fn preview_here(
    config: &IndexConfig,
    options: &IngestOptions,
    source: Source,
    num_records: usize,
) -> Result<Preview, BuildError> {
    let mapper = DocMapper::new(config)
        .map_err(|error| BuildError::invalid("the doc mapping cannot be used").caused_by(error))?;
    let settings = ReadSettings::new(options, config)?.taking_all();
    source.check()?;
    let taken = take_apart(vec![source], options.max_expansion)?;
    let Some(source) = taken.sources.into_iter().next() else {
        return Err(BuildError::invalid(taken.notes.join("; ")));
    };
    let name = source.name().to_string();
    let input = source.open(Arc::new(AtomicU64::new(0)), &settings)?;
    let mut reader = RecordReader::new(input, 0, &settings)?;
    let mut preview = Preview {
        name,
        format: reader.format(),
        times: reader.times(),
        records: Vec::new(),
    };
    let mut looker = Looker::new(&mapper, options);
    while preview.records.len() < num_records
        && let Some(batch) = reader.next_batch()?
    {
        let records = batch.iter().filter(|record| !is_skipped(record));
        for record in records.take(num_records - preview.records.len()) {
            preview.records.push(looker.look_at(&batch, &record));
        }
    }
    Ok(preview)
}

/// Returns whether an ingest skips a record, because it is blank.
pub(super) fn is_skipped(record: &Record<'_>) -> bool {
    record.extent == Extent::Whole && record.bytes.iter().all(is_blank)
}

/// Converts records to documents.
pub(super) struct Looker<'m> {
    mapper: &'m DocMapper,
    runner: Option<Runner>,
    scratch: Vec<u8>,
}

impl<'m> Looker<'m> {
    pub(super) fn new(mapper: &'m DocMapper, options: &IngestOptions) -> Looker<'m> {
        Looker {
            mapper,
            runner: options.transform.as_ref().map(Runner::new),
            scratch: Vec::new(),
        }
    }
}

impl Looker<'_> {
    pub(super) fn look_at(&mut self, batch: &RecordBatch, record: &Record<'_>) -> PreviewRecord {
        let (docs, dropped) = self.look(batch, record);
        let len = record.bytes.len().min(4096);
        PreviewRecord {
            line_num: record.line_num,
            byte_offset: record.byte_offset,
            bytes: record.bytes[..len].to_vec(),
            docs,
            dropped,
        }
    }

    /// Returns the documents of a record, and the reasons for dropped ones.
    fn look(&mut self, batch: &RecordBatch, record: &Record<'_>) -> (Vec<PreviewDoc>, Vec<String>) {
        let refused = match record.extent {
            Extent::Whole => None,
            Extent::BrokenOff => Some(("broken_off", batch.failure.clone().unwrap_or_default())),
            Extent::Shortened | Extent::Part => Some((
                "line_too_long",
                format!("the record has {} bytes", record.raw_num_bytes),
            )),
        };
        if let Some((reason, message)) = refused {
            return (vec![nothing(reason, message)], Vec::new());
        }
        let (mut docs, mut dropped) = (Vec::new(), Vec::new());
        let (mapper, runner) = (self.mapper, &mut self.runner);
        batch
            .layout
            .parse(record.bytes, &mut self.scratch, &mut |json| {
                let json = match json {
                    Ok(json) => batch.path_fields.add_to(json),
                    Err(failure) => {
                        return docs.push(nothing(failure.reason, failure.message));
                    }
                };
                let Some(runner) = runner else {
                    return docs.push(shown(mapper, &json));
                };
                match runner.run(&json) {
                    Outcome::Docs(made) => {
                        docs.extend(made.into_iter().map(|doc| shown(mapper, doc)))
                    }
                    Outcome::Dropped(why) => dropped.push(why),
                    Outcome::Refused(reason, message) => docs.push(nothing(reason, message)),
                    Outcome::Unread(reason, message) => {
                        let doc = shown(mapper, &json);
                        docs.push(PreviewDoc {
                            refused: doc.refused.or(Some((reason.to_string(), message))),
                            ..doc
                        });
                    }
                }
            });
        (docs, dropped)
    }
}

fn shown(mapper: &DocMapper, json: &[u8]) -> PreviewDoc {
    let refused = mapper.parse_doc(json).err();
    let mended = mend_json(json);
    PreviewDoc {
        json: serde_json::from_slice(mended.as_deref().unwrap_or(json)).unwrap_or(Value::Null),
        refused: refused.map(|error| (error.reason().as_str().to_string(), error.to_string())),
    }
}

fn nothing(reason: &str, message: String) -> PreviewDoc {
    PreviewDoc {
        json: Value::Null,
        refused: Some((reason.to_string(), message)),
    }
}
