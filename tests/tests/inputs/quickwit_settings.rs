//! Settings of Quickwit's index configs that have no effect here, and those with a different
//! effect. The tables of docs/from-quickwit.md refer to these tests.

use canter_doc_mapper::IndexConfig;
use canter_tests::TestIndex;
use serde_json::json;

/// Default of Quickwit in bytes.
const QUICKWIT_BLOCKSIZE: usize = 1_000_000;

/// Returns a config with additional lines in its mapping and additional sections.
fn config(of_mapping: &[&str], sections: &str) -> String {
    let of_mapping: String = of_mapping
        .iter()
        .map(|line| format!("  {line}\n"))
        .collect();
    format!(
        "
version: 0.8
index_id: settings
doc_mapping:
{of_mapping}  timestamp_field: at
  field_mappings:
    - {{name: at, type: datetime, fast: true, input_formats: [unix_timestamp]}}
    - {{name: tenant, type: u64, fast: true}}
    - {{name: text, type: text}}
{sections}"
    )
}

/// Returns documents of seven tenants, a minute apart.
fn lines() -> Vec<String> {
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"];
    let line = |n: usize| {
        let text: Vec<&str> = (0..12)
            .map(|place| words[n * n * (place + 1) % 11 % words.len()])
            .collect();
        let text = format!("{n} {}", text.join(" "));
        json!({"at": 1_700_000_000 + n * 60, "tenant": n % 7, "text": text}).to_string()
    };
    (0..1_000).map(line).collect()
}

fn build(config: &str) -> TestIndex {
    TestIndex::build(config, &lines(), 300).unwrap()
}

#[test]
fn what_divides_documents_in_quickwit_changes_no_split() {
    let splits = |config: &str| {
        let splits = build(config).manifest().unwrap().manifest.splits;
        let splits = splits
            .into_iter()
            .map(|split| (split.time_range, split.num_docs));
        splits.collect::<Vec<_>>()
    };
    let with_all = config(
        &[
            "partition_key: 'hash_mod(tenant, 4)'",
            "max_num_partitions: 2",
        ],
        "index_uri: s3://no-such-bucket/settings
indexing_settings: {commit_timeout_secs: 1, resources: {heap_size: 100MB}}
ingest_settings: {min_shards: 5, validate_docs: false}
",
    );
    let plain = splits(&config(&[], ""));
    assert_eq!(plain.len(), 4);
    assert_eq!(splits(&with_all), plain);
}

#[test]
fn stored_blocks_are_small_and_as_the_config_says() {
    let num_bytes = |settings: &str| -> u64 {
        let settings = format!("indexing_settings: {{{settings}}}\n");
        let splits = build(&config(&[], &settings)).manifest().unwrap();
        splits.manifest.splits.iter().map(|split| split.len).sum()
    };
    assert!(num_bytes("docstore_blocksize: 1000") > num_bytes("docstore_blocksize: 1000000"));
    assert!(
        num_bytes("docstore_compression_level: 1") > num_bytes("docstore_compression_level: 19")
    );
    let config = IndexConfig::from_yaml(&config(&[], ""), |_| None).unwrap();
    assert!(config.indexing_settings.docstore_blocksize < QUICKWIT_BLOCKSIZE);
}
