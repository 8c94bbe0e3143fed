//! Changes as lines that can be pasted into the configuration of a store or server.

use reqwest::header::{HeaderMap, SERVER};

/// Detected kind of server.
enum Kind {
    S3,
    Nginx,
    Unknown,
}

fn kind_of(headers: &HeaderMap) -> Kind {
    let server = headers.get(SERVER).and_then(|server| server.to_str().ok());
    match server.unwrap_or_default().to_ascii_lowercase() {
        server if server.contains("nginx") => Kind::Nginx,
        server if server.contains("amazons3") => Kind::S3,
        _ if headers.contains_key("x-amz-request-id") => Kind::S3,
        _ => Kind::Unknown,
    }
}

/// Returns the configuration that lets scripts of `origin` read ranges.
pub(super) fn cors(headers: &HeaderMap, origin: &str) -> String {
    match kind_of(headers) {
        Kind::S3 => s3_cors(origin),
        Kind::Nginx => nginx_cors(origin),
        Kind::Unknown => format!(
            "# a bucket that speaks S3: aws s3api put-bucket-cors --bucket NAME --cors-configuration \
             file://cors.json\n{}\n# nginx\n{}",
            s3_cors(origin),
            nginx_cors(origin)
        ),
    }
}

fn s3_cors(origin: &str) -> String {
    format!(
        r#"{{"CORSRules": [{{
  "AllowedOrigins": ["{origin}"],
  "AllowedMethods": ["GET"],
  "AllowedHeaders": ["Range", "If-None-Match"],
  "ExposeHeaders": ["Content-Range", "ETag"],
  "MaxAgeSeconds": 86400
}}]}}"#
    )
}

fn nginx_cors(origin: &str) -> String {
    format!(
        r#"add_header Access-Control-Allow-Origin "{origin}" always;
add_header Access-Control-Expose-Headers "Content-Range, ETag" always;
add_header Access-Control-Allow-Headers "Range, If-None-Match" always;
add_header Access-Control-Max-Age 86400 always;
if ($request_method = OPTIONS) {{ return 204; }}"#
    )
}

/// Returns the configuration that turns compression off.
pub(super) fn no_compression(headers: &HeaderMap) -> Option<String> {
    matches!(kind_of(headers), Kind::Nginx).then(|| "gzip off;\nbrotli off;".to_owned())
}
