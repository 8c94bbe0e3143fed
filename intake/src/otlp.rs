//! Logs of the OpenTelemetry protocol (OTLP over HTTP): requests into documents, and the answers that exporters expect.
//! <https://opentelemetry.io/docs/specs/otlp/#otlphttp>
//!
//! ```text
//!   json ─────┐ a record's bytes                    ┌─▶ documents
//!             ├──────────────────▶ Documents::add ──┤
//!   protobuf ─┘                     one at a time   └─▶ problems
//! ```
//!
//! A few bytes of a request can be a thousand in memory once they are read, so each record is looked for in the bytes of the
//! request, read, made a document and forgotten before the next.

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

/// How a request is written; its answer is written in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogsEncoding {
    /// `application/x-protobuf`.
    Protobuf,
    /// `application/json`.
    Json,
}

impl LogsEncoding {
    /// By the content type of a request.
    #[must_use]
    pub fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/x-protobuf" => Some(Self::Protobuf),
            "application/json" => Some(Self::Json),
            _ => None,
        }
    }

    /// The content type of the answer.
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
    /// The documents.
    pub documents: Vec<Vec<u8>>,
    /// What is wrong with the first records that could not become one.
    pub problems: Vec<String>,
    /// How many could not.
    pub num_rejected: u64,
}

/// How much one request may be. A record takes a few bytes in protobuf, and far more when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogsLimits {
    /// Most log records, with those that are rejected: an empty one has two bytes, and some 200 until it is answered.
    pub max_records: usize,
    /// Longest record as it was sent, and longest document.
    pub max_document_bytes: usize,
    /// Most bytes of all documents together, as they wait to be published.
    pub max_bytes: usize,
    /// Most bytes of all documents together, for a body of this length: each has what its resource and scope say.
    pub max_made_bytes: usize,
}

impl LogsLimits {
    /// Those for a body of `body_len` bytes.
    #[must_use]
    pub fn of_body(body_len: usize) -> Self {
        Self {
            max_made_bytes: body_len.saturating_mul(MADE_PER_BYTE) + MADE_AT_LEAST,
            ..Self::default()
        }
    }
}

/// Bytes of documents that may become of a byte of a request, beyond [`MADE_AT_LEAST`].
const MADE_PER_BYTE: usize = 3;

/// Bytes of documents that may become of any request.
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

/// Why nothing of a request is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogsError {
    /// It is no request.
    #[error("no ExportLogsServiceRequest: {0}")]
    Malformed(String),
    /// What resources and scopes say is in each document, and that is too much.
    #[error(
        "each document has what its resource and scope say, which are more than {max_bytes} bytes for all log records: \
         send fewer records at once, or shorter attributes of resources and scopes"
    )]
    TooMuchShared {
        /// How much it may be.
        max_bytes: usize,
    },
    /// There are too many log records: send them in parts.
    #[error(
        "the request has more than {max_records} log records: send fewer records at once, or raise --max-write-items"
    )]
    TooManyRecords {
        /// How many there may be.
        max_records: usize,
    },
    /// Documents are far more than what was sent, because each has what its resource and scope say: send them in parts.
    #[error(
        "each document has what its resource and scope say, and together they have more than {max_bytes} bytes, which is as \
         many as may become of a request of this length: send fewer records at once, or shorter attributes of resources \
         and scopes"
    )]
    TooMuchMade {
        /// How much they may be.
        max_bytes: usize,
    },
    /// The documents are more than may wait at all: send them in parts.
    #[error(
        "the documents of the log records have more than {max_bytes} bytes, and so many may wait to be published: send \
         fewer records at once, or raise --max-pending-bytes"
    )]
    TooLarge {
        /// How much may wait.
        max_bytes: usize,
    },
}

impl LogsError {
    /// Whether the same records would be taken in several requests.
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

/// Reads a request, a record at a time. The documents have the fields of Quickwit's `otel-logs` indexes.
///
/// # Errors
/// If it is no request, or more than the limits allow.
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

/// The answer to a request that was taken, but for `num_rejected` of its records.
#[must_use]
pub fn write_logs_answer(encoding: LogsEncoding, num_rejected: u64, message: &str) -> Vec<u8> {
    match encoding {
        LogsEncoding::Json if num_rejected == 0 => b"{}".to_vec(),
        LogsEncoding::Json => json!({
            // As all numbers of 64 bits in protobuf's JSON.
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

/// The answer to a request that failed: a `google.rpc.Status`. `code` is one of gRPC's.
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

/// `google.rpc.Status`, of which exporters read these two.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}
