//! Check that an index stores more of a source's documents than their time. Lenient mode drops everything else
//! silently: a layout other than the mapping's would be lost without an error.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use canter_doc_mapper::{IndexConfig, Mode, split_path};
use canter_formats::Format;
use canter_formats::presets::preset_of;
use serde::de::IgnoredAny;

use super::batch::{Extent, RecordBatch};
use crate::error::BuildError;

/// Number of records of a source that are examined.
const MAX_RECORDS: usize = 50;
/// Maximum number of names that are shown of either side.
const MAX_SHOWN: usize = 6;

/// The fields that an index stores.
#[derive(Clone, Debug)]
pub(in crate::input::source) struct Fit(Option<Arc<Taken>>);

#[derive(Debug)]
struct Taken {
    names: BTreeSet<String>,
    timestamp: Option<String>,
}

impl Fit {
    /// Creates the check for an index that only stores mapped fields. `is_read_by_another` is true if a program
    /// transforms records, so that their fields prove nothing.
    pub(in crate::input::source) fn of(config: &IndexConfig, is_read_by_another: bool) -> Fit {
        let mapping = &config.doc_mapping;
        let keeps_all = mapping.mode != Mode::Lenient || mapping.store_source || is_read_by_another;
        let timestamp = mapping.timestamp_field.as_deref();
        let timestamp = timestamp.and_then(|path| split_path(path).into_iter().next());
        let names = mapping
            .field_mappings
            .iter()
            .map(|field| field.name.clone());
        let names: BTreeSet<String> = names.collect();
        let has_others = names.iter().any(|name| Some(name) != timestamp.as_ref());
        let taken = (!keeps_all && has_others).then_some(Taken { names, timestamp });
        Fit(taken.map(Arc::new))
    }

    /// Examines the first records of a source.
    ///
    /// # Errors
    /// `Invalid` if the index stores nothing but the time of most of them; the message names the mapped fields.
    pub(in crate::input::source) fn check(
        &self,
        name: &str,
        batch: &RecordBatch,
    ) -> Result<(), BuildError> {
        let Some(taken) = &self.0 else {
            return Ok(());
        };
        let (mut num_docs, mut num_empty) = (0_usize, 0_usize);
        let mut others = BTreeSet::new();
        let mut scratch = Vec::new();
        let whole = batch.iter().filter(|record| record.extent == Extent::Whole);
        for record in whole.take(MAX_RECORDS) {
            batch.layout.parse(record.bytes, &mut scratch, &mut |json| {
                let members = json.ok().and_then(|json| {
                    serde_json::from_slice::<BTreeMap<Cow<'_, str>, IgnoredAny>>(json).ok()
                });
                // A record that is not a document is rejected, which is reported.
                let Some(members) = members else {
                    return;
                };
                let has_time = |time: &String| members.contains_key(time.as_str());
                if !taken.timestamp.as_ref().is_none_or(has_time) {
                    return;
                }
                num_docs += 1;
                let keys = members.keys().map(Cow::as_ref);
                num_empty += usize::from(taken.loses_all(keys, &mut others));
            });
        }
        if num_empty * 2 <= num_docs {
            return Ok(());
        }
        let which = format!("in {num_empty} of the first {num_docs} records");
        Err(taken.misfit(name, batch.layout.format(), &which, &others))
    }

    /// Examines the names of a file's columns.
    ///
    /// # Errors
    /// As [`Fit::check`].
    #[cfg(feature = "parquet")]
    pub(in crate::input::source) fn check_columns(
        &self,
        name: &str,
        columns: &[String],
    ) -> Result<(), BuildError> {
        let mut others = BTreeSet::new();
        match &self.0 {
            Some(taken) if taken.loses_all(columns.iter().map(String::as_str), &mut others) => {
                Err(taken.misfit(name, Format::Parquet, "in every row", &others))
            }
            _ => Ok(()),
        }
    }
}

impl Taken {
    /// Returns whether a document has fields besides its time, none of which is stored. Collects them.
    fn loses_all<'k>(
        &self,
        keys: impl Iterator<Item = &'k str>,
        others: &mut BTreeSet<String>,
    ) -> bool {
        let (mut has_any, mut is_taken) = (false, false);
        for key in keys.filter(|key| self.timestamp.as_deref() != Some(*key)) {
            has_any = true;
            is_taken |= self.names.contains(key);
            others.insert(key.to_owned());
        }
        has_any && !is_taken
    }

    fn misfit(
        &self,
        name: &str,
        format: Format,
        which: &str,
        others: &BTreeSet<String>,
    ) -> BuildError {
        let names = self
            .names
            .iter()
            .filter(|name| Some(*name) != self.timestamp.as_ref());
        let wanted = listed(names.map(String::as_str));
        let found = listed(others.iter().map(String::as_str));
        let kept = match self.timestamp {
            Some(_) => "nothing but the time",
            None => "nothing",
        };
        let preset = match preset_of(format) {
            Some(preset) => format!("`--preset {}` fits it; or write", preset.name),
            None => "write".to_owned(),
        };
        BuildError::invalid(format!(
            "`{name}` is {format}, of which this index would keep {kept}, {which}: it maps {wanted}, \
             the records have {found}, and lenient mode drops what is not mapped. {preset} a config with `canter index suggest --input {name}`"
        ))
    }
}

/// Returns some of the names.
fn listed<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let shown: Vec<&str> = names.by_ref().take(MAX_SHOWN).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => "no other field".to_owned(),
        (_, 0) => shown.join(", "),
        (_, num) => format!("{} and {num} more", shown.join(", ")),
    }
}
