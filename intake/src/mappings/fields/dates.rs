//! Elasticsearch's formats of dates → the formats that a field reads.

use crate::mappings::error::{MappingError, Result};

/// Formats of a date field without `format`.
const DEFAULT: [&str; 2] = ["date_optional_time", "unix_timestamp_millis"];

/// Named formats of dates that may lack their last parts.
const OPTIONAL: [&str; 5] = [
    "date_optional_time",
    "strict_date_optional_time",
    "strict_date_optional_time_nanos",
    "date_optional_time_nanos",
    "iso8601",
];

/// Named formats that are parts of ISO 8601.
const ISO: [&str; 8] = [
    "date_time",
    "strict_date_time",
    "date_time_no_millis",
    "strict_date_time_no_millis",
    "date",
    "strict_date",
    "strict_year_month_day",
    "year_month_day",
];

/// Letters of Java's date patterns, the longer ones first, with their `strptime` equivalents.
const LETTERS: [(&str, &str); 14] = [
    ("yyyy", "%Y"),
    ("uuuu", "%Y"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("dd", "%d"),
    ("HH", "%H"),
    ("mm", "%M"),
    ("ss", "%S"),
    (".SSSSSSSSS", "%.f"),
    (".SSSSSS", "%.f"),
    (".SSS", "%.f"),
    ("XXX", "%:z"),
    ("xxx", "%:z"),
    ("Z", "%z"),
];

/// Returns the `input_formats` for a `format`: alternatives separated by `||`.
pub(in crate::mappings) fn input_formats(format: Option<&str>, path: &str) -> Result<Vec<String>> {
    let Some(format) = format else {
        return Ok(DEFAULT.map(str::to_owned).into());
    };
    let mut formats: Vec<String> = Vec::new();
    for one in format.split("||") {
        let one = one.trim();
        let own = match one {
            "epoch_millis" => "unix_timestamp_millis".to_owned(),
            "epoch_second" => "unix_timestamp_secs".to_owned(),
            name if OPTIONAL.contains(&name) => "date_optional_time".to_owned(),
            name if ISO.contains(&name) => "iso8601".to_owned(),
            pattern => translated(pattern).ok_or_else(|| {
                MappingError::mapper(format!(
                    "the format [{pattern}] of field [{path}] is not known here: use [strict_date_optional_time], \
                     [epoch_millis], or a pattern of yyyy, MM, MMM, dd, HH, mm, ss, .SSS, XXX and Z"
                ))
            })?,
        };
        if !formats.contains(&own) {
            formats.push(own);
        }
    }
    Ok(formats)
}

/// Translates a pattern to `strptime` syntax; returns `None` if it contains an unknown letter.
fn translated(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let known = LETTERS
            .iter()
            .find_map(|(letters, own)| Some((rest.strip_prefix(letters)?, *own)));
        if let Some((after, own)) = known {
            out.push_str(own);
            rest = after;
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let (text, after) = quoted.split_once('\'')?;
            // Two quotes are an escaped one.
            out.push_str(if text.is_empty() { "'" } else { text });
            rest = after;
        } else if next.is_ascii_alphabetic() || next == '%' {
            return None;
        } else {
            out.push(next);
            rest = rest.strip_prefix(next)?;
        }
    }
    out.contains('%').then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_become_those_that_fields_read() {
        let check = |format: Option<&str>, expect: &[&str]| {
            assert_eq!(input_formats(format, "at").unwrap(), expect, "{format:?}");
        };
        check(None, &["date_optional_time", "unix_timestamp_millis"]);
        check(
            Some("strict_date_optional_time||epoch_millis"),
            &["date_optional_time", "unix_timestamp_millis"],
        );
        check(Some("epoch_second"), &["unix_timestamp_secs"]);
        check(Some("strict_date"), &["iso8601"]);
        check(
            Some("yyyy-MM-dd HH:mm:ss||yyyy-MM-dd'T'HH:mm:ss.SSSXXX"),
            &["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f%:z"],
        );
        check(Some("dd/MMM/yyyy:HH:mm:ss Z"), &["%d/%b/%Y:%H:%M:%S %z"]);
        for wrong in ["week_date", "EEE, d MMM", "yyyy-'MM", "", "%Y"] {
            let error = input_formats(Some(wrong), "at").unwrap_err();
            assert!(error.reason.contains("[at]"), "{wrong}: {error}");
        }
    }
}
