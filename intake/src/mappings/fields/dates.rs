//! Elasticsearch's formats of dates → the formats that a field reads.

use crate::mappings::error::{MappingError, Result};

/// Formats of a date field without `format`.
const DEFAULT: [&str; 2] = ["date_optional_time", "unix_timestamp_millis"];

/// Named formats of dates that may lack their last parts.
const OPTIONAL: [&str; 3] = ["date_optional_time", "date_optional_time_nanos", "iso8601"];

/// Named formats that are parts of ISO 8601.
const ISO: [&str; 4] = ["date_time", "date_time_no_millis", "date", "year_month_day"];

/// Other named formats, with their patterns. `strict_` before a name has no effect.
const NAMED: [(&str, &str); 20] = [
    ("basic_date", "yyyyMMdd"),
    ("basic_date_time", "yyyyMMdd'T'HHmmss.SSSXX"),
    ("basic_date_time_no_millis", "yyyyMMdd'T'HHmmssXX"),
    ("basic_ordinal_date", "yyyyDDD"),
    ("basic_ordinal_date_time", "yyyyDDD'T'HHmmss.SSSXX"),
    ("basic_ordinal_date_time_no_millis", "yyyyDDD'T'HHmmssXX"),
    ("basic_week_date", "YYYY'W'wwe"),
    ("date_hour", "yyyy-MM-dd'T'HH"),
    ("date_hour_minute", "yyyy-MM-dd'T'HH:mm"),
    ("date_hour_minute_second", "yyyy-MM-dd'T'HH:mm:ss"),
    (
        "date_hour_minute_second_fraction",
        "yyyy-MM-dd'T'HH:mm:ss.SSS",
    ),
    (
        "date_hour_minute_second_millis",
        "yyyy-MM-dd'T'HH:mm:ss.SSS",
    ),
    ("ordinal_date", "yyyy-DDD"),
    ("ordinal_date_time", "yyyy-DDD'T'HH:mm:ss.SSSXXX"),
    ("ordinal_date_time_no_millis", "yyyy-DDD'T'HH:mm:ssXXX"),
    ("week_date", "YYYY-'W'ww-e"),
    ("week_date_time", "YYYY-'W'ww-e'T'HH:mm:ss.SSSXXX"),
    ("week_date_time_no_millis", "YYYY-'W'ww-e'T'HH:mm:ssXXX"),
    ("year", "yyyy"),
    ("year_month", "yyyy-MM"),
];

/// Maximum number of formats that one with optional parts or zones stands for.
const MAX_ALTERNATIVES: usize = 32;

/// Returns the `input_formats` for a `format`: alternatives separated by `||`.
pub(in crate::mappings) fn input_formats(format: Option<&str>, path: &str) -> Result<Vec<String>> {
    let Some(format) = format else {
        return Ok(DEFAULT.map(str::to_owned).into());
    };
    let mut formats: Vec<String> = Vec::new();
    for one in format.split("||") {
        let one = one.trim();
        let name = one.strip_prefix("strict_").unwrap_or(one);
        let own = match name {
            "epoch_millis" => vec!["unix_timestamp_millis".to_owned()],
            "epoch_second" => vec!["unix_timestamp_secs".to_owned()],
            name if OPTIONAL.contains(&name) => vec!["date_optional_time".to_owned()],
            name if ISO.contains(&name) => vec!["iso8601".to_owned()],
            name => {
                let named = NAMED.iter().find(|(own, _)| *own == name);
                let pattern = named.map_or(one, |(_, pattern)| *pattern);
                translated(pattern).map_err(|problem| {
                    MappingError::mapper(format!(
                        "the format [{one}] of field [{path}] is not known here: {problem}. Use [strict_date_optional_time], \
                         [epoch_millis], or a pattern such as [yyyy-MM-dd HH:mm:ss]"
                    ))
                })?
            }
        };
        for own in own {
            if !formats.contains(&own) {
                formats.push(own);
            }
        }
    }
    Ok(formats)
}

/// Translates a pattern of Java's to the `strptime` patterns that read the same dates together.
///
/// # Errors
/// It has a letter that has no counterpart, or is incomplete.
fn translated(pattern: &str) -> std::result::Result<Vec<String>, String> {
    let mut all = Vec::new();
    for pattern in without_options(pattern)? {
        all.extend(read(&pattern)?);
        if all.len() > MAX_ALTERNATIVES {
            return Err("it has too many optional parts".to_owned());
        }
    }
    Ok(all)
}

/// Returns the patterns for which one with optional parts in brackets stands: the longest first.
fn without_options(pattern: &str) -> std::result::Result<Vec<String>, String> {
    let mut is_quoted = false;
    let mut depth = 0_usize;
    let mut start = None;
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            b'\'' => is_quoted = !is_quoted,
            b'[' if !is_quoted => {
                start = start.or(Some(at));
                depth += 1;
            }
            b']' if !is_quoted => {
                depth = depth.checked_sub(1).ok_or("a bracket is not opened")?;
                let Some(start) = start.filter(|_| depth == 0) else {
                    continue;
                };
                let parts = (
                    pattern.get(..start),
                    pattern.get(start + 1..at),
                    pattern.get(at + 1..),
                );
                let (Some(before), Some(inside), Some(after)) = parts else {
                    return Err("it cannot be divided".to_owned());
                };
                let mut all = without_options(&format!("{before}{inside}{after}"))?;
                all.extend(without_options(&format!("{before}{after}"))?);
                return match all.len() <= MAX_ALTERNATIVES {
                    true => Ok(all),
                    false => Err("it has too many optional parts".to_owned()),
                };
            }
            _ => {}
        }
    }
    match (depth, is_quoted) {
        (0, false) => Ok(vec![pattern.to_owned()]),
        (0, true) => Err("a quote is not closed".to_owned()),
        _ => Err("a bracket is not closed".to_owned()),
    }
}

/// Translates a pattern without optional parts; several patterns, if it has a zone with several forms.
fn read(pattern: &str) -> std::result::Result<Vec<String>, String> {
    let mut out = vec![String::new()];
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (text, after) = quoted.split_once('\'').ok_or("a quote is not closed")?;
            // Two quotes are an escaped one.
            let text = if text.is_empty() { "'" } else { text };
            add(&mut out, &[&text.replace('%', "%%")]);
            rest = after;
            continue;
        }
        let after = rest.trim_start_matches(next);
        let len = rest.len() - after.len();
        match next {
            // The point before a fraction belongs to it.
            '.' if len == 1 && after.starts_with('S') => {
                add(&mut out, &["%.f"]);
                rest = after.trim_start_matches('S');
                continue;
            }
            next if next.is_ascii_alphabetic() => add(&mut out, letter(next, len)?),
            '%' => add(&mut out, &["%%"]),
            next if "{}#".contains(next) => return Err(format!("[{next}] is reserved")),
            next => {
                let text = next.to_string().repeat(len / next.len_utf8());
                add(&mut out, &[&text]);
            }
        }
        rest = after;
    }
    match out.iter().all(|pattern| pattern.contains('%')) {
        true => Ok(out),
        false => Err("it has no part of a date".to_owned()),
    }
}

/// Appends to all patterns; several texts are alternatives.
fn add(patterns: &mut Vec<String>, texts: &[&str]) {
    let with = |pattern: &String| {
        let pattern = pattern.clone();
        texts.iter().map(move |text| format!("{pattern}{text}"))
    };
    *patterns = patterns.iter().flat_map(with).collect();
}

/// Returns what reads the same as a letter that stands so many times in a pattern of Java's.
fn letter(letter: char, len: usize) -> std::result::Result<&'static [&'static str], String> {
    Ok(match (letter, len) {
        ('y' | 'u', 2) => &["%y"],
        ('y' | 'u', _) => &["%Y"],
        ('Y' | 'x', 4) => &["%G"],
        ('M' | 'L', 1 | 2) => &["%m"],
        ('M' | 'L', 3) => &["%b"],
        ('M' | 'L', 4) => &["%B"],
        ('d', 1 | 2) => &["%d"],
        ('D', 1..=3) => &["%j"],
        ('w', 1 | 2) => &["%V"],
        // In the weeks of ISO 8601, the first day is Monday.
        ('e', 1) => &["%u"],
        ('E', 1..=3) => &["%a"],
        ('E', 4) => &["%A"],
        ('a', 1) => &["%p"],
        ('H', 1 | 2) => &["%H"],
        ('h', 1 | 2) => &["%I"],
        ('m', 1 | 2) => &["%M"],
        ('s', 1 | 2) => &["%S"],
        // Dates are written in the first form, as Java writes them.
        ('X', 1 | 2) => &["Z", "%z"],
        ('X', 3) => &["Z", "%:z"],
        ('x' | 'Z', 1..=3) if letter == 'Z' || len < 3 => &["%z"],
        ('x', 3) | ('Z', 5) => &["%:z"],
        // Names of other zones would need their history.
        ('z', 1..=3) => &["UTC", "GMT", "%z"],
        ('S', _) => &["%f"],
        ('k' | 'K', _) => return Err(format!("hours of [{letter}] are not supported: use [HH]")),
        (letter, len) => {
            let shown = letter.to_string().repeat(len.min(9));
            return Err(format!("[{shown}] is not supported"));
        }
    })
}

#[cfg(test)]
mod tests {
    use canter_doc_mapper::{DateInput, DocMapper, IndexConfig, parse_datetime_literal};
    use serde_json::json;

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
            Some("yyyy-MM-dd HH:mm:ss||yyyy-MM-dd'T'HH:mm:ss.SSSxxx"),
            &["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f%:z"],
        );
        check(Some("dd/MMM/yyyy:HH:mm:ss Z"), &["%d/%b/%Y:%H:%M:%S %z"]);
        check(
            Some("yyyy-MM-dd[ HH:mm[:ss]]"),
            &["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"],
        );
        for wrong in [
            "nonsense",
            "G yyyy",
            "yyyy-'MM",
            "",
            "%Y",
            "[yyyy",
            "yyyy]",
            "yyyy-MM-dd kk",
        ] {
            let error = input_formats(Some(wrong), "at").unwrap_err();
            assert!(error.reason.contains("[at]"), "{wrong}: {error}");
        }
        let deep = "[a]".repeat(10) + "yyyy";
        assert!(input_formats(Some(&deep), "at").is_err());
    }

    /// What Elasticsearch reads in these formats, as RFC 3339.
    #[test]
    fn dates_of_each_format_are_read() {
        let check = |format: &str, text: &str, expected: &str| {
            let formats = input_formats(Some(format), "at").unwrap();
            let config = json!({"version": "0.9", "index_id": "dates", "doc_mapping": {"field_mappings": [
                {"name": "at", "type": "datetime", "input_formats": formats, "fast": true},
            ]}});
            let config = IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
            let mapper = DocMapper::new(&config).unwrap();
            let date = mapper.resolve("at").unwrap().parse_date(text);
            assert_eq!(date, parse_datetime_literal(expected), "{format}: {text}");
            let mut formats = formats
                .iter()
                .map(|format| DateInput::parse(format).unwrap());
            assert!(formats.any(|format| format.reads(text)), "{format}: {text}");
        };
        for (format, text, expected) in [
            ("basic_date", "20240502", "2024-05-02T00:00:00Z"),
            ("strict_basic_date", "20240502", "2024-05-02T00:00:00Z"),
            (
                "basic_date_time",
                "20240502T103015.250Z",
                "2024-05-02T10:30:15.25Z",
            ),
            (
                "basic_date_time",
                "20240502T103015.250+0200",
                "2024-05-02T08:30:15.25Z",
            ),
            (
                "basic_date_time_no_millis",
                "20240502T103015Z",
                "2024-05-02T10:30:15Z",
            ),
            (
                "date_hour_minute_second",
                "2024-05-02T10:30:15",
                "2024-05-02T10:30:15Z",
            ),
            (
                "date_hour_minute_second_millis",
                "2024-05-02T10:30:15.123",
                "2024-05-02T10:30:15.123Z",
            ),
            (
                "date_hour_minute_second_fraction",
                "2024-05-02T10:30:15.5",
                "2024-05-02T10:30:15.5Z",
            ),
            ("year_month", "2024-05", "2024-05-01T00:00:00Z"),
            ("year", "2024", "2024-01-01T00:00:00Z"),
            ("yyyy", "2024", "2024-01-01T00:00:00Z"),
            ("week_date", "2024-W18-4", "2024-05-02T00:00:00Z"),
            ("strict_week_date", "2024-W18-4", "2024-05-02T00:00:00Z"),
            ("ordinal_date", "2024-123", "2024-05-02T00:00:00Z"),
            (
                "MM/dd/yyyy hh:mm a",
                "05/02/2024 03:04 PM",
                "2024-05-02T15:04:00Z",
            ),
            (
                "EEE MMM dd HH:mm:ss Z yyyy",
                "Thu May 02 10:30:15 +0200 2024",
                "2024-05-02T08:30:15Z",
            ),
            (
                "EEE MMM dd HH:mm:ss z yyyy",
                "Thu May 02 10:30:15 UTC 2024",
                "2024-05-02T10:30:15Z",
            ),
            ("M/d/yy", "5/2/24", "2024-05-02T00:00:00Z"),
            ("dd/MM/yyyy", "02/05/2024", "2024-05-02T00:00:00Z"),
            (
                "dd.MM.yyyy HH:mm",
                "02.05.2024 10:30",
                "2024-05-02T10:30:00Z",
            ),
            (
                "uuuu-MM-dd'T'HH:mm:ssX",
                "2024-05-02T10:30:15Z",
                "2024-05-02T10:30:15Z",
            ),
            (
                "uuuu-MM-dd'T'HH:mm:ssXXX",
                "2024-05-02T10:30:15+02:00",
                "2024-05-02T08:30:15Z",
            ),
            (
                "EEEE, d MMMM yyyy",
                "Thursday, 2 May 2024",
                "2024-05-02T00:00:00Z",
            ),
            (
                "yyyyMMddHHmmssSSS",
                "20240502103015250",
                "2024-05-02T10:30:15.25Z",
            ),
            (
                "yyyy-MM-dd HH:mm:ss,SSS",
                "2024-05-02 10:30:15,250",
                "2024-05-02T10:30:15.25Z",
            ),
        ] {
            check(format, text, expected);
        }
    }
}
