//! Reader of the config from nodes: checks every key, and fills in every default.

use super::read_text::search;
use super::tokenizer::custom_tokenizers;
use crate::config::read::node::{MapReader, Node, Result};
use crate::config::read::read_field::{field_mappings, json_options};
use crate::config::read::read_settings;
use crate::config::{DocMapping, FieldKind, FieldMapping, IndexConfig, Mode, ShownSource};

const VERSIONS: [&str; 6] = ["0.4", "0.5", "0.6", "0.7", "0.8", "0.9"];

pub(in crate::config) fn index_config(node: &Node) -> Result<IndexConfig> {
    const KEYS: [&str; 8] = [
        "version",
        "index_id",
        "index_uri",
        "doc_mapping",
        "search_settings",
        "indexing_settings",
        "ingest_settings",
        "retention",
    ];
    let map = MapReader::new(node, "", "the index config", &KEYS)?;
    let version = map.text("version")?.unwrap_or_default();
    if !VERSIONS.contains(&version.as_str()) {
        let got = if map.has("version") {
            format!("; got {version}")
        } else {
            String::new()
        };
        let versions = VERSIONS.join(", ");
        return Err(map.error(
            "version",
            format!("\"version\" must be one of {versions}{got}"),
        ));
    }
    let index_id = map.required_str("index_id", "the index config")?;
    let mut doc_mapping = doc_mapping(map.get("doc_mapping"))?;
    let (indexing_settings, timestamp_field) =
        read_settings::indexing_settings(map.get("indexing_settings"))?;
    doc_mapping.timestamp_field = doc_mapping.timestamp_field.or(timestamp_field);
    Ok(IndexConfig {
        version,
        index_id,
        index_uri: map.str("index_uri")?,
        doc_mapping,
        search_settings: read_settings::search_settings(map.get("search_settings"))?,
        indexing_settings,
        ingest_settings: read_settings::ingest_settings(map.get("ingest_settings"))?,
        retention: read_settings::retention(map.get("retention"))?,
    })
}

fn doc_mapping(node: Option<&Node>) -> Result<DocMapping> {
    const KEYS: [&str; 21] = [
        "mode",
        "field_mappings",
        "added_fields",
        "id_field",
        "timestamp_field",
        "tag_fields",
        "dynamic_mapping",
        "partition_key",
        "max_num_partitions",
        "index_field_presence",
        "store_document_size",
        "document_length",
        "store_source",
        "tokenizers",
        "doc_mapping_uid",
        "ignore_malformed",
        "coerce",
        "dates_as_texts",
        "texts_as_numbers",
        "elasticsearch_mapping",
        "shown_source",
    ];
    const MODES: [(&str, Mode); 3] = [
        ("dynamic", Mode::Dynamic),
        ("lenient", Mode::Lenient),
        ("strict", Mode::Strict),
    ];
    let value = super::node::NodeValue::Null;
    let empty = Node { line: 0, value };
    let map = MapReader::new(node.unwrap_or(&empty), "doc_mapping", "doc_mapping", &KEYS)?;
    let mode = map.choice("mode", &MODES, Mode::Dynamic)?;
    let dynamic_mapping = match (mode, map.get("dynamic_mapping")) {
        (Mode::Dynamic, None) => Some(FieldMapping::default_dynamic()),
        (Mode::Dynamic, Some(node)) => Some(dynamic_mapping(node)?),
        (_, None) => None,
        (_, Some(_)) => {
            let message = "\"dynamic_mapping\" is allowed only with \"mode: dynamic\"";
            return Err(map.error("dynamic_mapping", message));
        }
    };
    Ok(DocMapping {
        doc_mapping_uid: map.str("doc_mapping_uid")?,
        mode,
        dynamic_mapping,
        tokenizers: custom_tokenizers(map.seq("tokenizers")?, "doc_mapping.tokenizers")?,
        field_mappings: field_mappings(
            map.seq("field_mappings")?,
            "doc_mapping.field_mappings",
            0,
        )?,
        added_fields: map.str_list("added_fields")?,
        id_field: map.str("id_field")?,
        timestamp_field: map.str("timestamp_field")?,
        tag_fields: map.str_list("tag_fields")?,
        partition_key: map.str("partition_key")?,
        max_num_partitions: map.u64("max_num_partitions", 200, 1, u64::from(u32::MAX))? as u32,
        index_field_presence: map.bool("index_field_presence", false)?,
        store_document_size: map
            .bool("store_document_size", map.bool("document_length", false)?)?,
        store_source: map.bool("store_source", false)?,
        ignore_malformed: map.bool("ignore_malformed", false)?,
        coerce: map.bool("coerce", false)?,
        dates_as_texts: map.bool("dates_as_texts", false)?,
        texts_as_numbers: map.bool("texts_as_numbers", false)?,
        elasticsearch_mapping: map.str("elasticsearch_mapping")?,
        shown_source: map.get("shown_source").map(shown_source).transpose()?,
    })
}

fn shown_source(node: &Node) -> Result<ShownSource> {
    let keys = ["includes", "excludes", "stored_fields"];
    let map = MapReader::new(node, "doc_mapping.shown_source", "shown_source", &keys)?;
    Ok(ShownSource {
        includes: map.str_list("includes")?,
        excludes: map.str_list("excludes")?,
        stored_fields: map.str_list("stored_fields")?,
    })
}

fn dynamic_mapping(node: &Node) -> Result<FieldMapping> {
    let keys = [
        "description",
        "stored",
        "indexed",
        "strategy",
        "tokenizer",
        "record",
        "expand_dots",
        "fast",
        "ignore_above",
    ];
    let map = MapReader::new(
        node,
        "doc_mapping.dynamic_mapping",
        "dynamic_mapping",
        &keys,
    )?;
    let default = FieldMapping::default_dynamic();
    let search = search(&map, "dynamic_mapping", "dynamic_mapping")?;
    Ok(FieldMapping {
        description: map.str("description")?,
        stored: map.bool("stored", true)?,
        indexed: search.indexed,
        scanned: search.scanned,
        by_values: false,
        // As in Quickwit, `fast` defaults to true only without any dynamic mapping.
        fast: super::read_field::fast(&map)?,
        ignore_above: super::read_field::ignore_above(&map)?,
        kind: FieldKind::Json(json_options(&map, "dynamic_mapping", &search)?),
        ..default
    })
}
