//! Logs of the OpenTelemetry protocol (OTLP over HTTP): converts requests into documents, and
//! writes the answers that exporters expect. <https://opentelemetry.io/docs/specs/otlp/#otlphttp>
//!
//! ```text
//!   json ─────┐ a record's bytes                    ┌─▶ documents
//!             ├──────────────────▶ Documents::add ──┤
//!   protobuf ─┘                     one at a time   └─▶ problems
//! ```
//!
//! A few bytes of a request can take a thousand bytes of memory once decoded. Each record is
//! therefore located in the bytes of the request, decoded, converted and dropped before the next
//! one.

mod documents;
mod json;
mod nesting;
mod protobuf;
#[cfg(test)]
mod tests;

use std::fmt::Display;

use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceResponse,
};
use prost::Message;
use serde_json::json;

use self::documents::Documents;

/// Encoding of a request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogsEncoding {
    /// `application/x-protobuf`.
    Protobuf,
    /// `application/json`.
    Json,
}

impl LogsEncoding {
    /// Returns the encoding for the content type of a request.
    #[must_use]
    pub fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/x-protobuf" => Some(Self::Protobuf),
            "application/json" => Some(Self::Json),
            _ => None,
        }
    }

    /// Returns the content type of the answer.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }
}

/// Log records of one request, each as the JSON of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// Documents, as JSON.
    pub documents: Vec<Vec<u8>>,
    /// Problems of the first records that were rejected.
    pub problems: Vec<String>,
    /// Number of records that were rejected.
    pub num_rejected: u64,
}

/// Limits of one request. A record takes a few bytes in protobuf, and far more once decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogsLimits {
    /// Maximum number of log records, including rejected ones: an empty record has 2 bytes, and
    /// takes about 200 until it is answered.
    pub max_records: usize,
    /// Maximum length in bytes of a record as sent, and of a document.
    pub max_document_bytes: usize,
    /// Maximum size in bytes of all documents together, as they wait to be published.
    pub max_bytes: usize,
    /// Maximum size in bytes of all documents together for a body of this length. Each document
    /// repeats its resource and scope.
    pub max_made_bytes: usize,
}

impl LogsLimits {
    /// Returns the limits for a body of `body_len` bytes.
    #[must_use]
    pub fn of_body(body_len: usize) -> Self {
        Self {
            max_made_bytes: body_len.saturating_mul(MADE_PER_BYTE) + MADE_AT_LEAST,
            ..Self::default()
        }
    }
}

/// Allowed bytes of documents for each byte of a request, beyond [`MADE_AT_LEAST`].
const MADE_PER_BYTE: usize = 3;

/// Allowed bytes of documents for any request.
const MADE_AT_LEAST: usize = 16 << 20;

impl Default for LogsLimits {
    fn default() -> Self {
        Self {
            max_records: 500_000,
            max_document_bytes: 16 << 20,
            max_bytes: 128 << 20,
            max_made_bytes: 128 << 20,
        }
    }
}

/// Reason for which a whole request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogsError {
    /// The request cannot be parsed.
    #[error("no ExportLogsServiceRequest: {0}")]
    Malformed(String),
    /// Resources and scopes, repeated in each document, are too large.
    #[error(
        "each document has what its resource and scope say, which are more than {max_bytes} bytes for all log records: \
         send fewer records at once, or shorter attributes of resources and scopes"
    )]
    TooMuchShared {
        /// Maximum number of bytes.
        max_bytes: usize,
    },
    /// There are too many log records: send them in several requests.
    #[error(
        "the request has more than {max_records} log records: send fewer records at once, or raise --max-write-items"
    )]
    TooManyRecords {
        /// Maximum number of records.
        max_records: usize,
    },
    /// The documents are much larger than the request, because each one repeats its resource and
    /// scope: send them in several requests.
    #[error(
        "each document has what its resource and scope say, and together they have more than {max_bytes} bytes, which is as \
         many as may become of a request of this length: send fewer records at once, or shorter attributes of resources \
         and scopes"
    )]
    TooMuchMade {
        /// Maximum number of bytes.
        max_bytes: usize,
    },
    /// The documents are larger than all documents that may wait: send them in several requests.
    #[error(
        "the documents of the log records have more than {max_bytes} bytes, and so many may wait to be published: send \
         fewer records at once, or raise --max-pending-bytes"
    )]
    TooLarge {
        /// Maximum number of waiting bytes.
        max_bytes: usize,
    },
}

impl LogsError {
    /// Returns whether the same records would be accepted in several requests.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::TooManyRecords { .. } | Self::TooLarge { .. } | Self::TooMuchMade { .. }
        )
    }

    fn malformed(error: impl Display) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// Reads a request, one record at a time. The documents have the fields of Quickwit's `otel-logs`
/// indexes.
///
/// # Errors
/// The request cannot be parsed or exceeds the limits.
pub fn read_logs(
    body: &[u8],
    encoding: LogsEncoding,
    limits: &LogsLimits,
) -> Result<Logs, LogsError> {
    let mut documents = Documents::new(limits);
    match encoding {
        LogsEncoding::Protobuf => protobuf::read(body, &mut documents)?,
        LogsEncoding::Json => json::read(body, &mut documents)?,
    }
    Ok(documents.finish())
}

/// Returns the answer to a request of which `num_rejected` records were rejected.
#[must_use]
pub fn write_logs_answer(encoding: LogsEncoding, num_rejected: u64, message: &str) -> Vec<u8> {
    match encoding {
        LogsEncoding::Json if num_rejected == 0 => b"{}".to_vec(),
        LogsEncoding::Json => json!({
            // Protobuf's JSON writes all 64-bit numbers as strings.
            "partialSuccess": {"rejectedLogRecords": num_rejected.to_string(), "errorMessage": message},
        })
        .to_string()
        .into_bytes(),
        LogsEncoding::Protobuf => {
            let partial_success = (num_rejected > 0).then(|| ExportLogsPartialSuccess {
                rejected_log_records: i64::try_from(num_rejected).unwrap_or(i64::MAX),
                error_message: message.to_owned(),
            });
            ExportLogsServiceResponse { partial_success }.encode_to_vec()
        }
    }
}

/// Returns the answer to a failed request: a `google.rpc.Status`. `code` is a gRPC status code.
#[must_use]
pub fn write_logs_error(encoding: LogsEncoding, code: i32, message: &str) -> Vec<u8> {
    match encoding {
        LogsEncoding::Json => json!({"code": code, "message": message})
            .to_string()
            .into_bytes(),
        LogsEncoding::Protobuf => Status {
            code,
            message: message.to_owned(),
        }
        .encode_to_vec(),
    }
}

/// `google.rpc.Status`, with the two fields that exporters read.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}
