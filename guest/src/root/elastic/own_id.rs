//! What a document says of itself beside its contents: the id and the routing that a client gave it, its version, and its
//! sequence number.

use std::borrow::Cow;

use serde_json::Value;

use super::source::entries;

/// Field with the id, where no field of the documents contains it.
const ID: &str = "_id";
/// Field with the number of versions of an id, unless the document is the first.
const VERSION: &str = "_version";
/// Field with the sequence number, where a server numbered the document.
const SEQ_NO: &str = "_seq_no";
/// Field with the routing.
const ROUTING: &str = "_routing";

/// A document without what it says of itself.
pub(super) struct OwnId<'d> {
    /// The id, if a client gave one.
    pub(super) id: Option<Value>,
    pub(super) version: u64,
    pub(super) seq_no: Option<u64>,
    pub(super) routing: Option<Value>,
    pub(super) document: Cow<'d, str>,
}

impl<'d> OwnId<'d> {
    /// Takes what a document of an index with this `id_field` says of itself.
    pub(super) fn of(document: &'d str, id_field: Option<&str>) -> Self {
        let mut own = Self {
            id: None,
            version: 1,
            seq_no: None,
            routing: None,
            document: document.into(),
        };
        let Some((id_field, entries)) = id_field.zip(entries(document)) else {
            return own;
        };
        // Elsewhere, these are names that documents may have.
        let is_own = id_field == ID;
        let is_about_itself =
            |name: &str| matches!(name, ID | VERSION) || is_own && matches!(name, SEQ_NO | ROUTING);
        let mut is_whole = true;
        for (name, value) in &entries {
            let value = || serde_json::from_str::<Value>(value.get()).unwrap_or(Value::Null);
            if name == id_field {
                own.id = Some(value()).filter(Value::is_string);
            }
            if name == VERSION {
                own.version = value().as_u64().unwrap_or(1);
            }
            if is_own && name == SEQ_NO {
                own.seq_no = value().as_u64();
            }
            if is_own && name == ROUTING {
                own.routing = Some(value()).filter(Value::is_string);
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

    #[test]
    fn numbers_and_routings_are_taken_where_ids_are_no_fields() {
        let document = r#"{"_seq_no":7,"_id":"x","_routing":"r","a":1}"#;
        let own = OwnId::of(document, Some("_id"));
        assert_eq!(own.seq_no, Some(7));
        assert_eq!(own.routing, Some("r".into()));
        assert_eq!(own.document, r#"{"a":1}"#);
        let own = OwnId::of(document, Some("a"));
        assert_eq!((own.seq_no, own.routing), (None, None));
        assert_eq!(own.document, r#"{"_seq_no":7,"_routing":"r","a":1}"#);
    }
}
