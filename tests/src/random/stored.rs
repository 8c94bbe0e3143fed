//! Configs of `schema.rs` with fields that are not indexed: scanning stored documents must find
//! what the index finds.

use super::schema::{Diet, Field, Setup, dynamic, json, strict, timeless};

impl Setup {
    pub(super) fn stored() -> [Setup; 3] {
        [stored(), stored_dynamic(), stored_timeless()]
    }
}

const STORED: &str = r#"
version: 0.8
index_id: stored
doc_mapping:
  mode: strict
  timestamp_field: at
  field_mappings:
    - {name: at, type: datetime, fast: true, fast_precision: milliseconds}
    - {name: word, type: text, record: position, strategy: none}
    - {name: raw, type: text, tokenizer: raw, fast: true, strategy: none, record: basic}
    - {name: low, type: text, tokenizer: raw, fast: {normalizer: lowercase}, strategy: none, record: basic}
    - {name: kw, type: text, tokenizer: lowercase, fast: {normalizer: lowercase}, strategy: none, record: basic}
    - {name: rlow, type: text, tokenizer: raw_lowercase, strategy: none, record: basic}
    - {name: ws, type: text, tokenizer: whitespace, record: position, strategy: none}
    - {name: plain, type: text, strategy: none, record: basic}
    - {name: col, type: text, indexed: false, fast: true}
    - {name: i, type: i64, fast: true, strategy: none}
    - {name: ii, type: i64, strategy: none}
    - {name: ic, type: i64, indexed: false, fast: true}
    - {name: u, type: u64, fast: true, strategy: none}
    - {name: uu, type: u64, strategy: none}
    - {name: f, type: f64, fast: true, strategy: none}
    - {name: ff, type: f64, strategy: none}
    - {name: n, type: i64, fast: true, strategy: none}
    - {name: q, type: f64, fast: true, strategy: none}
    - {name: b, type: bool, fast: true, strategy: none}
    - {name: bb, type: bool, strategy: none}
    - {name: d, type: datetime, fast: true, fast_precision: seconds, strategy: none}
    - {name: dd, type: datetime, strategy: none}
    - {name: dn, type: datetime, fast: true, fast_precision: nanoseconds, strategy: none}
    - {name: ip, type: ip, fast: true, strategy: none}
    - {name: ipi, type: ip, strategy: none}
    - {name: y, type: bytes, input_format: hex, output_format: hex, strategy: none}
    - {name: tags, type: array<text>, tokenizer: raw, fast: true, strategy: none, record: basic}
    - {name: words, type: array<text>, record: position, strategy: none}
    - {name: nums, type: array<i64>, fast: true, strategy: none}
    - {name: floats, type: array<f64>, fast: true, strategy: none}
    - name: o
      type: object
      field_mappings:
        - {name: s, type: text, tokenizer: raw, fast: true, strategy: none, record: basic}
        - {name: n, type: i64, fast: true, strategy: none}
        - name: p
          type: object
          field_mappings:
            - {name: q, type: u64, fast: true, strategy: none}
            - {name: w, type: text, strategy: none, record: basic}
    - {name: j, type: json, tokenizer: raw, fast: true, strategy: none, record: basic}
    - {name: jd, type: json, tokenizer: default, record: position, strategy: none}
search_settings:
  default_search_fields: [word, raw, i]
"#;

fn stored() -> Setup {
    Setup {
        name: "stored",
        yaml: STORED,
        ..strict()
    }
}

const STORED_DYNAMIC: &str = r#"
version: 0.8
index_id: stored-dynamic
doc_mapping:
  mode: dynamic
  timestamp_field: at
  dynamic_mapping: {strategy: none, tokenizer: default, record: position}
  field_mappings:
    - {name: at, type: datetime, fast: true, input_formats: [rfc3339, unix_timestamp], fast_precision: seconds}
    - {name: word, type: text, record: position, strategy: none}
    - {name: raw, type: text, tokenizer: raw, fast: true}
    - name: o
      type: object
      field_mappings:
        - {name: n, type: i64, fast: true, strategy: none}
search_settings:
  default_search_fields: [word]
"#;

fn stored_dynamic() -> Setup {
    let mut setup = dynamic();
    // Nothing has the whole values of texts that are only stored.
    setup.fields.retain(|field| field.source.is_none());
    let paths = [
        ("o.s", Diet::Texts),
        ("s", Diet::Texts),
        ("n", Diet::Numbers),
        ("big", Diet::Big),
        ("b", Diet::Bools),
        ("t", Diet::Dates),
        ("m", Diet::Mixed),
        ("deep.n", Diet::Numbers),
        ("deep.s", Diet::Texts),
    ];
    for (path, diet) in paths {
        let place = setup.field(path);
        setup.fields[place] = json(path, diet, false);
    }
    for path in ["o", "deep"] {
        let place = setup.field(path);
        setup.fields[place] = Field {
            fast: None,
            ..setup.fields[place].clone()
        };
    }
    Setup {
        name: "stored-dynamic",
        yaml: STORED_DYNAMIC,
        ..setup
    }
}

const STORED_TIMELESS: &str = r#"
version: 0.8
index_id: stored-timeless
doc_mapping:
  mode: lenient
  field_mappings:
    - {name: word, type: text, record: freq, strategy: none}
    - {name: ws, type: text, tokenizer: whitespace, fast: true, strategy: none, record: basic}
    - {name: n, type: u64, fast: true, strategy: none}
    - {name: f, type: f64, fast: true, strategy: none}
    - {name: j, type: json, tokenizer: default, record: position, fast: {normalizer: lowercase}, strategy: none}
"#;

fn stored_timeless() -> Setup {
    Setup {
        name: "stored-timeless",
        yaml: STORED_TIMELESS,
        ..timeless()
    }
}
