//! Shortening of values for an answer: long texts and lists are cut, and the cuts are counted.
//!
//! A cut text ends with its original length. A cut list contains its first items without a mark at the end, because
//! readers of the data must not find anything else in it. Both are counted in [`Cuts`], which an answer shows.

use serde_json::{Map, Value, json};

/// Initial maximum length of texts and lists. Both are halved until the value is short enough.
const FIRST_MAX_TEXT_BYTES: usize = 16 << 10;
const FIRST_MAX_ITEMS: usize = 4 << 10;
/// Minimum length of a useful text, in bytes.
const LAST_MAX_TEXT_BYTES: usize = 64;

/// Maximum number of places that are listed with their cuts.
const MAX_PLACES: usize = 20;
/// Maximum length of a path that is shown, in bytes.
const MAX_PATH_BYTES: usize = 100;

/// The payload of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Payload {
    /// Items, of which the last are left out if cutting does not suffice.
    List(Vec<Value>),
    /// One value, which is complete except for its cut lists and texts.
    Tree(Value),
}

/// A payload that is short enough.
#[derive(Debug, PartialEq)]
pub(super) struct Shortened {
    pub(super) value: Value,
    pub(super) cuts: Cuts,
    /// Number of items of a list that were left out.
    pub(super) num_left_out: usize,
}

/// Shortens a payload to at most `max_bytes` of JSON, together with its list of cuts. `None` if it has too many parts.
pub(super) fn shorten(payload: Payload, max_bytes: usize) -> Option<Shortened> {
    let (items, is_list) = match payload {
        Payload::List(items) => (items, true),
        Payload::Tree(value) => (vec![value], false),
    };
    let mut tried = (items.clone(), Cuts::default());
    let mut max_text_bytes = FIRST_MAX_TEXT_BYTES;
    let mut max_items = FIRST_MAX_ITEMS;
    while len_of(&tried) > max_bytes && max_text_bytes >= LAST_MAX_TEXT_BYTES {
        let mut knife = Knife {
            max_text_bytes,
            max_items,
            item: None,
            cuts: Cuts::default(),
        };
        let cut = items.iter().enumerate().map(|(place, item)| {
            knife.item = is_list.then_some(place);
            knife.cut(item, "")
        });
        tried.0 = cut.collect();
        tried.1 = knife.cuts;
        max_text_bytes /= 2;
        max_items /= 2;
    }
    let (mut items, mut cuts) = tried;
    let num_items = items.len();
    if !is_list {
        let value = items.pop()?;
        let len = value.to_string().len() + cuts.len();
        return (len <= max_bytes).then_some(Shortened {
            value,
            cuts,
            num_left_out: 0,
        });
    }
    // Each item has a comma, and the list has brackets.
    let mut len = 2 + items
        .iter()
        .map(|item| item.to_string().len() + 1)
        .sum::<usize>();
    while !items.is_empty() && len + cuts.len() > max_bytes {
        let left_out = items.pop().map_or(0, |item| item.to_string().len() + 1);
        len = len.saturating_sub(left_out);
        cuts.forget_from(items.len());
    }
    Some(Shortened {
        num_left_out: num_items - items.len(),
        value: items.into(),
        cuts,
    })
}

fn len_of((items, cuts): &(Vec<Value>, Cuts)) -> usize {
    let items = items.iter().map(|item| item.to_string().len() + 1);
    2 + items.sum::<usize>() + cuts.len()
}

/// Cuts texts and lists that exceed the limits.
struct Knife {
    max_text_bytes: usize,
    max_items: usize,
    /// The index of the item that is being cut.
    item: Option<usize>,
    cuts: Cuts,
}

impl Knife {
    fn cut(&mut self, value: &Value, path: &str) -> Value {
        match value {
            Value::String(text) if text.len() > self.max_text_bytes => {
                let end = text.floor_char_boundary(self.max_text_bytes);
                self.note(path, "bytes", text.len(), end);
                let kept = text.get(..end).unwrap_or_default();
                format!("{kept}… [{end} of {} bytes]", text.len()).into()
            }
            Value::Array(items) => {
                if items.len() > self.max_items {
                    self.note(path, "items", items.len(), self.max_items);
                }
                let kept = items.iter().take(self.max_items);
                kept.map(|item| self.cut(item, path)).collect()
            }
            Value::Object(object) => {
                let mut kept = Map::new();
                for (name, value) in object {
                    let path = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    let value = self.cut(value, &path);
                    kept.insert(name.clone(), value);
                }
                kept.into()
            }
            value => value.clone(),
        }
    }

    fn note(&mut self, path: &str, unit: &'static str, of: usize, kept: usize) {
        let is_same = |cut: &&mut Cut| cut.unit == unit && cut.path == path;
        match self.cuts.0.iter_mut().find(is_same) {
            Some(cut) => {
                cut.num_values += 1;
                cut.longest = cut.longest.max(of);
                cut.items.extend(self.item);
            }
            None => self.cuts.0.push(Cut {
                path: path.to_owned(),
                unit,
                num_values: 1,
                longest: of,
                kept,
                items: self.item.into_iter().collect(),
            }),
        }
    }
}

/// All cuts, by place.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Cuts(Vec<Cut>);

/// Cuts at one path, in any item.
#[derive(Debug, PartialEq)]
struct Cut {
    path: String,
    unit: &'static str,
    num_values: usize,
    /// Maximum original length.
    longest: usize,
    /// Approximate length that was kept.
    kept: usize,
    /// Indexes of the items that were cut here.
    items: Vec<usize>,
}

impl Cuts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the cuts in items from this index on.
    fn forget_from(&mut self, place: usize) {
        for cut in &mut self.0 {
            let before = cut.items.len();
            cut.items.retain(|item| *item < place);
            cut.num_values -= before - cut.items.len();
        }
        self.0.retain(|cut| cut.num_values > 0);
    }

    fn len(&self) -> usize {
        // Names of lists are short.
        self.to_json("aggregations").to_string().len()
    }

    /// Returns a list of the cuts; `list` is the name of the list of items.
    pub(super) fn to_json(&self, list: &str) -> Value {
        let named = self.0.iter().take(MAX_PLACES).map(|cut| {
            let mut path = cut.path.clone();
            if path.len() > MAX_PATH_BYTES {
                path.truncate(path.floor_char_boundary(MAX_PATH_BYTES));
                path.push('…');
            }
            let mut shown = json!({
                "path": path,
                "num_values": cut.num_values,
                "longest": cut.longest,
                "kept": cut.kept,
                "unit": cut.unit,
            });
            let mut items = cut.items.clone();
            items.dedup();
            items.truncate(MAX_PLACES);
            if let (Value::Object(shown), false) = (&mut shown, items.is_empty()) {
                shown.insert(list.to_owned(), items.into());
            }
            shown
        });
        let mut named: Vec<Value> = named.collect();
        let num_more = self.0.len().saturating_sub(MAX_PLACES);
        if num_more > 0 {
            named.push(json!({"num_more_paths": num_more}));
        }
        named.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(len: usize) -> Value {
        json!({"level": "ERROR", "body": "ä".repeat(len / 2)})
    }

    fn shortened(payload: Payload, max_bytes: usize) -> Shortened {
        let shortened = shorten(payload, max_bytes).unwrap();
        let len = shortened.value.to_string().len() + shortened.cuts.len();
        assert!(len <= max_bytes, "{len} of {max_bytes}");
        shortened
    }

    #[test]
    fn what_is_short_stays_as_it_is() {
        for payload in [
            Payload::List(vec![hit(100), hit(200)]),
            Payload::List(Vec::new()),
            Payload::Tree(json!({"a": {"buckets": [1, 2]}})),
        ] {
            let expect = match &payload {
                Payload::List(items) => Value::from(items.clone()),
                Payload::Tree(value) => value.clone(),
            };
            let shortened = shortened(payload, 500);
            assert_eq!(shortened.value, expect);
            assert!(shortened.cuts.is_empty());
            assert_eq!(shortened.num_left_out, 0);
        }
    }

    #[test]
    fn long_texts_are_cut_before_hits_are_left_out() {
        let shortened = shortened(Payload::List(vec![hit(10), hit(9_000), hit(5_000)]), 4_000);
        assert_eq!(shortened.num_left_out, 0);
        let hits = shortened.value.as_array().unwrap();
        assert_eq!(hits[0], hit(10));
        let body = hits[1]["body"].as_str().unwrap();
        assert!(body.ends_with(" of 9000 bytes]"), "{body}");
        assert_eq!(
            shortened.cuts.to_json("hits"),
            json!([{"path": "body", "num_values": 2, "longest": 9_000, "kept": 1_024, "unit": "bytes", "hits": [1, 2]}])
        );
    }

    #[test]
    fn the_last_hits_are_left_out_if_cutting_is_not_enough() {
        let wide = |num: usize| -> Value {
            let fields = (0..num).map(|field| (format!("field{field}"), Value::from(field)));
            fields.collect::<Map<_, _>>().into()
        };
        let shortened = shortened(Payload::List(vec![wide(50), hit(2_000), wide(100)]), 1_500);
        assert_eq!(shortened.num_left_out, 1);
        assert_eq!(shortened.value[0], wide(50));
        // Items that are left out have no cuts.
        let one = shorten(Payload::List(vec![wide(50), hit(2_000)]), 720).unwrap();
        assert_eq!((one.num_left_out, one.cuts.is_empty()), (1, true));
        let none = shorten(Payload::List(vec![wide(500)]), 1_000).unwrap();
        assert_eq!((none.num_left_out, none.value), (1, json!([])));
    }

    #[test]
    fn buckets_are_cut_at_their_end_and_other_trees_cannot_be() {
        let buckets: Vec<Value> = (0..5_000)
            .map(|key| json!({"key": key, "doc_count": 1}))
            .collect();
        let tree = json!({"keys": {"buckets": buckets}});
        let shortened = shortened(Payload::Tree(tree), 10_000);
        let kept = shortened.value["keys"]["buckets"].as_array().unwrap().len();
        assert_eq!(kept, 256);
        assert_eq!(
            shortened.cuts.to_json("buckets"),
            json!([{"path": "keys.buckets", "num_values": 1, "longest": 5_000, "kept": 256, "unit": "items"}])
        );
        let fields = (0..500).map(|name| (format!("aggregation{name}"), json!({"value": 1})));
        let wide: Map<String, Value> = fields.collect();
        assert_eq!(shorten(Payload::Tree(wide.into()), 1_000), None);
    }
}
