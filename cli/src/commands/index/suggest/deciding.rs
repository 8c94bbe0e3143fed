//! Automatic index configs, derived from the inputs as `canter index suggest` does.

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, Suggestion, sample, suggest};

use crate::exit::{WrongUse, note};
use crate::render::{clean_text, numbers};

/// A config that accepts anything, for sampling.
const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";
/// Default number of records to sample.
pub(crate) const NUM_SAMPLED: u32 = 1_000;
/// Maximum number of default search fields that are named.
const MAX_NAMED: usize = 6;

/// The decision on a config.
pub(crate) struct Decision {
    pub(crate) config: IndexConfig,
    /// The complete inputs.
    pub(crate) sources: Vec<Source>,
    suggestion: Suggestion,
}

/// Samples about `num_records` records from all parts of the inputs, and suggests a config for them. Also returns the
/// inputs: the beginning of one that can be read only once is put back.
pub(crate) fn look_at(
    sources: Vec<Source>,
    options: &IngestOptions,
    index_id: &str,
    num_records: u32,
) -> Result<(Suggestion, Vec<Source>)> {
    let sizes = sources.iter().map(Source::stored_num_bytes);
    let num_stored_bytes = sizes.sum::<Option<u64>>();
    let any = IndexConfig::from_yaml(ANY, |_| None)?;
    let sampled = sample(&any, options, sources, num_records as usize)?;
    let suggestion = suggest(&sampled.samples, index_id, num_stored_bytes);
    Ok((suggestion, sampled.sources))
}

/// Decides on a config for inputs.
pub(crate) fn decide(
    sources: Vec<Source>,
    options: &IngestOptions,
    index_id: &str,
) -> Result<Decision> {
    let (suggestion, sources) = look_at(sources, options, index_id, NUM_SAMPLED)?;
    if suggestion.num_docs == 0 && suggestion.refused.is_none() {
        return Err(WrongUse(
            "the inputs hold no documents from which an index could be made: name others, or a config with \
             --index-config or --preset"
                .into(),
        )
        .into());
    }
    if let (0, true, Some(why)) = (
        suggestion.num_docs,
        suggestion.is_too_long && suggestion.formats.iter().all(|format| format.is_json()),
        &suggestion.refused,
    ) {
        let message = format!(
            "the inputs are JSON, and no sampled document is short enough ({}): allow longer ones with --max-line-bytes",
            clean_text(why)
        );
        return Err(WrongUse(message).into());
    }
    let config = IndexConfig::from_yaml(&suggestion.yaml, |_| None)
        .context("the config that was made for the inputs cannot be used; please report this")?;
    Ok(Decision {
        config,
        sources,
        suggestion,
    })
}

impl Decision {
    /// Returns the path of the timestamp field.
    pub(crate) fn timestamp_field(&self) -> Option<&str> {
        self.suggestion.timestamp_field.as_deref()
    }

    /// Prints the decision in a few lines.
    pub(crate) fn tell(&self, uri: &str) {
        let Suggestion {
            num_docs,
            formats,
            timestamp_field,
            searched_fields,
            refused,
            times,
            ..
        } = &self.suggestion;
        let formats: Vec<&str> = formats.iter().map(|format| format.name()).collect();
        let named = searched_fields.iter().take(MAX_NAMED);
        let mut words = named
            .map(|name| clean_text(name))
            .collect::<Vec<_>>()
            .join(", ");
        if searched_fields.len() > MAX_NAMED {
            words.push_str(&format!(" and {} more", searched_fields.len() - MAX_NAMED));
        }
        note(format_args!(
            "new index `{}` at {uri}, as {} of the input suggest:",
            self.config.index_id,
            numbers::counted(*num_docs, "document"),
        ));
        note(format_args!("  format             {}", formats.join(", ")));
        if let (0, Some(why)) = (num_docs, refused) {
            note(format_args!(
                "                     no sampled record is of it ({}): all that are not are kept as lines of text",
                clean_text(why)
            ));
            words = "_raw".to_owned();
        }
        note(format_args!(
            "  time field         {}",
            timestamp_field
                .as_deref()
                .map_or_else(|| "none found".into(), clean_text)
        ));
        for said in times {
            note(format_args!("                     {}", clean_text(said)));
        }
        note(format_args!("  words are found in {words}"));
        note("  `canter index suggest` prints the whole config, to be changed");
    }
}

/// Returns a name for the index at a URI: the last part of the URI, restricted to valid characters.
pub(crate) fn index_id_of(uri: &str) -> String {
    const MAX_LEN: usize = 255;
    let last = uri
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let mut id: String = last
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') => c,
            _ => '-',
        })
        .take(MAX_LEN - "index-".len())
        .collect();
    if !id.starts_with(|c: char| c.is_ascii_alphabetic()) || id.len() < 3 {
        id.insert_str(0, "index-");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_called_as_its_folder() {
        for (uri, id) in [
            ("./logs", "logs"),
            ("s3://bucket/web-logs/", "web-logs"),
            ("./2024 März", "index-2024-M-rz"),
            (".", "index--"),
            ("/", "index-"),
            ("a", "index-a"),
        ] {
            assert_eq!(index_id_of(uri), id, "{uri}");
            let yaml = format!("{{version: 0.8, index_id: {id}}}");
            assert!(IndexConfig::from_yaml(&yaml, |_| None).is_ok(), "{id}");
        }
    }
}
