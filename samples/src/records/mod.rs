//! Records of each layout, generated from a seed according to the vendor's description, together with the
//! documents in them. For tests and benches, not part of the data path.

mod aws;
mod families;
mod json;
mod lines;
mod tables;
mod text;
mod values;

use serde_json::Value;

use super::rng::Rng;
use canter_formats::Format;
pub use families::{Family, FamilyRecord, families};

/// A file of some format, and its documents.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The format.
    pub format: Format,
    /// The file.
    pub bytes: Vec<u8>,
    /// A document for each record, in order.
    pub docs: Vec<Value>,
}

/// The formats that are recognised by their text.
pub const LAYOUTS: [Format; 19] = {
    let [layouts @ .., _] = Format::ALL;
    layouts
};

/// Returns a file of `num_docs` records.
#[must_use]
pub fn sample(format: Format, num_docs: u64, seed: u64) -> Sample {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let (bytes, docs) = match format {
        // The form of Parquet at this level.
        Format::Ndjson | Format::Parquet => json::one_a_line(&mut rng, num_docs),
        Format::Json => json::without_delimiter(&mut rng, num_docs),
        Format::JsonArray => json::array(&mut rng, num_docs),
        Format::OtlpJson => json::otlp(&mut rng, num_docs),
        Format::CloudTrail => aws::cloudtrail(&mut rng, num_docs),
        Format::Alb => aws::alb(&mut rng, num_docs),
        Format::W3c => aws::cloudfront(&mut rng, num_docs),
        Format::CloudFrontJson => aws::cloudfront_json(&mut rng, num_docs),
        Format::Zeek => tables::zeek(&mut rng, num_docs),
        Format::PostgresCsv => tables::postgres(&mut rng, num_docs),
        Format::VpcFlow => aws::vpc_flow(&mut rng, num_docs),
        Format::Csv => text::table(&mut rng, num_docs, ','),
        Format::Tsv => text::table(&mut rng, num_docs, '\t'),
        Format::AccessLog => text::access_log(&mut rng, num_docs),
        Format::Syslog => text::syslog(&mut rng, num_docs),
        Format::Logfmt => text::logfmt(&mut rng, num_docs),
        Format::Log => lines::log(&mut rng, num_docs),
        Format::Container => lines::container(&mut rng, num_docs),
        Format::Plain => text::plain(&mut rng, num_docs),
    };
    Sample {
        format,
        bytes,
        docs,
    }
}
