//! What texts that are not mapped are: dates, numbers, or neither.

use canter_doc_mapper::IndexConfig;
use serde_json::{Map, Value};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::fields::dates::input_formats;
use crate::mappings::options::Options;

/// What texts that are not mapped are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::mappings) struct Detection {
    pub(in crate::mappings) dates_as_texts: bool,
    pub(in crate::mappings) texts_as_numbers: bool,
}

impl Detection {
    /// Returns what the config of an index says.
    pub(in crate::mappings) fn of(config: &IndexConfig) -> Self {
        Self {
            dates_as_texts: config.doc_mapping.dates_as_texts,
            texts_as_numbers: config.doc_mapping.texts_as_numbers,
        }
    }

    /// Writes it into the `doc_mapping` of a config.
    pub(in crate::mappings) fn write(self, doc_mapping: &mut Value) {
        for (key, is_on) in [
            ("dates_as_texts", self.dates_as_texts),
            ("texts_as_numbers", self.texts_as_numbers),
        ] {
            if is_on {
                doc_mapping[key] = true.into();
            }
        }
    }

    /// Checks that a mapping that is added to an index says nothing else than the index.
    ///
    /// # Errors
    /// It says something else.
    pub(in crate::mappings) fn check_same(
        self,
        before: Self,
        mapping: &Map<String, Value>,
    ) -> Result<()> {
        let options = [
            "date_detection",
            "numeric_detection",
            "dynamic_date_formats",
        ];
        let given = options.iter().find(|key| mapping.contains_key(**key));
        match given.filter(|_| self != before) {
            None => Ok(()),
            Some(key) => Err(MappingError::illegal(format!(
                "Cannot update parameter [{key}]: documents would have two meanings; create an index with it"
            ))),
        }
    }

    /// Takes the options about it.
    pub(in crate::mappings) fn take(options: &mut Options) -> Result<Self> {
        let mut detection = Self {
            dates_as_texts: !options.flag("date_detection", true)?,
            texts_as_numbers: options.flag("numeric_detection", false)?,
        };
        let Some(formats) = options.take("dynamic_date_formats") else {
            return Ok(detection);
        };
        let names = formats.as_array().map_or(&[][..], Vec::as_slice);
        let alternatives = names.iter().filter_map(Value::as_str);
        let mut are_usual = true;
        for format in alternatives {
            input_formats(Some(format), "dynamic_date_formats")?;
            are_usual &= format.ends_with("date_optional_time");
        }
        // A text of another format is mapped as a date with its first document.
        detection.dates_as_texts |= names.is_empty() || !are_usual;
        Ok(detection)
    }
}
