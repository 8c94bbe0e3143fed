//! The formats by name.

use std::fmt;
use std::str::FromStr;

/// How a stream holds its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// One JSON object a line.
    Ndjson,
    /// JSON objects one after another, with white space, commas or nothing between them, over any
    /// number of lines.
    Json,
    /// JSON arrays of objects.
    JsonArray,
    /// `{"Records": [ … ]}`: CloudTrail, and notifications of S3.
    CloudTrail,
    /// OTLP logs in JSON: `{"resourceLogs": [ … ]}`.
    OtlpJson,
    /// Values with `,`, `;`, `|` or another byte between them, the first record their names.
    Csv,
    /// The same with tabs.
    Tsv,
    /// The access logs of Apache and Nginx, common or combined.
    AccessLog,
    /// The access logs of AWS's Application Load Balancer.
    Alb,
    /// CloudFront's standard logs and others of the W3C's extended format: `#Fields`, then values
    /// with tabs (CloudFront) or spaces (IIS) between them.
    W3c,
    /// CloudFront's standard logs as one JSON object a line.
    CloudFrontJson,
    /// Zeek's logs: `#fields`, then values with tabs between them.
    Zeek,
    /// Postgres' log in CSV, which names no values.
    PostgresCsv,
    /// AWS's VPC flow logs: names on the first line, spaces between.
    VpcFlow,
    /// syslog, RFC 5424 or RFC 3164, as sent and as rsyslog writes it to files.
    Syslog,
    /// `key=value key="another value"`.
    Logfmt,
    /// Lines with a time near their beginning; those without one belong to the line before.
    Log,
    /// Lines of containers, as CRI and Docker's json-file write them.
    Container,
    /// Lines with nothing known about them.
    Plain,
    /// Parquet, a document each row. Whoever reads it makes a JSON object a line of it: only those are seen here.
    Parquet,
}

impl Format {
    /// All of them, Parquet last.
    pub const ALL: [Format; 20] = [
        Format::Ndjson,
        Format::Json,
        Format::JsonArray,
        Format::CloudTrail,
        Format::OtlpJson,
        Format::Csv,
        Format::Tsv,
        Format::AccessLog,
        Format::Alb,
        Format::W3c,
        Format::CloudFrontJson,
        Format::Zeek,
        Format::PostgresCsv,
        Format::VpcFlow,
        Format::Syslog,
        Format::Logfmt,
        Format::Log,
        Format::Container,
        Format::Plain,
        Format::Parquet,
    ];

    /// Its name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Ndjson => "ndjson",
            Format::Json => "json",
            Format::JsonArray => "json-array",
            Format::CloudTrail => "cloudtrail",
            Format::OtlpJson => "otlp-json",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::AccessLog => "access-log",
            Format::Alb => "alb",
            Format::W3c => "w3c",
            Format::CloudFrontJson => "cloudfront-json",
            Format::Zeek => "zeek",
            Format::PostgresCsv => "postgres-csv",
            Format::VpcFlow => "vpc-flow",
            Format::Syslog => "syslog",
            Format::Logfmt => "logfmt",
            Format::Log => "log",
            Format::Container => "container",
            Format::Parquet => "parquet",
            Format::Plain => "plain",
        }
    }

    /// Whether each line is a record, so that a rule for records of several lines makes sense.
    #[must_use]
    pub fn is_of_lines(self) -> bool {
        matches!(
            self,
            Format::Ndjson
                | Format::Parquet
                | Format::AccessLog
                | Format::Alb
                | Format::W3c
                | Format::CloudFrontJson
                | Format::Zeek
                | Format::VpcFlow
                | Format::Syslog
                | Format::Logfmt
                | Format::Log
                | Format::Container
                | Format::Plain
        )
    }

    /// Whether its records are JSON objects, which go to the doc mapper as they are.
    #[must_use]
    #[inline]
    pub fn is_json(self) -> bool {
        matches!(
            self,
            Format::Ndjson
                | Format::Json
                | Format::JsonArray
                | Format::CloudTrail
                | Format::Parquet
        )
    }

    /// Whether one record of it may hold many documents, so that it may be many times as long.
    #[must_use]
    pub fn holds_many(self) -> bool {
        self == Format::OtlpJson
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        let found = Format::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("no format {text:?}; there are {}", names.join(", "))
        })
    }
}
