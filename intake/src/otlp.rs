//! Logs of the OpenTelemetry protocol (OTLP over HTTP): requests into lines, and the answers that exporters expect.
//! <https://opentelemetry.io/docs/specs/otlp/#otlphttp>

use std::sync::Arc;

use canter_formats::{Format, Hints, Layout};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use prost::Message;
use serde_json::{Value, json};

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
    /// What could not become one.
    pub problems: Vec<String>,
}

/// Reads a request. The documents have the fields of Quickwit's `otel-logs` indexes.
///
/// # Errors
/// In words, if it is no request.
pub fn read_logs(body: &[u8], encoding: LogsEncoding) -> Result<Logs, String> {
    let json;
    let body = match encoding {
        LogsEncoding::Json => body,
        LogsEncoding::Protobuf => {
            let request = ExportLogsServiceRequest::decode(body)
                .map_err(|error| format!("no ExportLogsServiceRequest: {error}"))?;
            if request.resource_logs.is_empty() {
                return Ok(Logs::default());
            }
            let mut value = serde_json::to_value(&request).map_err(|error| error.to_string())?;
            remove_unset(&mut value);
            json = value.to_string();
            json.as_bytes()
        }
    };
    if encoding == LogsEncoding::Json {
        check_json(body)?;
    }
    let layout = Layout::new(Format::OtlpJson, b',', Arc::new(Hints::default()));
    let mut logs = Logs::default();
    layout.parse(body, &mut Vec::new(), &mut |parsed| match parsed {
        Ok(document) => logs.documents.push(document.to_vec()),
        Err(failure) if failure.reason == "no_log_records" => {}
        Err(failure) => logs.problems.push(failure.message),
    });
    Ok(logs)
}

/// In protobuf a number that was not set is 0, and in its JSON it is not there. The keys of attributes are values here, so
/// none of them can be meant.
fn remove_unset(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(remove_unset),
        Value::Object(object) => {
            for name in ["droppedAttributesCount", "severityNumber", "flags"] {
                if object.get(name).is_some_and(|number| *number == 0) {
                    object.shift_remove(name);
                }
            }
            object.values_mut().for_each(remove_unset);
        }
        _ => {}
    }
}

/// What has no `resourceLogs` would be taken for one of them, and for an empty request.
fn check_json(body: &[u8]) -> Result<(), String> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| format!("no ExportLogsServiceRequest: {error}"))?;
    match value.as_object() {
        Some(object) if object.is_empty() || object.contains_key("resourceLogs") => Ok(()),
        _ => Err("no ExportLogsServiceRequest: it has no resourceLogs".to_owned()),
    }
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
