//! Settings of the search function with their defaults; `edge-adapters/lambda/README.md` lists
//! them.

use std::collections::BTreeMap;

use canter_runtime::cache::CacheOptions;
use canter_runtime::{Budget, Limits, ManifestOptions};
use serde_json::{Map, Value};

use super::access::{self, Gate};
use super::cors::{CORS_ORIGINS, Cors};
use crate::env::{ConfigError, Environment};

const INDEXES: &str = "CANTER_INDEXES";
const DEADLINE_MS: &str = "CANTER_DEADLINE_MS";
const DEADLINE_MARGIN_MS: &str = "CANTER_DEADLINE_MARGIN_MS";
const MAX_REQUESTS: &str = "CANTER_MAX_REQUESTS";
const MAX_BYTES: &str = "CANTER_MAX_BYTES";
const MAX_WAVES: &str = "CANTER_MAX_WAVES";
const LIMITS: &str = "CANTER_LIMITS";
const MANIFEST_TTL_MS: &str = "CANTER_MANIFEST_TTL_MS";
const CACHE: &str = "CANTER_CACHE";
const CACHE_BYTES: &str = "CANTER_CACHE_BYTES";
const MEMORY_CACHE_BYTES: &str = "CANTER_MEMORY_CACHE_BYTES";
const LEAF_FUNCTION: &str = "CANTER_LEAF_FUNCTION";
const MAX_LEAVES: &str = "CANTER_MAX_LEAVES";
const MIN_DOCS_PER_LEAF: &str = "CANTER_MIN_DOCS_PER_LEAF";

/// Variables that the function reads. Other variables with the same prefix are an error.
pub(crate) const VARIABLES: &[&str] = &[
    INDEXES,
    DEADLINE_MS,
    DEADLINE_MARGIN_MS,
    MAX_REQUESTS,
    MAX_BYTES,
    MAX_WAVES,
    LIMITS,
    MANIFEST_TTL_MS,
    CACHE,
    CACHE_BYTES,
    MEMORY_CACHE_BYTES,
    LEAF_FUNCTION,
    MAX_LEAVES,
    MIN_DOCS_PER_LEAF,
    access::API_KEYS,
    access::API_KEYS_FILE,
    access::JWKS,
    access::JWKS_FILE,
    access::JWT_CLAIM,
    access::JWT_ISSUER,
    access::JWT_AUDIENCE,
    CORS_ORIGINS,
    "CANTER_LOG",
];

/// This is less than API Gateway's timeout of 29 s.
const DEFAULT_DEADLINE_MS: u64 = 25_000;
/// Time for returning the answer. Lambda kills an invocation that is late, without an answer.
const DEFAULT_DEADLINE_MARGIN_MS: u64 = 500;
/// Part of the 512 MB that `/tmp` has by default.
const DEFAULT_CACHE_BYTES: u64 = 400_000_000;
const DEFAULT_CACHE: &str = "/tmp/canter";
const DEFAULT_MAX_LEAVES: u32 = 8;
/// A remote leaf costs an invocation, so it gets more documents than a leaf on another core.
const DEFAULT_MIN_DOCS_PER_LEAF: u64 = 5_000_000;
/// Minimum memory of a Lambda function in MiB.
const LEAST_MEMORY_MIB: u64 = 128;

/// Settings of the search function.
#[derive(Debug)]
pub struct SearchConfig {
    /// Names and URIs of the indexes.
    pub(super) indexes: Vec<(String, String)>,
    pub(super) limits: Limits,
    pub(super) deadline_margin_ms: u64,
    pub(super) manifest: ManifestOptions,
    /// `None` without a cache of this kind.
    pub(super) memory_cache: Option<CacheOptions>,
    pub(super) disk_cache: Option<(String, CacheOptions)>,
    pub(super) gate: Gate,
    pub(super) cors: Cors,
    /// Function that runs leaves, and the maximum number of leaves of a search.
    pub(super) leaves: Option<(String, u32)>,
}

impl SearchConfig {
    /// Reads the settings.
    ///
    /// # Errors
    /// A setting is missing, invalid or unknown.
    pub fn from_env(env: &Environment) -> Result<Self, ConfigError> {
        env.refuse_unknown("CANTER_", VARIABLES)?;
        let example = "logs=s3://bucket/logs,traces=s3://bucket/traces";
        let indexes = read_indexes(env.require(INDEXES, example)?)?;
        let memory_mib = env.number("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")?;
        let memory_bytes = memory_mib
            .unwrap_or(LEAST_MEMORY_MIB)
            .saturating_mul(1 << 20);
        let number = |name: &str, default: u64| -> Result<u64, ConfigError> {
            Ok(env.number(name)?.unwrap_or(default))
        };
        let bytes = |name: &str, default: u64| -> Result<u64, ConfigError> {
            Ok(env.bytes(name)?.unwrap_or(default))
        };
        let cache = |name, max_bytes: u64| match max_bytes {
            0 => Ok(None),
            _ => cache_options(name, max_bytes).map(Some),
        };
        let default_memory_cache = (memory_bytes / 4).min(CacheOptions::memory().max_bytes());
        let memory_cache_bytes = bytes(MEMORY_CACHE_BYTES, default_memory_cache)?;
        let disk_cache = cache(CACHE_BYTES, bytes(CACHE_BYTES, DEFAULT_CACHE_BYTES)?)?;
        let folder = env.get(CACHE).unwrap_or(DEFAULT_CACHE);
        let leaf_function = env.get(LEAF_FUNCTION);
        let max_leaves = env.parse(MAX_LEAVES, "a whole number")?;
        let max_leaves = max_leaves.unwrap_or(DEFAULT_MAX_LEAVES);
        Ok(Self {
            leaves: leaf_function.map(|function| (function.to_owned(), max_leaves)),
            gate: Gate::from_env(env)?,
            cors: Cors::from_env(env),
            limits: Limits {
                budget: Budget {
                    max_requests: env.number(MAX_REQUESTS)?,
                    max_bytes: env.bytes(MAX_BYTES)?,
                    max_waves: env.number(MAX_WAVES)?,
                    deadline_ms: Some(number(DEADLINE_MS, DEFAULT_DEADLINE_MS)?),
                },
                guest: guest_limits(env, memory_bytes)?,
                ..Limits::default()
            },
            deadline_margin_ms: number(DEADLINE_MARGIN_MS, DEFAULT_DEADLINE_MARGIN_MS)?,
            manifest: ManifestOptions {
                ttl_ms: number(MANIFEST_TTL_MS, 0)?,
                // A request after an answer would be frozen together with the function.
                ..ManifestOptions::default()
            },
            memory_cache: cache(MEMORY_CACHE_BYTES, memory_cache_bytes)?,
            disk_cache: disk_cache.map(|options| (folder.to_owned(), options)),
            indexes,
        })
    }
}

/// Parses `name=uri,name=uri`, on one or several lines, or a JSON object, which also supports URIs
/// with commas.
fn read_indexes(text: &str) -> Result<Vec<(String, String)>, ConfigError> {
    if text.trim_start().starts_with('{') {
        let indexes: BTreeMap<String, String> = serde_json::from_str(text).map_err(|error| {
            ConfigError(format!("{INDEXES} is no object of names and URIs: {error}"))
        })?;
        return match indexes.is_empty() {
            true => Err(ConfigError(format!("{INDEXES} names no index"))),
            false => Ok(indexes.into_iter().collect()),
        };
    }
    let mut indexes = Vec::new();
    for entry in text.split([',', '\n']).map(str::trim) {
        if entry.is_empty() {
            continue;
        }
        let pair = entry
            .split_once('=')
            .map(|(name, uri)| (name.trim(), uri.trim()));
        match pair {
            Some((name, uri)) if !name.is_empty() && !uri.is_empty() => {
                indexes.push((name.to_owned(), uri.to_owned()));
            }
            _ => {
                return Err(ConfigError(format!(
                    "{INDEXES}: {entry:?} is not NAME=URI, such as logs=s3://bucket/logs"
                )));
            }
        }
    }
    match indexes.is_empty() {
        true => Err(ConfigError(format!("{INDEXES} names no index"))),
        false => Ok(indexes),
    }
}

fn cache_options(name: &str, max_bytes: u64) -> Result<CacheOptions, ConfigError> {
    let options = CacheOptions::with_max_bytes(max_bytes);
    let checked = options.validate();
    checked
        .map_err(|error| ConfigError(format!("{name} is {max_bytes}: {error}; 0 is no cache")))?;
    Ok(options)
}

/// Returns the guest's limits. Limits of memory depend on the function's memory, because Lambda
/// kills a function that exceeds it, without an answer.
fn guest_limits(env: &Environment, memory_bytes: u64) -> Result<Map<String, Value>, ConfigError> {
    let given: Option<Map<String, Value>> =
        env.json(LIMITS, "an object such as {\"max_hits\": 1000}")?;
    let mut limits = given.unwrap_or_default();
    let default = env.get(LEAF_FUNCTION).map(|_| DEFAULT_MIN_DOCS_PER_LEAF);
    if let Some(min_docs) = env.number(MIN_DOCS_PER_LEAF)?.or(default) {
        limits.insert("min_docs_per_leaf".to_owned(), min_docs.into());
    }
    for (name, bytes) in [
        ("max_aggregation_bytes", (memory_bytes / 4).min(500_000_000)),
        ("max_manifest_bytes", (memory_bytes / 8).min(64 << 20)),
        ("max_resident_bytes", memory_bytes / 4),
    ] {
        limits.entry(name).or_insert(bytes.into());
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<SearchConfig, ConfigError> {
        let memory = ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512");
        SearchConfig::from_env(&Environment::of(variables.iter().copied().chain([memory])))
    }

    #[test]
    fn indexes_are_all_that_must_be_said() {
        let config = config(&[(INDEXES, "a=s3://b/a, c=/data/c,\n d=https://h/p?x=1")]).unwrap();
        let names: Vec<_> = config
            .indexes
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["a", "c", "d"]);
        assert_eq!(config.indexes[2].1, "https://h/p?x=1");
        assert_eq!(
            read_indexes(r#"{"a": "https://h/b,c"}"#).unwrap()[0].1,
            "https://h/b,c"
        );
        let memory = config.memory_cache.unwrap().max_bytes();
        assert!((100 << 20..=128 << 20).contains(&memory), "{memory}");
        let (folder, disk) = config.disk_cache.unwrap();
        assert_eq!(
            (folder.as_str(), disk.max_bytes()),
            ("/tmp/canter", 400_000_000)
        );
        assert_eq!(config.limits.guest["max_aggregation_bytes"], 128 << 20);
    }

    #[test]
    fn caches_can_be_left_out() {
        let off = [
            (INDEXES, "a=/a"),
            (CACHE_BYTES, "0"),
            (MEMORY_CACHE_BYTES, "0"),
        ];
        let config = config(&off).unwrap();
        assert!(config.disk_cache.is_none() && config.memory_cache.is_none());
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        for (variables, expect) in [
            (&[][..], "CANTER_INDEXES is not set"),
            (&[(INDEXES, "s3://bucket/logs")], "is not NAME=URI"),
            (&[(INDEXES, " , ")], "names no index"),
            (&[(INDEXES, "{}")], "names no index"),
            (&[(INDEXES, "{\"a\": 1}")], "no object of names and URIs"),
            (
                &[(INDEXES, "a=/a"), ("CANTER_INDEX", "x")],
                "CANTER_INDEX is not known",
            ),
            (
                &[(INDEXES, "a=/a"), (CACHE_BYTES, "1000")],
                "CANTER_CACHE_BYTES is 1000",
            ),
            (
                &[(INDEXES, "a=/a"), (LIMITS, "[]")],
                "CANTER_LIMITS is not an object",
            ),
            (
                &[(INDEXES, "a=/a"), (DEADLINE_MS, "soon")],
                "CANTER_DEADLINE_MS is \"soon\"",
            ),
        ] {
            let error = config(variables).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
