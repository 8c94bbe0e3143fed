//! What a document says of itself beside its contents: the id that a client gave it, and its version.

use std::borrow::Cow;

use serde_json::Value;

use super::source::entries;

/// Field with the id, where no field of the documents contains it.
const ID: &str = "_id";
/// Field with the number of versions of an id, unless the document is the first.
const VERSION: &str = "_version";

/// A document without what it says of itself.
pub(super) struct OwnId<'d> {
    /// The id, if a client gave one.
    pub(super) id: Option<Value>,
    pub(super) version: u64,
    pub(super) document: Cow<'d, str>,
}

impl<'d> OwnId<'d> {
    /// Takes what a document of an index with this `id_field` says of itself.
    pub(super) fn of(document: &'d str, id_field: Option<&str>) -> Self {
        let mut own = Self {
            id: None,
            version: 1,
            document: document.into(),
        };
        let Some((id_field, entries)) = id_field.zip(entries(document)) else {
            return own;
        };
        let mut is_whole = true;
        for (name, value) in &entries {
            let value = || serde_json::from_str::<Value>(value.get()).unwrap_or(Value::Null);
            if name == id_field {
                own.id = Some(value()).filter(Value::is_string);
            }
            if name == VERSION {
                own.version = value().as_u64().unwrap_or(1);
            }
            is_whole &= !is_about_itself(name);
        }
        if !is_whole {
            let kept = entries.iter().filter(|(name, _)| !is_about_itself(name));
            let kept = kept.map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
            let kept: Vec<String> = kept.collect();
            own.document = format!("{{{}}}", kept.join(",")).into();
        }
        own
    }
}

fn is_about_itself(name: &str) -> bool {
    matches!(name, ID | VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_versions_are_no_contents() {
        let check = |document: &str, id_field, id: Option<&str>, version, contents: &str| {
            let own = OwnId::of(document, id_field);
            assert_eq!(own.id, id.map(Value::from), "{document}");
            assert_eq!(own.version, version, "{document}");
            assert_eq!(own.document, contents);
        };
        let plain = r#"{ "a": 1.0, "_id": "x" }"#;
        check(plain, None, None, 1, plain);
        check(r#"{"a": 1.0}"#, Some("_id"), None, 1, r#"{"a": 1.0}"#);
        let whole = r#"{"_version":3,"_id":"x\"y","a": 12345678901234567890123, "b":{"_id":1}}"#;
        let contents = r#"{"a":12345678901234567890123,"b":{"_id":1}}"#;
        check(whole, Some("_id"), Some("x\"y"), 3, contents);
        let catalogue = r#"{"_version":2,"sku":"x"}"#;
        check(catalogue, Some("sku"), Some("x"), 2, r#"{"sku":"x"}"#);
        check("no json", Some("_id"), None, 1, "no json");
    }
}
