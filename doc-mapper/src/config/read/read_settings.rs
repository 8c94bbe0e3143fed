//! Reader of the settings besides the doc mapping.

use crate::config::read::node::{MapReader, Node, NodeValue, Result};
use crate::config::{
    IndexingResources, IndexingSettings, IngestSettings, MergePolicy, OnError, RetentionPolicy,
    SearchSettings, TermLimits, units,
};

/// Upper limits of `max_doc_terms` and `max_doc_term_bytes`: the capacity of a tantivy segment.
const MAX_DOC_TERMS: u64 = 20_000_000;
const MAX_DOC_TERM_BYTES: u64 = 512 << 20;

pub(in crate::config) fn search_settings(node: Option<&Node>) -> Result<SearchSettings> {
    let Some(node) = node else {
        return Ok(SearchSettings::default());
    };
    let map = MapReader::new(
        node,
        "search_settings",
        "search_settings",
        &[
            "default_search_fields",
            "max_analyzed_offset",
            "fields_with_offsets",
            "max_slices_per_scroll",
        ],
    )?;
    let number = |key: &str| -> Result<Option<u32>> {
        let number = map.u64(key, 0, 1, u64::from(u32::MAX))?;
        Ok(u32::try_from(number).ok().filter(|_| map.has(key)))
    };
    Ok(SearchSettings {
        default_search_fields: map.str_list("default_search_fields")?,
        max_analyzed_offset: number("max_analyzed_offset")?,
        fields_with_offsets: map.str_list("fields_with_offsets")?,
        max_slices_per_scroll: number("max_slices_per_scroll")?,
    })
}

/// Returns the settings, and the timestamp field, which configs before 0.5 named here.
pub(in crate::config) fn indexing_settings(
    node: Option<&Node>,
) -> Result<(IndexingSettings, Option<String>)> {
    const KEYS: [&str; 12] = [
        "commit_timeout_secs",
        "docstore_blocksize",
        "docstore_compression_level",
        "split_num_docs_target",
        "merge_policy",
        "resources",
        "max_ngram_diff",
        "max_doc_terms",
        "max_doc_term_bytes",
        "rare_words",
        "timestamp_field",
        "sort_field",
    ];
    let default = IndexingSettings::default();
    let Some(node) = node else {
        return Ok((default, None));
    };
    let map = MapReader::new(node, "indexing_settings", "indexing_settings", &KEYS)?;
    let target = map.u64(
        "split_num_docs_target",
        default.split_num_docs_target,
        1,
        u64::MAX,
    )?;
    // At most 1 GiB: a block is one allocation in the reader.
    let blocksize = map.u64(
        "docstore_blocksize",
        default.docstore_blocksize as u64,
        1,
        1 << 30,
    )?;
    let settings = IndexingSettings {
        commit_timeout_secs: map.u64(
            "commit_timeout_secs",
            default.commit_timeout_secs,
            1,
            u64::MAX,
        )?,
        docstore_blocksize: usize::try_from(blocksize).unwrap_or(default.docstore_blocksize),
        docstore_compression_level: map.u64("docstore_compression_level", 1, 0, 22)? as i32,
        split_num_docs_target: target,
        merge_policy: merge_policy(map.get("merge_policy"))?,
        resources: resources(map.get("resources"))?,
        term_limits: term_limits(&map)?,
        rare_words: map.bool("rare_words", true)?,
    };
    Ok((settings, map.str("timestamp_field")?))
}

fn term_limits(map: &MapReader<'_>) -> Result<TermLimits> {
    const BYTES: &str = "max_doc_term_bytes";
    let default = TermLimits::default();
    let max_doc_term_bytes = match map.text(BYTES)? {
        None => default.max_doc_term_bytes,
        Some(text) => match units::parse_bytes(&text) {
            Ok(bytes) if (1..=MAX_DOC_TERM_BYTES).contains(&bytes) => bytes,
            Ok(bytes) => {
                let message = format!(
                    "{BYTES:?} must be between 1 and {MAX_DOC_TERM_BYTES} bytes, got {bytes}"
                );
                return Err(map.error(BYTES, message));
            }
            Err(message) => return Err(map.error(BYTES, format!("{BYTES:?}: {message}"))),
        },
    };
    Ok(TermLimits {
        max_ngram_diff: map.u64("max_ngram_diff", default.max_ngram_diff, 0, 99)?,
        max_doc_terms: map.u64("max_doc_terms", default.max_doc_terms, 1, MAX_DOC_TERMS)?,
        max_doc_term_bytes,
    })
}

fn resources(node: Option<&Node>) -> Result<IndexingResources> {
    // The last two are obsolete in Quickwit. They are accepted and have no effect, there and here.
    const KEYS: [&str; 3] = ["heap_size", "num_threads", "max_merge_write_throughput"];
    let default = IndexingSettings::default().resources;
    let Some(node) = node else { return Ok(default) };
    let map = MapReader::new(
        node,
        "indexing_settings.resources",
        "indexing_settings.resources",
        &KEYS,
    )?;
    match map.text("heap_size")? {
        None => Ok(default),
        Some(text) => {
            let heap_size = units::parse_bytes(&text)
                .map_err(|message| map.error("heap_size", format!("\"heap_size\": {message}")))?;
            Ok(IndexingResources { heap_size })
        }
    }
}

/// Keys of a merge policy of type `stable_log`.
const STABLE_LOG: [&str; 5] = [
    "type",
    "min_level_num_docs",
    "merge_factor",
    "max_merge_factor",
    "maturation_period",
];

/// Keys of a merge policy of type `limit_merge`.
const LIMIT_MERGE: [&str; 7] = [
    "type",
    "max_merge_ops",
    "merge_factor",
    "max_merge_factor",
    "maturation_period",
    "max_finalize_merge_operations",
    "max_finalize_split_num_docs",
];

fn merge_policy(node: Option<&Node>) -> Result<MergePolicy> {
    const PATH: &str = "indexing_settings.merge_policy";
    let Some(node) = node else {
        return Ok(MergePolicy::default());
    };
    let keys: Vec<&str> = match &node.value {
        NodeValue::Map(entries) => entries.iter().map(|e| e.key.as_str()).collect(),
        _ => Vec::new(),
    };
    let types = [
        ("stable_log", 0),
        ("default", 0),
        ("limit_merge", 1),
        ("no_merge", 2),
    ];
    // The type determines the allowed keys, so it is read before they are checked.
    let kind = MapReader::new(node, PATH, PATH, &keys)?.choice("type", &types, 0)?;
    let allowed: &[&str] = match kind {
        0 => &STABLE_LOG,
        1 => &LIMIT_MERGE,
        _ => &["type"],
    };
    let map = MapReader::new(node, PATH, PATH, allowed)?;
    let maturation_period = map
        .str("maturation_period")?
        .unwrap_or_else(|| "48h".to_string());
    units::parse_duration(&maturation_period)
        .map_err(|m| map.error("maturation_period", format!("\"maturation_period\": {m}")))?;
    let (merge_factor, max_merge_factor) = merge_factors(&map)?;
    Ok(match kind {
        0 => MergePolicy::StableLog {
            min_level_num_docs: map.u64("min_level_num_docs", 100_000, 0, u64::MAX)?,
            merge_factor,
            max_merge_factor,
            maturation_period,
        },
        1 => MergePolicy::LimitMerge {
            max_merge_ops: map.u64("max_merge_ops", 4, 0, u64::MAX)?,
            merge_factor,
            max_merge_factor,
            maturation_period,
            max_finalize_merge_operations: map.u64(
                "max_finalize_merge_operations",
                0,
                0,
                u64::MAX,
            )?,
            max_finalize_split_num_docs: match map.has("max_finalize_split_num_docs") {
                true => Some(map.u64("max_finalize_split_num_docs", 0, 0, u64::MAX)?),
                false => None,
            },
        },
        _ => MergePolicy::NoMerge,
    })
}

fn merge_factors(map: &MapReader<'_>) -> Result<(u64, u64)> {
    let merge_factor = map.u64("merge_factor", 10, 2, u64::MAX)?;
    let max_merge_factor = map.u64("max_merge_factor", merge_factor.max(12), 2, u64::MAX)?;
    if max_merge_factor < merge_factor {
        let message = format!(
            "\"max_merge_factor\" must be at least \"merge_factor\" ({merge_factor}), got {max_merge_factor}"
        );
        return Err(map.error("max_merge_factor", message));
    }
    Ok((merge_factor, max_merge_factor))
}

pub(in crate::config) fn ingest_settings(node: Option<&Node>) -> Result<IngestSettings> {
    let default = IngestSettings::default();
    let Some(node) = node else { return Ok(default) };
    let map = MapReader::new(
        node,
        "ingest_settings",
        "ingest_settings",
        &[
            "min_shards",
            "validate_docs",
            "on_error",
            "multiline_start",
            "time_zone",
        ],
    )?;
    let on_error = [("rejects", OnError::Rejects), ("keep", OnError::Keep)];
    Ok(IngestSettings {
        min_shards: map.u64("min_shards", default.min_shards, 1, u64::MAX)?,
        validate_docs: map.bool("validate_docs", default.validate_docs)?,
        on_error: map.choice("on_error", &on_error, default.on_error)?,
        multiline_start: map.str("multiline_start")?,
        time_zone: map.str("time_zone")?,
    })
}

pub(in crate::config) fn retention(node: Option<&Node>) -> Result<Option<RetentionPolicy>> {
    const WORDS: [&str; 5] = ["hourly", "daily", "weekly", "monthly", "yearly"];
    let Some(node) = node else { return Ok(None) };
    let map = MapReader::new(node, "retention", "retention", &["period", "schedule"])?;
    let period = map.required_str("period", "retention")?;
    units::parse_duration(&period).map_err(|m| map.error("period", format!("\"period\": {m}")))?;
    let schedule = map.str("schedule")?.unwrap_or_else(|| "hourly".to_string());
    let is_word = WORDS.contains(&schedule.trim_start_matches('@'));
    let is_cron = (5..=7).contains(&schedule.split_ascii_whitespace().count());
    if !is_word && !is_cron {
        let words = WORDS.join(", ");
        let message =
            format!("\"schedule\" must be one of {words}, or a cron expression; got {schedule:?}");
        return Err(map.error("schedule", message));
    }
    Ok(Some(RetentionPolicy { period, schedule }))
}
