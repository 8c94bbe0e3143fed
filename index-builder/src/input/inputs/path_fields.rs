//! Fields in paths: `region=eu-west-1/env=prod`.

/// The notation of Hive and Spark for a missing value.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the keys of a path with their values; the last value of each key counts.
pub(super) fn fields_of(path: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    for (key, value) in folders.split('/').filter_map(|part| part.split_once('=')) {
        if key.is_empty() || value.is_empty() || value == NO_VALUE {
            continue;
        }
        let (key, value) = (decoded(key), decoded(value));
        fields.retain(|(known, _)| *known != key);
        fields.push((key, value));
    }
    fields
}

/// Decodes `%3A` and the like, with which Hive writes characters that are invalid in file names.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        let digits = text.get(place + 1..place + 3).filter(|_| *byte == b'%');
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) => {
                decoded.push(escaped);
                place += 3;
            }
            None => {
                decoded.push(*byte);
                place += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_string())
}
