//! The formats by name.

use std::fmt;
use std::str::FromStr;

/// Format of the records in a stream.
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
    /// Values separated by `,`, `;`, `|` or another byte; the first record contains their names.
    Csv,
    /// CSV with tabs.
    Tsv,
    /// The access logs of Apache and Nginx, common or combined.
    AccessLog,
    /// The access logs of AWS's Application Load Balancer.
    Alb,
    /// CloudFront's standard logs and others in the W3C's extended format: `#Fields`, then values
    /// separated by tabs (CloudFront) or spaces (IIS).
    W3c,
    /// CloudFront's standard logs as one JSON object a line.
    CloudFrontJson,
    /// Zeek's logs: `#fields`, then values separated by tabs.
    Zeek,
    /// Postgres' log in CSV, without column names.
    PostgresCsv,
    /// AWS's VPC flow logs: names on the first line, separated by spaces.
    VpcFlow,
    /// syslog, RFC 5424 or RFC 3164, as sent and as rsyslog writes it to files.
    Syslog,
    /// `key=value key="another value"`.
    Logfmt,
    /// Lines with a time near their beginning; a line without one continues the previous one.
    Log,
    /// Lines of containers, as CRI and Docker's json-file write them.
    Container,
    /// Lines without a known format.
    Plain,
    /// Parquet, one document per row. Its reader converts each row to a line of JSON; this crate only sees those.
    Parquet,
}

impl Format {
    /// All formats, Parquet last.
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

    /// Returns the name on the command line and in reports.
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

    /// Returns descriptions of the format, and of one of its documents, in Markdown: the rows of docs/formats.md.
    #[must_use]
    pub fn about(self) -> (&'static str, &'static str) {
        match self {
            Format::Ndjson => ("one JSON object a line", "a line"),
            Format::Json => (
                "JSON objects one after another, with nothing, white space or commas between them (Firehose), over any \
                 number of lines",
                "an object",
            ),
            Format::JsonArray => (
                "arrays of objects, also [within an answer](encodings.md#json): `hits.hits`, `data`, `features`",
                "an element",
            ),
            Format::CloudTrail => ("`{\"Records\": [ … ]}`", "an element"),
            Format::OtlpJson => (
                "`{\"resourceLogs\": [ … ]}`, as the OpenTelemetry Collector writes it",
                "a log record, with what its resource and scope say",
            ),
            Format::Csv => (
                "[tables](encodings.md#tables) with any delimiter; the first line names values, or `--columns a,b,c` does",
                "a row; quotes hold lines together",
            ),
            Format::Tsv => ("the same with tabs", "a row"),
            Format::Zeek => ("Zeek's logs, with `#fields`", "a line"),
            Format::PostgresCsv => ("Postgres' csvlog", "a row"),
            Format::AccessLog => (
                "Apache and Nginx, common, combined, with virtual hosts",
                "a line",
            ),
            Format::Alb => ("AWS's Application Load Balancer", "a line"),
            Format::W3c => (
                "CloudFront's standard logs, and others with a line `#Fields:` (IIS)",
                "a line",
            ),
            Format::CloudFrontJson => ("CloudFront's standard logs as JSON", "a line"),
            Format::VpcFlow => (
                "AWS's VPC flow logs, with their first line; of version 2 also without it",
                "a line",
            ),
            Format::Syslog => ("RFC 5424, RFC 3164, and rsyslog's files", "a line"),
            Format::Logfmt => ("`key=value key=\"another value\"`", "a line"),
            Format::Log => (
                "[lines with a time](log-lines.md), however it is written",
                "a line, and those after it without a time",
            ),
            Format::Container => (
                "containers' lines: CRI (Kubernetes), Docker's `json-file`",
                "a line, read in its own format",
            ),
            Format::Plain => ("anything else", "a line, in `message`"),
            Format::Parquet => (
                "Parquet files, with any of its compressions but LZO",
                "a row",
            ),
        }
    }

    /// Returns whether each line is a record, so that a rule for records of several lines makes sense.
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

    /// Returns whether its records are JSON objects, which go to the doc mapper unchanged.
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

    /// Returns whether one record may contain many documents, so that it may be many times as long.
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
