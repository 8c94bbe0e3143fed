//! Objects of an event, from S3, from EventBridge, or from a list of URIs.

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

/// Object that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) bucket: String,
    pub(crate) key: String,
    /// Version in the event; `None` for the current one.
    pub(crate) etag: Option<String>,
    /// True if the event says that the object is empty.
    pub(crate) is_empty: bool,
}

impl Arrived {
    /// Returns whether the object marks a folder, as consoles create it: empty, with a slash at the
    /// end of its name.
    pub(crate) fn is_folder(&self) -> bool {
        self.is_empty && self.key.ends_with('/')
    }

    /// Returns `s3://bucket/key` for messages.
    pub(crate) fn uri(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.key)
    }
}

const KNOWN: &str = "this function takes S3 events (ObjectCreated), EventBridge's \"Object Created\" \
                     and {\"objects\": [\"s3://bucket/key\", …]}";

#[derive(Deserialize)]
struct Notification {
    #[serde(rename = "Records")]
    records: Vec<Record>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(default)]
    event_source: String,
    event_name: String,
    s3: Entity,
}

#[derive(Deserialize)]
struct Entity {
    bucket: Bucket,
    object: Object,
}

#[derive(Deserialize)]
struct Bucket {
    name: String,
}

/// S3 writes `eTag`, EventBridge `etag`.
#[derive(Deserialize)]
struct Object {
    key: String,
    #[serde(default, alias = "eTag")]
    etag: Option<String>,
    #[serde(default)]
    size: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Direct {
    objects: Vec<String>,
}

/// Returns the objects of an event; none for the event that S3 sends when notifications are
/// configured.
///
/// # Errors
/// A description of the supported events, for any other event.
pub(crate) fn arrived(payload: Value) -> Result<Vec<Arrived>, String> {
    let wrong = |error: serde_json::Error| format!("{error}; {KNOWN}");
    if payload
        .get("Event")
        .is_some_and(|event| event == "s3:TestEvent")
    {
        return Ok(Vec::new());
    }
    if payload.get("Records").is_some() {
        let event: Notification = serde_json::from_value(payload).map_err(wrong)?;
        return event.records.into_iter().map(of_record).collect();
    }
    if payload
        .get("detail-type")
        .is_some_and(|kind| kind == "Object Created")
    {
        let detail = payload.get("detail").cloned().unwrap_or_default();
        let Entity { bucket, object } = serde_json::from_value(detail).map_err(wrong)?;
        // Keys are not encoded here.
        return Ok(vec![Arrived {
            bucket: bucket.name,
            key: object.key,
            etag: object.etag,
            is_empty: object.size == Some(0),
        }]);
    }
    if payload.get("objects").is_some() {
        let event: Direct = serde_json::from_value(payload).map_err(wrong)?;
        return event.objects.iter().map(|uri| of_uri(uri)).collect();
    }
    Err(format!("what was sent is not known; {KNOWN}"))
}

fn of_record(record: Record) -> Result<Arrived, String> {
    let is_s3 = record.event_source.is_empty() || record.event_source == "aws:s3";
    if !is_s3 || !record.event_name.contains("ObjectCreated:") {
        let name = record.event_name;
        return Err(format!(
            "an event {name:?} is no object that was made; {KNOWN}"
        ));
    }
    // Keys are form-encoded here.
    let key = record.s3.object.key.replace('+', " ");
    let key = percent_decode_str(&key).decode_utf8();
    let key = key.map_err(|error| format!("the key of an object is not UTF-8: {error}"))?;
    Ok(Arrived {
        bucket: record.s3.bucket.name,
        key: key.into_owned(),
        etag: record.s3.object.etag,
        is_empty: record.s3.object.size == Some(0),
    })
}

fn of_uri(uri: &str) -> Result<Arrived, String> {
    let parts = uri
        .strip_prefix("s3://")
        .and_then(|rest| rest.split_once('/'));
    match parts {
        Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => Ok(Arrived {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            etag: None,
            is_empty: false,
        }),
        _ => Err(format!("{uri:?} is no object: give s3://bucket/key")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_notification_names_its_objects() {
        let event = json!({"Records": [{
            "eventVersion": "2.1",
            "eventSource": "aws:s3",
            "eventName": "ObjectCreated:Put",
            "s3": {
                "bucket": {"name": "in", "arn": "arn:aws:s3:::in"},
                "object": {"key": "a+b/%C3%BC%2B.ndjson.gz", "size": 10, "eTag": "0123"},
            },
        }]});
        let expect = Arrived {
            bucket: "in".to_owned(),
            key: "a b/ü+.ndjson.gz".to_owned(),
            etag: Some("0123".to_owned()),
            is_empty: false,
        };
        assert_eq!(arrived(event).unwrap(), [expect]);
        assert_eq!(
            arrived(json!({"Service": "Amazon S3", "Event": "s3:TestEvent"})).unwrap(),
            []
        );
    }

    #[test]
    fn eventbridge_and_lists_name_theirs() {
        let event = json!({
            "detail-type": "Object Created",
            "source": "aws.s3",
            "detail": {"bucket": {"name": "in"}, "object": {"key": "a+b", "etag": "01", "size": 1}},
        });
        assert_eq!(arrived(event).unwrap()[0].key, "a+b");
        let folder = |key: &str, size: u64| {
            let event = json!({
                "detail-type": "Object Created",
                "detail": {"bucket": {"name": "in"}, "object": {"key": key, "size": size}},
            });
            arrived(event).unwrap()[0].is_folder()
        };
        assert!(folder("a/", 0) && !folder("a/", 1) && !folder("a", 0));
        let list = arrived(json!({"objects": ["s3://in/a/b c.json"]})).unwrap();
        assert_eq!(list[0].uri(), "s3://in/a/b c.json");
    }

    #[test]
    fn anything_else_is_refused_with_what_is_taken() {
        let record = |name: &str, source: &str| {
            let s3 = json!({"bucket": {"name": "b"}, "object": {"key": "k"}});
            json!({"Records": [{"eventName": name, "eventSource": source, "s3": s3}]})
        };
        for event in [
            json!({}),
            json!(3),
            json!({"Records": [{"messageId": "1", "body": "{}"}]}),
            record("ObjectRemoved:Delete", "aws:s3"),
            record("ObjectCreated:Put", "aws:sqs"),
            json!({"objects": "s3://b/k"}),
        ] {
            let message = arrived(event).unwrap_err();
            assert!(message.contains("takes S3 events"), "{message}");
        }
        assert!(
            arrived(json!({"objects": ["b/k"]}))
                .unwrap_err()
                .contains("s3://bucket/key")
        );
    }
}
