//! Prefix of the keys of an index in a cache.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::OpenOptions;
use crate::observe::redact;

/// Settings that determine the store of a URI.
const STORE_SETTINGS: [&str; 9] = [
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_ENDPOINT",
    "GOOGLE_BASE_URL",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_BUCKET",
];

/// Returns the namespace of the index at `uri`. For a folder, it is the full path, because the same
/// relative path may be another index elsewhere. For other URIs, it is the URI without credentials,
/// with a hash of everything that determines the store: the whole URI and the endpoints of
/// [`STORE_SETTINGS`]. Thus secrets are never written to a cache, and two stores never share
/// entries.
pub(crate) fn cache_namespace(uri: &str, options: &OpenOptions) -> String {
    let path = match uri.split_once("://") {
        None => Some(uri),
        Some(("file", path)) => Some(path),
        Some(_) => None,
    };
    if let Some(path) = path {
        let full = Path::new(path).canonicalize().ok();
        let full = full.and_then(|full| full.to_str().map(str::to_owned));
        return full.unwrap_or_else(|| path.trim_end_matches('/').to_owned());
    }
    let mut hasher = Xxh3::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(uri.trim_end_matches('/'));
    for name in STORE_SETTINGS {
        add(&options.settings.get(name).unwrap_or_default());
    }
    let shown = redact(uri);
    format!("{}#{:016x}", shown.trim_end_matches('/'), hasher.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_endpoint(endpoint: &str) -> OpenOptions {
        let mut options = OpenOptions::default();
        let name = "AWS_ENDPOINT_URL_S3".to_owned();
        options.settings.0.insert(name, endpoint.to_owned());
        options
    }

    #[test]
    fn no_credential_is_in_a_namespace() {
        let uri = "https://user:secret@host/index?X-Amz-Signature=5ec2e7";
        let namespace = cache_namespace(uri, &OpenOptions::default());
        assert!(namespace.contains("host/index"), "{namespace}");
        for secret in ["secret", "5ec2e7", "user"] {
            assert!(!namespace.contains(secret), "{namespace}");
        }
    }

    #[test]
    fn stores_of_other_endpoints_and_queries_are_apart() {
        let bucket = |endpoint| cache_namespace("s3://logs/index", &with_endpoint(endpoint));
        assert_eq!(bucket("http://a"), bucket("http://a"));
        assert_ne!(bucket("http://a"), bucket("http://b"));
        let server = |uri| cache_namespace(uri, &OpenOptions::default());
        assert_ne!(
            server("https://h/i?tenant=a"),
            server("https://h/i?tenant=b")
        );
        assert_eq!(server("https://h/i"), server("https://h/i/"));
    }

    #[test]
    fn a_folder_is_its_full_path() {
        let here = std::env::current_dir().unwrap();
        let namespace = cache_namespace(".", &OpenOptions::default());
        assert_eq!(Path::new(&namespace), here.canonicalize().unwrap());
    }
}
