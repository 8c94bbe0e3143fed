//! Settings of the indexer with their defaults; `edge-adapters/lambda/README.md` lists them.

use canter_index_builder::{IngestOptions, MergeIndexOptions};

use crate::env::{ConfigError, Environment};

const INDEX: &str = "CANTER_INDEX";
const INDEX_CONFIG: &str = "CANTER_INDEX_CONFIG";
const MAX_OBJECT_BYTES: &str = "CANTER_MAX_OBJECT_BYTES";
const MAX_SPLIT_BYTES: &str = "CANTER_MAX_SPLIT_BYTES";
const MAX_LINE_BYTES: &str = "CANTER_MAX_LINE_BYTES";
const SPLIT_NUM_DOCS: &str = "CANTER_SPLIT_NUM_DOCS";
const MAX_REJECTS: &str = "CANTER_MAX_REJECTS";
const MAX_MERGES: &str = "CANTER_MAX_MERGES";
const MAX_MERGE_BYTES: &str = "CANTER_MAX_MERGE_BYTES";

/// Variables that the function reads. Other variables with the same prefix are an error.
pub(crate) const VARIABLES: &[&str] = &[
    INDEX,
    INDEX_CONFIG,
    MAX_OBJECT_BYTES,
    MAX_SPLIT_BYTES,
    MAX_LINE_BYTES,
    SPLIT_NUM_DOCS,
    MAX_REJECTS,
    MAX_MERGES,
    MAX_MERGE_BYTES,
    "CANTER_LOG",
];

/// Maximum length of an object that can be written to a bucket in one request.
const DEFAULT_MAX_OBJECT_BYTES: u64 = 5 << 30;
/// An ingest takes about ten bytes of memory for each of these, because two splits are in progress.
const DEFAULT_MAX_SPLIT_BYTES: u64 = 64 << 20;
/// Maximum number of rejects, which are kept in `/tmp` until they are reported.
const DEFAULT_MAX_REJECTS: u64 = 10_000;

/// Maximum total length of merged splits. Their copies are in `/tmp`, which has 512 MB by default.
const DEFAULT_MAX_MERGE_BYTES: u64 = 256 << 20;

/// Settings of the indexer.
#[derive(Clone, Debug)]
pub struct IndexerConfig {
    /// URI of the index.
    pub(super) index: String,
    /// Config for an index that does not exist yet.
    pub(super) index_config: Option<ConfigSource>,
    /// Maximum length of an object, as stored.
    pub(super) max_object_bytes: u64,
    /// Options of all ingests. Different options would result in different splits.
    pub(super) options: IngestOptions,
    /// Options of the merge after the ingests of an event, if enabled.
    pub(super) merge: Option<MergeIndexOptions>,
}

/// Index config or its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigSource {
    /// YAML or JSON.
    Text(String),
    /// URI of an object.
    Uri(String),
}

impl IndexerConfig {
    /// Reads the settings.
    ///
    /// # Errors
    /// A setting is missing, invalid or unknown.
    pub fn from_env(env: &Environment) -> Result<Self, ConfigError> {
        env.refuse_unknown("CANTER_", VARIABLES)?;
        let number = |name: &str, default: u64| -> Result<u64, ConfigError> {
            Ok(env.number(name)?.unwrap_or(default))
        };
        let bytes = |name: &str, default: u64| -> Result<u64, ConfigError> {
            Ok(env.bytes(name)?.unwrap_or(default))
        };
        let max_line_bytes = env.bytes(MAX_LINE_BYTES)?;
        let max_line_bytes = max_line_bytes.map(|len| usize::try_from(len).unwrap_or(usize::MAX));
        let defaults = IngestOptions::default();
        let merge = MergeIndexOptions {
            max_merges: Some(number(MAX_MERGES, 0)?),
            max_bytes: Some(bytes(MAX_MERGE_BYTES, DEFAULT_MAX_MERGE_BYTES)?),
            ..MergeIndexOptions::default()
        };
        Ok(Self {
            merge: Some(merge).filter(|merge| merge.max_merges != Some(0)),
            index: env.require(INDEX, "s3://bucket/logs")?.to_owned(),
            index_config: env.get(INDEX_CONFIG).map(ConfigSource::read),
            max_object_bytes: bytes(MAX_OBJECT_BYTES, DEFAULT_MAX_OBJECT_BYTES)?,
            options: IngestOptions {
                split_num_docs_target: env.number(SPLIT_NUM_DOCS)?,
                max_split_raw_num_bytes: bytes(MAX_SPLIT_BYTES, DEFAULT_MAX_SPLIT_BYTES)?,
                max_line_num_bytes: max_line_bytes.unwrap_or(defaults.max_line_num_bytes),
                max_rejects: Some(number(MAX_REJECTS, DEFAULT_MAX_REJECTS)?),
                // The number of cores of a function depends on its memory, but splits must not
                // depend on it.
                num_indexers: 1,
                ..defaults
            },
        })
    }
}

impl ConfigSource {
    /// Distinguishes a URI, which is one word with a scheme, from a config.
    fn read(text: &str) -> Self {
        let text = text.trim();
        let is_uri =
            !text.contains(char::is_whitespace) && !text.starts_with('{') && text.contains("://");
        match is_uri {
            true => Self::Uri(text.to_owned()),
            false => Self::Text(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_is_told_from_where_it_is() {
        let uri = |text| matches!(ConfigSource::read(text), ConfigSource::Uri(_));
        assert!(uri("s3://bucket/logs.yaml"));
        assert!(!uri("version: 0.8\nindex_id: logs\nindex_uri: s3://b/p\n"));
        assert!(!uri(r#"{"index_id":"logs","index_uri":"s3://b/p"}"#));
    }

    #[test]
    fn sizes_have_units() {
        let variables = [
            (INDEX, "s3://b/p"),
            (MAX_SPLIT_BYTES, "32MiB"),
            (MAX_OBJECT_BYTES, "1 GB"),
            (MAX_LINE_BYTES, "65536"),
        ];
        let config = IndexerConfig::from_env(&Environment::of(variables)).unwrap();
        assert_eq!(config.options.max_split_raw_num_bytes, 32 << 20);
        assert_eq!(config.max_object_bytes, 1_000_000_000);
        assert_eq!(config.options.max_line_num_bytes, 65_536);
    }

    #[test]
    fn merges_are_made_by_those_who_ask_for_them() {
        let merge = |more: &[(&'static str, &'static str)]| {
            let variables = [&[(INDEX, "s3://b/p")], more].concat();
            IndexerConfig::from_env(&Environment::of(variables))
                .unwrap()
                .merge
        };
        assert_eq!(merge(&[]), None);
        let some = merge(&[(MAX_MERGES, "2"), (MAX_MERGE_BYTES, "1MiB")]).unwrap();
        assert_eq!((some.max_merges, some.max_bytes), (Some(2), Some(1 << 20)));
        let by_default = merge(&[(MAX_MERGES, "1")]).unwrap().max_bytes;
        assert_eq!(by_default, Some(DEFAULT_MAX_MERGE_BYTES));
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        for (variables, expect) in [
            (&[][..], "CANTER_INDEX is not set"),
            (
                &[(INDEX, "s3://b/p"), ("CANTER_INDEXES", "x")],
                "CANTER_INDEXES is not known",
            ),
            (
                &[(INDEX, "s3://b/p"), (MAX_REJECTS, "-1")],
                "CANTER_MAX_REJECTS is \"-1\"",
            ),
            (
                &[(INDEX, "s3://b/p"), (MAX_SPLIT_BYTES, "much")],
                "CANTER_MAX_SPLIT_BYTES is \"much\", not a number of bytes",
            ),
        ] {
            let env = Environment::of(variables.iter().copied());
            let error = IndexerConfig::from_env(&env).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
