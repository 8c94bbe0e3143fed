//! JSON with line breaks and indentation, made from compact JSON without parsing values, so that none changes.

/// Formats JSON as `serde_json` does. Strings and numbers stay as they are written.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut chars = json.chars().peekable();
    while let Some(character) = chars.next() {
        match character {
            '"' => {
                out.push('"');
                push_rest_of_string(&mut chars, &mut out);
            }
            '{' | '[' => {
                out.push(character);
                while chars.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                match chars.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        break_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            white if white.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

fn push_rest_of_string(chars: &mut impl Iterator<Item = char>, out: &mut String) {
    while let Some(character) = chars.next() {
        out.push(character);
        match character {
            '"' => return,
            '\\' => out.extend(chars.next()),
            _ => {}
        }
    }
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a\"\\\\{}\\[\\]:, \\n]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a\":]{0,3}", inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_layout_is_that_of_serde_json(value in json()) {
            let expected = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(pretty(&value.to_string()), expected.clone());
            prop_assert_eq!(pretty(&expected), expected);
        }
    }

    #[test]
    fn numbers_stay_as_they_are_written() {
        let json = r#"{"a":[1e3,1.0,-0,123456789012345678901234567890]}"#;
        let laid_out = pretty(json);
        assert_eq!(laid_out.split_ascii_whitespace().collect::<String>(), json);
    }
}
