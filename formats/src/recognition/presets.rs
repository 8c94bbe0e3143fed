//! Ready-made index configs, one for each layout. They are text, parsed elsewhere.

use crate::recognition::format::Format;

/// An index config for logs of a known layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its purpose, in a few words.
    pub about: &'static str,
    /// The formats it fits.
    pub formats: &'static [Format],
    /// The index config, in YAML.
    pub yaml: &'static str,
}

macro_rules! preset {
    ($name:literal, $about:literal, [$($format:ident),+]) => {
        Preset {
            name: $name,
            about: $about,
            formats: &[$(Format::$format),+],
            yaml: include_str!(concat!("../../presets/", $name, ".yaml")),
        }
    };
}

/// All presets.
pub const PRESETS: [Preset; 13] = [
    preset!(
        "access-log",
        "Apache and Nginx, common and combined",
        [AccessLog]
    ),
    preset!("alb", "AWS Application Load Balancer", [Alb]),
    preset!(
        "cloudfront",
        "AWS CloudFront standard logs, text and JSON",
        [W3c, CloudFrontJson]
    ),
    preset!("cloudtrail", "AWS CloudTrail", [CloudTrail]),
    preset!("vpc-flow", "AWS VPC flow logs", [VpcFlow]),
    preset!("otel-logs", "OpenTelemetry logs in OTLP's JSON", [OtlpJson]),
    preset!("syslog", "syslog, RFC 5424 and RFC 3164", [Syslog]),
    preset!("postgres-csv", "Postgres' log in CSV", [PostgresCsv]),
    preset!("logfmt", "key=value pairs", [Logfmt]),
    preset!(
        "log",
        "lines with a time: what programs log, in any layout",
        [Log]
    ),
    preset!(
        "container",
        "lines of containers: CRI (Kubernetes), Docker's json-file",
        [Container]
    ),
    preset!("plain", "lines of text", [Plain]),
    preset!(
        "any",
        "documents of any shape: JSON, CSV, TSV, Zeek, Parquet",
        [Ndjson, Json, JsonArray, Csv, Tsv, Zeek, Parquet]
    ),
];

/// Returns the preset with a name.
///
/// # Errors
/// A message that lists the names.
pub fn preset(name: &str) -> Result<&'static Preset, String> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            format!("no preset {name:?}; there are {}", names.join(", "))
        })
}

/// Returns the preset that fits a format.
#[must_use]
pub fn preset_of(format: Format) -> Option<&'static Preset> {
    PRESETS
        .iter()
        .find(|preset| preset.formats.contains(&format))
}
