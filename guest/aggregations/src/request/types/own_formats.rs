//! Formats of dates that come from the mapping: an aggregation without a `format` writes a date as its field does.

use canter_doc_mapper::{DateInput, DocMapper, FieldKind};

use super::{Aggregation, Kind, RangeOf};
use crate::calendar::DateFormat;

/// Returns the fields whose dates these aggregations would write in the format of their mapping, each with that format.
pub(crate) fn own_formats(list: &[Aggregation], mapper: &DocMapper) -> Vec<(String, String)> {
    let mut formats: Vec<(String, String)> = Vec::new();
    for_each_format(&mut list.to_vec(), &mut |field, _| {
        let Some(FieldKind::Date(kind)) = mapper.kind_of(field) else {
            return;
        };
        let own = kind.input_formats.first().and_then(pattern_of);
        formats.extend(own.map(|own| (field.to_owned(), own)));
    });
    canter_sorting::sort(&mut formats);
    formats.dedup();
    formats
}

/// Returns the aggregations, of which those without a format have that of their field.
pub(crate) fn in_formats(list: &[Aggregation], formats: &[(String, String)]) -> Vec<Aggregation> {
    let mut list = list.to_vec();
    for_each_format(&mut list, &mut |field, format| {
        let own = formats.iter().find(|(name, _)| name == field);
        *format = own.and_then(|(_, own)| DateFormat::parse(own).ok());
    });
    list
}

/// Calls `each` with the field and the absent format of each aggregation that writes dates.
fn for_each_format(list: &mut [Aggregation], each: &mut dyn FnMut(&str, &mut Option<DateFormat>)) {
    for aggregation in list {
        let found = match &mut aggregation.kind {
            Kind::DateHistogram(found) => Some((&found.source.field, &mut found.format)),
            Kind::AutoDateHistogram(found) => Some((&found.source.field, &mut found.format)),
            Kind::Terms(found) => Some((&found.source.field, &mut found.format)),
            Kind::Metric(found) => Some((&found.source.field, &mut found.format)),
            Kind::Range(found) if found.what == RangeOf::Dates => {
                Some((&found.source.field, &mut found.format))
            }
            _ => None,
        };
        if let Some((field, format)) = found
            && format.is_none()
        {
            each(field, format);
        }
        for_each_format(&mut aggregation.inside, each);
    }
}

/// Returns the pattern of Java's for what documents have. Returns `None` if that is the default, or has no such pattern.
fn pattern_of(input: &DateInput) -> Option<String> {
    let pattern = match input {
        DateInput::UnixMillis => return Some("epoch_millis".to_owned()),
        DateInput::UnixSecs => return Some("epoch_second".to_owned()),
        DateInput::Strptime(pattern) => pattern,
        _ => return None,
    };
    let mut written = String::new();
    let mut rest = pattern.chars();
    // Letters are fields of a pattern unless they are in quotes.
    let mut is_quoted = false;
    while let Some(c) = rest.next() {
        if c != '%' {
            if c.is_ascii_alphabetic() && !is_quoted {
                written.push('\'');
                is_quoted = true;
            }
            match c {
                '\'' => written.push_str("''"),
                c => written.push(c),
            }
            continue;
        }
        if std::mem::take(&mut is_quoted) {
            written.push('\'');
        }
        written.push_str(match rest.next()? {
            'Y' => "yyyy",
            'y' => "yy",
            'm' => "MM",
            'd' => "dd",
            'e' => "d",
            'j' => "DDD",
            'H' => "HH",
            'I' => "hh",
            'M' => "mm",
            'S' => "ss",
            'p' => "a",
            'b' | 'h' => "MMM",
            'B' => "MMMM",
            'a' => "EEE",
            'A' => "EEEE",
            'z' => "xx",
            'F' => "yyyy-MM-dd",
            'T' => "HH:mm:ss",
            // A fraction with its dot, of any number of digits.
            '.' if rest.next() == Some('f') => ".SSS",
            '%' => "%",
            _ => return None,
        });
    }
    if is_quoted {
        written.push('\'');
    }
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Zone;

    #[test]
    fn what_documents_have_is_a_pattern() {
        for (own, expected) in [
            ("%Y-%m-%d", "2023-11-14"),
            ("%Y/%m/%d %H:%M:%S", "2023/11/14 22:13:20"),
            ("%Y-%m-%dT%H:%M:%S%.f%z", "2023-11-14T22:13:20.000+0000"),
            ("%d/%b/%Y:%H:%M:%S %z", "14/Nov/2023:22:13:20 +0000"),
            ("%Y o'clock %H", "2023 o'clock 22"),
        ] {
            let pattern = pattern_of(&DateInput::Strptime(own.to_owned())).unwrap();
            let format = DateFormat::parse(&pattern).unwrap();
            let text = format.format(1_700_000_000_000_000_000, &Zone::utc());
            assert_eq!(text, expected, "{own} {pattern}");
        }
        assert_eq!(pattern_of(&DateInput::Strptime("%s".to_owned())), None);
        assert_eq!(pattern_of(&DateInput::Rfc3339), None);
    }
}
