//! Insertion of a JSON object's members into another one, as they are written.

/// Appends the members of `object`, which is valid JSON, with commas between them and one before the first if
/// `is_first` is false. A name in `taken` gets the prefix `log_`, so that no value hides another.
pub(crate) fn append_members(object: &str, taken: &[&str], mut is_first: bool, out: &mut Vec<u8>) {
    let text = object.as_bytes();
    let mut place = after_space(text, after_space(text, 0) + 1);
    while text.get(place) == Some(&b'"') {
        let key_end = string_end(text, place);
        let value = after_space(text, after_space(text, key_end) + 1);
        let end = value_end(text, value);
        let (Some(key), Some(value)) = (object.get(place..key_end), object.get(value..end)) else {
            return;
        };
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        let name = key.get(1..key.len() - 1).unwrap_or_default();
        match taken.contains(&name) {
            true => {
                out.extend_from_slice(b"\"log_");
                out.extend_from_slice(name.as_bytes());
                out.push(b'"');
            }
            false => out.extend_from_slice(key.as_bytes()),
        }
        out.push(b':');
        out.extend_from_slice(value.trim_ascii_end().as_bytes());
        place = after_space(text, end + 1);
    }
}

fn after_space(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    place
        + rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
}

/// Returns the position after the closing quote of the string that opens at `place`.
fn string_end(text: &[u8], place: usize) -> usize {
    let mut end = place + 1;
    while let Some(byte) = text.get(end) {
        match byte {
            b'\\' => end += 2,
            b'"' => return end + 1,
            _ => end += 1,
        }
    }
    text.len()
}

/// Returns the position of the comma or brace after the value that begins at `place`.
fn value_end(text: &[u8], place: usize) -> usize {
    let (mut end, mut depth) = (place, 0_usize);
    while let Some(byte) = text.get(end) {
        match byte {
            b'"' => {
                end = string_end(text, end);
                continue;
            }
            b',' | b'}' if depth == 0 => return end,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        end += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spliced(object: &str, taken: &[&str]) -> String {
        let mut out = b"{\"time\":1".to_vec();
        append_members(object, taken, false, &mut out);
        out.push(b'}');
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_keep_their_text_and_lose_no_value_to_a_name_that_is_taken() {
        let object = r#" { "a" : {"b":[1,"}\""]} , "time":2.50 ,"c\"":null } "#;
        assert_eq!(
            spliced(object, &["time"]),
            r#"{"time":1,"a":{"b":[1,"}\""]},"log_time":2.50,"c\"":null}"#
        );
        assert_eq!(spliced("{}", &[]), r#"{"time":1}"#);
    }

    proptest! {
        #[test]
        fn any_object_is_read_back(
            members in prop::collection::btree_map("[a-c\\\\\"{},:é]{1,4}", "[a-c\\\\\"{}\\[\\],: é]{0,6}", 0..6),
            is_pretty in any::<bool>(),
        ) {
            let object: serde_json::Map<_, _> = members
                .into_iter()
                .map(|(name, value)| (name, serde_json::json!([{"x": value}, value])))
                .collect();
            let text = match is_pretty {
                true => serde_json::to_string_pretty(&object).unwrap(),
                false => serde_json::to_string(&object).unwrap(),
            };
            let mut back: serde_json::Map<_, _> = serde_json::from_str(&spliced(&text, &[])).unwrap();
            back.remove("time");
            prop_assert_eq!(back, object);
        }
    }
}
