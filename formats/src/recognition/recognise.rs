//! Detection of a stream's format by its beginning. Names do not matter here.
//!
//! Most of the first lines must match a format; a single deviating line does not change the result. A
//! stream that matches nothing is plain text.

use serde_json::Value;
use serde_json::error::Category;

use crate::container;
use crate::cut::{is_collection, is_counted, without_nuls};
use crate::json::read_json;
use crate::layout::Hints;
use crate::log_line;
use crate::parse;
use crate::recognition::dialect::{DELIMITERS, Dialect, named_delimiter};
use crate::recognition::format::Format;
use crate::recognition::tables::{format_of, nameless_table, odd_table, records, table};

/// Number of bytes of a stream that are examined.
pub const BEGINNING_LEN: usize = 64 * 1024;
pub(super) const MAX_LINES: usize = 50;
/// Maximum number of lines that are examined where lines may continue others.
const MAX_SAMPLE_LINES: usize = 400;

/// A format, and the notation of its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The format.
    pub format: Format,
    /// For CSV and TSV; meaningless for other formats.
    pub dialect: Dialect,
}

impl Recognised {
    fn of(format: Format) -> Recognised {
        Recognised {
            format,
            dialect: Dialect::new(b','),
        }
    }

    /// Returns a given format, with the dialect of a stream with this beginning.
    #[must_use]
    pub fn forced(format: Format, beginning: &[u8], is_whole: bool) -> Recognised {
        match format {
            Format::Tsv => Recognised::table(b'\t', beginning, is_whole),
            Format::Csv => {
                let found = table(beginning, is_whole, &DELIMITERS);
                found.unwrap_or_else(|| {
                    let delimiter = most_frequent(beginning);
                    Recognised::table(delimiter, beginning, is_whole)
                })
            }
            Format::Syslog => Recognised {
                format,
                dialect: Dialect {
                    counts_octets: is_counted(beginning),
                    ..Dialect::new(b',')
                },
            },
            _ => Recognised::of(format),
        }
        .with_format(format)
    }

    /// Returns a table with a given delimiter.
    #[must_use]
    pub fn table(delimiter: u8, beginning: &[u8], is_whole: bool) -> Recognised {
        let found = table(beginning, is_whole, &[delimiter]);
        found.unwrap_or_else(|| Recognised {
            format: format_of(delimiter),
            dialect: Dialect::of(delimiter, beginning),
        })
    }

    fn with_format(self, format: Format) -> Recognised {
        Recognised { format, ..self }
    }
}

/// Returns the delimiter that is most frequent in the first line; `,` if there is none.
fn most_frequent(beginning: &[u8]) -> u8 {
    let line = beginning.split(|byte| *byte == b'\n').next();
    let line = line.unwrap_or_default();
    if let Some(named) = named_delimiter(line) {
        return named;
    }
    let num = |delimiter: u8| memchr::memchr_iter(delimiter, line).count();
    let most = DELIMITERS.into_iter().max_by_key(|delimiter| {
        // The last of equals counts: `,` is to win.
        (num(*delimiter), *delimiter == b',')
    });
    most.unwrap_or(b',')
}

/// Recognises a stream by its beginning; `is_whole` is true if that is all.
#[must_use]
pub fn recognise(beginning: &[u8], is_whole: bool) -> Recognised {
    let of = Recognised::of;
    let trimmed = beginning.trim_ascii_start();
    match trimmed.first() {
        None => return of(Format::Ndjson),
        Some(b'{') if !begins_lines_with_times(beginning, is_whole) => {
            return of(of_objects(trimmed));
        }
        Some(b'[') if is_array(trimmed) => return of(Format::JsonArray),
        // RFC 7464: each object behind a separator.
        Some(0x1e) if is_behind_separator(trimmed) => return of(Format::Json),
        _ => {}
    }
    if is_counted(beginning) {
        return Recognised::forced(Format::Syslog, beginning, is_whole);
    }
    let lines = lines(beginning, is_whole);
    let most = |is_of: &dyn Fn(&str) -> bool| {
        let num = lines.iter().filter(|line| is_of(line)).count();
        num * 5 > lines.len() * 4 || (num > 0 && num + 1 >= lines.len() && lines.len() <= 4)
    };
    if let Some(format) = of_single_lines(&lines) {
        return of(format);
    }
    if lines.iter().any(|line| is_json_object(line)) {
        return of(of_mixed(beginning, is_whole));
    }
    let hints = Hints::default();
    if most(&|line| parse::alb::parse(line, &mut Vec::new()).is_ok()) {
        return of(Format::Alb);
    }
    if most(&|line| parse::access_log::parse(line, &mut Vec::new()).is_ok()) {
        return of(Format::AccessLog);
    }
    if most(&container::is_cri) {
        return of(Format::Container);
    }
    let num_tagged = lines.iter().filter(|line| parse::syslog::has_tag(line));
    if most(&parse::syslog::is_line) && num_tagged.count() * 2 > lines.len() {
        return of(Format::Syslog);
    }
    if let Some(delimiter) = lines
        .first()
        .and_then(|line| named_delimiter(line.as_bytes()))
    {
        return Recognised::table(delimiter, beginning, is_whole);
    }
    let first = records(beginning, is_whole, parse::postgres::dialect());
    let num_of_postgres = first.iter().filter(|record| is_postgres(record)).count();
    if num_of_postgres > 0 && num_of_postgres * 5 > first.len() * 4 {
        return of(Format::PostgresCsv);
    }
    let found = table(beginning, is_whole, &DELIMITERS);
    if let Some(recognised) = found.or_else(|| odd_table(beginning, is_whole)) {
        return recognised;
    }
    if most(&|line| is_logfmt(line, &hints)) {
        return of(Format::Logfmt);
    }
    if log_line::learn_from(&sample_lines(beginning, is_whole)).is_some() {
        return of(Format::Log);
    }
    nameless_table(beginning, is_whole).unwrap_or_else(|| of(Format::Plain))
}

/// Returns the format that single lines determine: headers, and JSON objects.
fn of_single_lines(lines: &[String]) -> Option<Format> {
    if lines
        .iter()
        .any(|line| parse::tables::zeek::is_header(line))
    {
        return Some(Format::Zeek);
    }
    if parse::tables::w3c::is_readable(lines) {
        return Some(Format::W3c);
    }
    let num_flows = lines.iter().filter(|line| parse::vpc_flow::is_flow(line));
    if num_flows.count() * 10 >= lines.len() * 9
        || lines
            .first()
            .is_some_and(|line| parse::vpc_flow::is_header(line))
    {
        return Some(Format::VpcFlow);
    }
    if lines
        .first()
        .is_some_and(|line| log_line::begins_journal(line.as_bytes()))
        || log_line::are_points(lines.iter().map(String::as_str))
    {
        return Some(Format::Log);
    }
    None
}

/// Returns whether the first line is an object, and most others are lines with a time.
fn begins_lines_with_times(beginning: &[u8], is_whole: bool) -> bool {
    let lines = lines(beginning, is_whole);
    let behind = memchr::memchr(b'\n', beginning.trim_ascii_start());
    let behind = behind.and_then(|end| beginning.trim_ascii_start().get(end..));
    lines.len() > 1
        && lines.first().is_some_and(|line| is_json_object(line))
        && !behind.is_some_and(goes_on_over_lines)
        && of_mixed(beginning, is_whole) == Format::Log
}

/// Returns the format of lines some of which are objects: what most of them are. Without a time in the others, each of
/// them is shown as no object.
fn of_mixed(beginning: &[u8], is_whole: bool) -> Format {
    let lines = sample_lines(beginning, is_whole);
    let num_objects = lines.iter().filter(|line| is_json_object(line)).count();
    let continues = |line: &&String| log_line::goes_on(line.as_bytes());
    let num_records = lines.len() - lines.iter().filter(continues).count();
    let is_log = num_objects * 2 < num_records && log_line::learn_from(&lines).is_some();
    match is_log {
        true => Format::Log,
        false => Format::Ndjson,
    }
}

/// Returns the first complete lines that are not blank.
fn lines(beginning: &[u8], is_whole: bool) -> Vec<String> {
    first_lines(beginning, is_whole, MAX_LINES)
}

/// Returns more of the first complete lines that are not blank.
pub(crate) fn sample_lines(beginning: &[u8], is_whole: bool) -> Vec<String> {
    first_lines(beginning, is_whole, MAX_SAMPLE_LINES)
}

fn first_lines(beginning: &[u8], is_whole: bool, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<&[u8]> = beginning.split(|byte| *byte == b'\n').collect();
    if !is_whole && lines.len() > 1 {
        lines.pop();
    }
    lines
        .into_iter()
        .map(without_nuls)
        .filter(|line| !line.trim_ascii().is_empty())
        .take(max_lines)
        .map(|line| {
            let text = String::from_utf8_lossy(line);
            text.strip_suffix('\r').unwrap_or(&text).to_string()
        })
        .collect()
}

/// Returns the format of JSON that begins with `{`.
fn of_objects(text: &[u8]) -> Format {
    for (format, name) in [
        (Format::CloudTrail, "\"Records\""),
        (Format::CloudTrail, "\"records\""),
        (Format::OtlpJson, "\"resourceLogs\""),
        (Format::OtlpJson, "\"resource_logs\""),
    ] {
        if has_list(text, name) {
            return format;
        }
    }
    if is_collection(text) {
        return Format::JsonArray;
    }
    if lines(text, false)
        .first()
        .is_some_and(|line| container::is_json_file(line))
    {
        return Format::Container;
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let first = values.next();
    let num_used = values.byte_offset();
    match first {
        Some(Ok(value)) => {
            let (used, after) = text.split_at_checked(num_used).unwrap_or((text, &[]));
            let line = after.split(|byte| *byte == b'\n').next();
            let follows = line.unwrap_or_default().trim_ascii();
            let has_more = follows
                .first()
                .is_some_and(|byte| matches!(byte, b'{' | b','));
            let has_more = has_more || is_behind_nuls(follows) || goes_on_over_lines(after);
            match has_more || used.contains(&b'\n') {
                true => Format::Json,
                false if is_cloudfront(&value) => Format::CloudFrontJson,
                false => Format::Ndjson,
            }
        }
        // Valid so far, over more than one line, and the lines are not objects themselves.
        Some(Err(error)) if error.classify() == Category::Eof => {
            let lines = lines(text, false);
            let num_objects = lines.iter().filter(|line| is_json_object(line)).count();
            match text.contains(&b'\n') && num_objects * 2 < lines.len() {
                true => Format::Json,
                false => Format::Ndjson,
            }
        }
        _ => Format::Ndjson,
    }
}

fn is_behind_separator(text: &[u8]) -> bool {
    let object = text
        .iter()
        .find(|byte| !matches!(byte, 0x1e | b' ' | b'\n'));
    object == Some(&b'{')
}

/// Returns whether another object follows behind a NUL, as GELF over TCP has it
/// (`https://go2docs.graylog.org/current/getting_in_log_data/gelf.html`).
fn is_behind_nuls(text: &[u8]) -> bool {
    let num_nuls = text.iter().take_while(|byte| **byte == 0).count();
    num_nuls > 0 && text.get(num_nuls) == Some(&b'{')
}

/// Returns whether an object over several lines follows one on a line of its own, as in Apple's reports of crashes.
fn goes_on_over_lines(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let Some((line, others)) = memchr::memchr(b'\n', text).map(|end| text.split_at(end)) else {
        return false;
    };
    let is_object = |line: &[u8]| is_json_object(&String::from_utf8_lossy(line));
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let is_valid = match values.next() {
        Some(Err(error)) => error.classify() == Category::Eof,
        first => first.is_some(),
    };
    let mut lines = others.split(|byte| *byte == b'\n');
    // A brace alone is an object that was not written to its end.
    let names_value = others.trim_ascii_start().starts_with(b"\"");
    text.starts_with(b"{") && names_value && is_valid && !is_object(line) && !lines.any(is_object)
}

/// Returns whether it begins with `{"name": [`.
fn has_list(text: &[u8], name: &str) -> bool {
    let after = |text: &[u8], wanted: &[u8]| -> Option<Vec<u8>> {
        let rest = text.trim_ascii_start().strip_prefix(wanted)?;
        Some(rest.get(..64).unwrap_or(rest).to_vec())
    };
    let found = after(text, b"{")
        .and_then(|rest| after(&rest, name.as_bytes()))
        .and_then(|rest| after(&rest, b":"))
        .and_then(|rest| after(&rest, b"["));
    found.is_some()
}

fn is_cloudfront(value: &Value) -> bool {
    value.get("x-edge-location").is_some() && value.get("date").is_some()
}

fn is_array(text: &[u8]) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_ascii_start();
    let begins = matches!(inside.first(), None | Some(b'{' | b']'));
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    begins
        && match values.next() {
            Some(Ok(_)) => true,
            Some(Err(error)) => error.classify() == Category::Eof || begins_with_element(inside),
            None => false,
        }
}

/// Returns whether the inside of an array begins with an object and a comma: what is wrong behind it, such as a comma before
/// the end, concerns the elements there.
fn begins_with_element(inside: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(inside).into_iter::<Value>();
    let is_object = matches!(values.next(), Some(Ok(Value::Object(_))));
    let behind = inside.get(values.byte_offset()..).unwrap_or_default();
    is_object && behind.trim_ascii_start().starts_with(b",")
}

fn is_json_object(line: &str) -> bool {
    line.trim_start().starts_with('{')
        && read_json::<Value>(line.as_bytes()).is_ok_and(|value| value.is_object())
}

fn is_postgres(record: &[u8]) -> bool {
    std::str::from_utf8(record).is_ok_and(parse::postgres::is_record)
}

/// Requires at least two pairs, and pairs before anything else.
fn is_logfmt(line: &str, hints: &Hints) -> bool {
    let mut pairs = parse::logfmt::Pairs::new(line);
    if !matches!(pairs.next(), Some(Ok(pair)) if pair.value.is_some()) {
        return false;
    }
    let num_words = parse::logfmt::Pairs::new(line).count();
    let num_pairs = parse::logfmt::Pairs::new(line)
        .filter(|pair| matches!(pair, Ok(pair) if pair.value.is_some()))
        .count();
    num_pairs >= 2
        && num_pairs * 4 >= num_words * 3
        && parse::logfmt::parse(line, hints, &mut Vec::new()).is_ok()
}
