//! The answer to a `_bulk` request, written while it is sent: only a part of it is in memory.

use std::convert::Infallible;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use canter_names::FilterPath;
use futures_util::stream;
use serde_json::{Value, json};

use super::items::Items;
use super::millis;
use crate::http::{Refuse, Share};
use crate::requests::{ChangeRequest, Params};

/// Approximate number of bytes that are written at a time: small enough to let other tasks run soon.
const PART_BYTES: usize = 16 << 10;

/// Answers a request. Its share of the held bytes is released when the answer is written, because its items are kept
/// until then.
pub(super) fn answer(
    request: &ChangeRequest<'_>,
    params: Params,
    started: Instant,
    items: Items,
    share: Share,
) -> Response {
    let (filter, is_pretty) = (params.filter_path, params.is_pretty);
    let mut writer = Writer::new(items, millis(started), filter, is_pretty, share);
    let first = writer.next().unwrap_or_default();
    let body = match writer.is_over() {
        true => Body::from(first),
        false => {
            let parts = std::iter::once(first).chain(writer);
            Body::from_stream(stream::iter(parts.map(Ok::<Bytes, Infallible>)))
        }
    };
    request.api.answer_with(StatusCode::OK, body)
}

/// Writer of an answer in parts.
struct Writer {
    items: Items,
    filter: Option<FilterPath>,
    is_pretty: bool,
    place: Cursor,
    /// True if an entry of the answer was written.
    has_entry: bool,
    /// True if the list of items was begun; `has_item`: if it has one.
    has_list: bool,
    has_item: bool,
    head: Value,
    _share: Share,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Begin,
    /// Before an item.
    Item(usize),
    Over,
}

impl Writer {
    fn new(
        items: Items,
        took_ms: u64,
        filter: Option<FilterPath>,
        is_pretty: bool,
        share: Share,
    ) -> Self {
        let head = json!({"took": took_ms, "errors": items.has_errors()});
        let head = match &filter {
            Some(filter) => filter.apply(head),
            None => head,
        };
        Self {
            items,
            filter,
            is_pretty,
            place: Cursor::Begin,
            has_entry: false,
            has_list: false,
            has_item: false,
            head,
            _share: share,
        }
    }

    fn is_over(&self) -> bool {
        self.place == Cursor::Over
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        out.push(b'{');
        let entries = self.head.as_object().into_iter().flatten();
        for (name, value) in entries {
            begin_entry(out, self.has_entry, self.is_pretty);
            self.has_entry = true;
            write_name(out, name, self.is_pretty);
            out.extend_from_slice(value.to_string().as_bytes());
        }
    }

    /// Writes the wanted parts of an item.
    fn write_item(&mut self, item: Value, out: &mut Vec<u8>) {
        // Each path of a filter applies to all items alike, so they can be filtered one by one.
        let item = match &self.filter {
            None => Some(item),
            Some(filter) => {
                let kept = filter.apply(json!({"items": [item]}));
                match kept.get("items") {
                    Some(kept) => kept.get(0).cloned(),
                    None => return,
                }
            }
        };
        if !self.has_list {
            begin_entry(out, self.has_entry, self.is_pretty);
            write_name(out, "items", self.is_pretty);
            out.push(b'[');
            self.has_entry = true;
            self.has_list = true;
        }
        let Some(item) = item else {
            return;
        };
        if self.has_item {
            out.push(b',');
        }
        self.has_item = true;
        match self.is_pretty {
            true => {
                // JSON strings contain no line feeds.
                let text = format!("\n{item:#}").replace('\n', "\n    ");
                out.extend_from_slice(text.as_bytes());
            }
            false => out.extend_from_slice(item.to_string().as_bytes()),
        }
    }

    fn end(&self, out: &mut Vec<u8>) {
        if self.has_item && self.is_pretty {
            out.extend_from_slice(b"\n  ");
        }
        if self.has_list {
            out.push(b']');
        }
        let end: &[u8] = match (self.is_pretty, self.has_entry) {
            (true, true) => b"\n}\n",
            (true, false) => b"}\n",
            (false, _) => b"}",
        };
        out.extend_from_slice(end);
    }
}

impl Iterator for Writer {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut out = Vec::with_capacity(PART_BYTES + 1024);
        while out.len() < PART_BYTES && self.place != Cursor::Over {
            self.place = match self.place {
                Cursor::Begin => {
                    self.begin(&mut out);
                    Cursor::Item(0)
                }
                Cursor::Item(ord) => match self.items.answer(ord) {
                    Some(item) => {
                        self.write_item(item, &mut out);
                        Cursor::Item(ord + 1)
                    }
                    None => {
                        self.end(&mut out);
                        Cursor::Over
                    }
                },
                Cursor::Over => Cursor::Over,
            };
        }
        (!out.is_empty()).then(|| out.into())
    }
}

fn begin_entry(out: &mut Vec<u8>, is_next: bool, is_pretty: bool) {
    if is_next {
        out.push(b',');
    }
    if is_pretty {
        out.extend_from_slice(b"\n  ");
    }
}

/// All names are plain.
fn write_name(out: &mut Vec<u8>, name: &str, is_pretty: bool) {
    let colon = if is_pretty { "\": " } else { "\":" };
    for piece in ["\"", name, colon] {
        out.extend_from_slice(piece.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use canter_intake::Verb;

    use super::*;
    use crate::requests::Problem;

    fn items(num: usize) -> Items {
        let mut items = Items::default();
        for ord in 0..num {
            let index = items.index(["logs", "more"][ord % 2]);
            let id = (ord % 5 == 0).then(|| "an \"id\"\n".into());
            items.push(Verb::Create, index, id);
            if ord % 3 == 0 {
                items.failed(ord as u32, Problem::illegal(format!("wrong {}", ord % 7)));
            }
        }
        items
    }

    /// Returns the whole answer, and the number of its parts.
    fn written(num: usize, filter: Option<&str>, is_pretty: bool) -> (String, usize) {
        let filter = filter.map(|filter| FilterPath::parse(filter).unwrap());
        let writer = Writer::new(items(num), 7, filter, is_pretty, Share::default());
        let parts: Vec<Bytes> = writer.collect();
        assert!(parts.iter().all(|part| part.len() < 3 * PART_BYTES));
        (String::from_utf8(parts.concat()).unwrap(), parts.len())
    }

    #[test]
    fn an_answer_in_parts_is_what_it_would_be_at_once() {
        for num in [1, 2, 500] {
            let list = items(num);
            let list: Vec<Value> = (0..num).map(|ord| list.answer(ord).unwrap()).collect();
            let whole = json!({"took": 7, "errors": true, "items": list});
            for filter in [
                None,
                Some("took"),
                Some("items.*.error,errors"),
                Some("items"),
                Some("items.*.status"),
                Some("-items.*._shards,-took"),
                Some("**.reason"),
                Some("nothing"),
                Some("-*"),
                Some("items,-items.*.*"),
            ] {
                let wanted = match filter {
                    Some(filter) => FilterPath::parse(filter).unwrap().apply(whole.clone()),
                    None => whole.clone(),
                };
                let (plain, num_parts) = written(num, filter, false);
                assert_eq!(plain, wanted.to_string(), "{filter:?}");
                assert_eq!(num_parts > 1, plain.len() > PART_BYTES, "{filter:?}");
                let (pretty, _) = written(num, filter, true);
                assert_eq!(pretty, format!("{wanted:#}\n"), "{filter:?}");
            }
        }
    }
}
