//! Settings for reading sources, from an ingest and its index.

use super::decoding::Decoding;
use super::opened::{Input, day_of};
#[cfg(feature = "parquet")]
use super::parquet::Wanted;
use super::path_fields::{PathFields, PathKind};
use super::reading::fit::Fit;
use crate::error::BuildError;
use crate::ingest::IngestOptions;
use canter_doc_mapper::config::OnError;
use canter_doc_mapper::{FieldKind, IndexConfig, Mode};
use canter_formats::{Format, Hints, MonthDay, ValueKind, Zone};
use regex::bytes::Regex;
use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

/// Settings for finding and parsing the records of every source of an ingest.
#[derive(Clone, Debug)]
pub(crate) struct ReadSettings {
    /// The format, if given.
    pub(super) format: Option<Format>,
    pub(super) max_record_num_bytes: usize,
    /// Maximum expansion of compressed sources.
    max_expansion: u64,
    /// The byte between values of tables, if given.
    pub(super) delimiter: Option<u8>,
    #[cfg(feature = "parquet")]
    pub(super) max_parquet_num_bytes: u64,
    /// True to return a record over the limit in parts, so that nothing is lost.
    pub(crate) keeps_all: bool,
    /// True to take the last record of a file even if nothing ends it.
    takes_open: bool,
    /// Expression for the first line of a record, if records have several lines.
    pub(super) multiline_start: Option<Regex>,
    hints: Hints,
    pub(super) fit: Fit,
    /// The fields that the index stores.
    #[cfg(feature = "parquet")]
    pub(super) wanted: Wanted,
    /// Fields that paths may supply: with a kind, those of the mapping; others only in dynamic mode.
    mapped: BTreeMap<String, PathKind>,
    takes_others: bool,
}

/// Returns the day of an ingest, if given, which replaces a missing modification time.
fn day_of_ingest(options: &IngestOptions) -> Option<MonthDay> {
    let since = Duration::from_millis(options.ingested_at_ms);
    (!since.is_zero()).then(|| day_of(UNIX_EPOCH + since))?
}

/// Returns the zone with a name.
///
/// # Errors
/// `Invalid` if there is no zone with this name.
pub(crate) fn zone_named(name: &str) -> Result<Zone, BuildError> {
    Zone::parse(name).ok_or_else(|| {
        BuildError::invalid(format!(
            "there is no time zone `{name}` (`ingest_settings.time_zone` of the index config): write a name such as \
             Europe/Berlin, or an offset such as +02:00"
        ))
    })
}

impl ReadSettings {
    pub(crate) fn new(
        options: &IngestOptions,
        config: &IndexConfig,
    ) -> Result<ReadSettings, BuildError> {
        let rule = options
            .multiline_start
            .as_ref()
            .or(config.ingest_settings.multiline_start.as_ref());
        let multiline_start = rule.map(|rule| Regex::new(rule)).transpose();
        let multiline_start = multiline_start.map_err(|error| {
            BuildError::invalid("multiline_start is no regular expression").caused_by(error)
        })?;
        let zone = match (&options.zone, &config.ingest_settings.time_zone) {
            (Some(zone), _) => zone.clone(),
            (None, Some(name)) => zone_named(name)?,
            (None, None) => Zone::default(),
        };
        let fields = config.doc_mapping.field_mappings.iter();
        let fields = fields.filter_map(|field| {
            let kind = match &field.kind {
                FieldKind::Text(_) | FieldKind::GeoPoint(_) => ValueKind::Text,
                FieldKind::Date(_) | FieldKind::Ip | FieldKind::Bytes(_) => ValueKind::Word,
                FieldKind::I64(_) | FieldKind::U64(_) | FieldKind::F64(_) | FieldKind::Bool => {
                    ValueKind::Bare
                }
                FieldKind::Json(_)
                | FieldKind::Range(_)
                | FieldKind::Vector(_)
                | FieldKind::Object(_)
                | FieldKind::Concatenate(_) => return None,
            };
            Some((field.name.clone(), kind))
        });
        let mapped = config.doc_mapping.field_mappings.iter();
        let mapped = mapped.map(|field| (field.name.clone(), PathKind::of(&field.kind)));
        Ok(ReadSettings {
            #[cfg(feature = "parquet")]
            // A program may read fields that the index does not store.
            wanted: match options.transform {
                Some(_) => Wanted::of_all(config),
                None => Wanted::of(config),
            },
            mapped: mapped.collect(),
            takes_others: config.doc_mapping.mode == Mode::Dynamic,
            format: options.format,
            max_record_num_bytes: options.max_line_num_bytes,
            max_expansion: options.max_expansion,
            delimiter: options.delimiter,
            #[cfg(feature = "parquet")]
            max_parquet_num_bytes: options.max_parquet_num_bytes,
            keeps_all: config.ingest_settings.on_error == OnError::Keep,
            takes_open: options.is_final,
            multiline_start,
            fit: Fit::of(config, options.transform.is_some()),
            hints: Hints {
                fields: fields.collect(),
                columns: options.columns.clone(),
                ended: day_of_ingest(options),
                year: options.year,
                zone,
            },
        })
    }

    /// Returns the settings for one source. Lines of documents ignore the settings for other sources.
    pub(super) fn for_source(&self, input: &Input) -> ReadSettings {
        let mut settings = self.clone();
        if input.has_document_lines {
            settings.format = Some(Format::Ndjson);
            settings.multiline_start = None;
            // The length of a document was checked before it was accepted, and it is in memory.
            settings.max_record_num_bytes = usize::MAX;
        }
        settings
    }

    /// Returns the settings for a preview of a source: the last record is taken even if it is incomplete.
    pub(crate) fn taking_all(&self) -> ReadSettings {
        ReadSettings {
            takes_open: true,
            ..self.clone()
        }
    }

    /// Returns whether the last record of a file is taken even if nothing ends it.
    pub(super) fn takes_open(&self) -> bool {
        self.takes_open
    }

    /// Returns the hints for one source.
    pub(super) fn hints(&self, input: &Input) -> Hints {
        Hints {
            ended: input.ended.or(self.hints.ended),
            ..self.hints.clone()
        }
    }

    /// Returns the settings for decoding.
    pub(super) fn decoding(&self) -> Decoding {
        Decoding {
            max_expansion: self.max_expansion,
            is_text: self.format.is_some(),
        }
    }

    /// Returns whether no other format is given.
    pub(super) fn may_be_parquet(&self) -> bool {
        self.format.is_none_or(|format| format == Format::Parquet)
    }

    /// Returns the fields that a source's path supplies to its documents, among those that the index stores.
    pub(super) fn path_fields(&self, input: &Input) -> PathFields {
        let taken = input.path_fields.iter().filter_map(|(name, value)| {
            let kind = self.mapped.get(name).copied();
            let kind = kind.or(self.takes_others.then_some(PathKind::Text))?;
            Some((name.clone(), kind, value.clone()))
        });
        PathFields::new(taken)
    }
}
