//! Catalogue with documents that use every field type, some of them without a value, with several
//! values, or with values of several types.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Index config of [`catalogue`].
pub const CATALOGUE_CONFIG: &str = r#"
version: 0.8
index_id: catalogue
doc_mapping:
  mode: dynamic
  timestamp_field: created
  tag_fields: [vendor]
  field_mappings:
    - {name: created, type: datetime, fast: true, input_formats: [rfc3339, unix_timestamp], fast_precision: milliseconds}
    - {name: title, type: text, tokenizer: en_stem, record: position, fieldnorms: true}
    - {name: code, type: text, tokenizer: raw, fast: true}
    - {name: vendor, type: text, tokenizer: raw, fast: true}
    - {name: price, type: f64, fast: true}
    - {name: stock, type: i64, fast: true}
    - {name: views, type: u64}
    - {name: active, type: bool, fast: true}
    - {name: address, type: ip, fast: true}
    - {name: digest, type: bytes, input_format: hex, output_format: hex}
    - {name: labels, type: array<text>, tokenizer: raw, fast: true}
    - {name: attributes, type: json, tokenizer: raw, fast: true}
    - name: maker
      type: object
      field_mappings:
        - {name: name, type: text, tokenizer: lowercase, fast: true}
        - {name: country, type: text, tokenizer: raw}
search_settings:
  default_search_fields: [title]
"#;

/// Another index config for [`catalogue`]: fields that are only stored, computed fields, and custom
/// tokenizers. Stored fields are also concatenated, so that the oracle, which does not scan
/// documents, finds their values there.
pub const WAYS_CONFIG: &str = r#"
version: 0.8
index_id: ways
doc_mapping:
  mode: dynamic
  timestamp_field: created
  tokenizers:
    - {name: grams, type: ngram, min_gram: 3, max_gram: 4, filters: [lower_caser]}
    - {name: runs, type: regex, pattern: '[A-Z]+|[0-9]+'}
  field_mappings:
    - {name: created, type: datetime, fast: true, input_formats: [rfc3339, unix_timestamp], fast_precision: milliseconds}
    - {name: title, type: text, strategy: none}
    - {name: titles, type: concatenate, concatenate_fields: [title], tokenizer: default, record: position}
    - {name: code, type: text, tokenizer: grams, fields: {runs: {tokenizer: runs}}}
    - {name: vendor, type: text, strategy: none, tokenizer: raw}
    - {name: vendors, type: concatenate, concatenate_fields: [vendor], tokenizer: raw}
    - {name: price, type: f64, fast: true}
    - {name: attributes, type: json, strategy: none}
    - {name: rest, type: concatenate, concatenate_fields: [attributes], include_dynamic_fields: true, tokenizer: raw}
search_settings:
  default_search_fields: [title]
"#;

const WORDS: [&str; 16] = [
    "running",
    "shoes",
    "leather",
    "wooden",
    "table",
    "chairs",
    "painted",
    "lamp",
    "garden",
    "folding",
    "steel",
    "bottle",
    "travelling",
    "bag",
    "winter",
    "coat",
];
const VENDORS: [&str; 5] = ["acme", "borealis", "cobalt", "dune", "ember"];
const COUNTRIES: [&str; 4] = ["CH", "DE", "FR", "JP"];
const COLOURS: [&str; 3] = ["red", "green", "blue"];
const LABELS: [&str; 6] = ["new", "sale", "eco", "handmade", "refurbished", "gift wrap"];

/// Generates `num_docs` documents as JSON lines.
pub fn catalogue(num_docs: u32, seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..num_docs)
        .map(|ord| document(ord, &mut rng).to_string())
        .collect()
}

fn document(ord: u32, rng: &mut ChaCha8Rng) -> Value {
    let title: Vec<&str> = (0..rng.random_range(2..8))
        .map(|_| WORDS[rng.random_range(0..WORDS.len())])
        .collect();
    let labels: Vec<&str> = (0..rng.random_range(0..4))
        .map(|_| LABELS[rng.random_range(0..LABELS.len())])
        .collect();
    let mut document = json!({
        "created": 1_700_000_000 + u64::from(ord) * 37 + rng.random_range(0..300u64),
        "title": title.join(" "),
        "code": format!("C-{:05}", rng.random_range(0..2_000)),
        "vendor": VENDORS[(ord as usize / 400 + rng.random_range(0..2)) % VENDORS.len()],
        "price": f64::from(rng.random_range(1..40_000)) / 4.0,
        "stock": rng.random_range(-5..500),
        "views": rng.random_range(0..1_000_000u64),
        "active": rng.random_bool(0.7),
        "address": format!("10.0.{}.{}", rng.random_range(0..4), rng.random_range(0..250)),
        "digest": format!("{:08x}", rng.random_range(0..64u32)),
        "labels": labels,
        "maker": {
            "name": format!("Maker {}", rng.random_range(0..12)),
            "country": COUNTRIES[rng.random_range(0..4)],
        },
        "attributes": {
            "colour": COLOURS[rng.random_range(0..3)],
            "size": rng.random_range(30..50),
            "deep": {"ratio": f64::from(rng.random_range(0..100)) / 10.0},
        },
        "note": format!("extra {}", rng.random_range(0..20)),
    });
    // Some documents lack a field, and one dynamic field has values of several types.
    let absent = ["price", "stock", "vendor", "active", "maker", "address"];
    if rng.random_bool(0.3)
        && let Some(fields) = document.as_object_mut()
    {
        fields.remove(absent[rng.random_range(0..absent.len())]);
    }
    match rng.random_range(0..3) {
        0 => document["mixed"] = json!(rng.random_range(0..50)),
        1 => document["mixed"] = json!(format!("m{}", rng.random_range(0..50))),
        _ => {}
    }
    document
}

/// Index config for [`places`].
pub const PLACES_CONFIG: &str = r#"
version: 0.9
index_id: places
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: at, type: array<geo_point>}
    - name: stops
      type: nested
      field_mappings:
        - {name: kind, type: text, tokenizer: raw, fast: true}
        - {name: size, type: i64, fast: true}
"#;

/// Returns documents with a place each, spread over the world, in several notations, and two objects in a list.
pub fn places(num_docs: u32) -> Vec<String> {
    let place = |n: u32| {
        let lat = f64::from(n * 37 % 1_700) / 10.0 - 85.0;
        let lon = f64::from(n * 731 % 3_600) / 10.0 - 180.0;
        let at = match n % 4 {
            0 => json!({"lat": lat, "lon": lon}),
            1 => json!(format!("{lat},{lon}")),
            2 => json!([lon, lat]),
            _ => json!([format!("POINT ({lon} {lat})")]),
        };
        let stop = |kind: u32, size: u32| {
            let kind = ["a", "b", "c"][kind as usize % 3];
            json!({"kind": kind, "size": size % 5})
        };
        json!({"n": n, "at": at, "stops": [stop(n, n), stop(n + 1, n + 2)]}).to_string()
    };
    (0..num_docs).map(place).collect()
}
