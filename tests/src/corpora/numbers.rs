//! Documents with edge cases of each type: negative and large numbers, fractions, both zeros, dates
//! with fractions of seconds, addresses, bytes, and text in both cases. Each value is in a fast
//! field, in one that is only indexed, in one that is only fast, and in JSON.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Index config of [`numbers`].
pub const NUMBERS_CONFIG: &str = r#"
version: 0.8
index_id: numbers
doc_mapping:
  mode: dynamic
  timestamp_field: at
  store_document_size: true
  field_mappings:
    - {name: id, type: u64, fast: true}
    - {name: at, type: datetime, fast: true, fast_precision: milliseconds}
    - {name: day, type: datetime, fast: true}
    - {name: slow_day, type: datetime}
    - {name: kept_day, type: datetime, fast: true, indexed: false}
    - {name: delta, type: i64, fast: true}
    - {name: slow_delta, type: i64}
    - {name: kept_delta, type: i64, fast: true, indexed: false}
    - {name: big, type: u64, fast: true}
    - {name: slow_big, type: u64}
    - {name: kept_big, type: u64, fast: true, indexed: false}
    - {name: level, type: f64, fast: true}
    - {name: slow_level, type: f64}
    - {name: kept_level, type: f64, fast: true, indexed: false}
    - {name: gaps, type: array<i64>, fast: true}
    - {name: slow_gaps, type: array<i64>}
    - {name: flag, type: bool, fast: true}
    - {name: slow_flag, type: bool}
    - {name: kept_flag, type: bool, fast: true, indexed: false}
    - {name: host, type: ip, fast: true}
    - {name: slow_host, type: ip}
    - {name: kept_host, type: ip, fast: true, indexed: false}
    - {name: blob, type: bytes, fast: true, input_format: hex, output_format: hex}
    - {name: slow_blob, type: bytes, input_format: hex, output_format: hex}
    - {name: name, type: text, tokenizer: raw, fast: {normalizer: lowercase}}
    - {name: slow_name, type: text, tokenizer: lowercase}
    - {name: kept_name, type: text, fast: {normalizer: lowercase}, indexed: false}
    - {name: plain, type: json}
    - {name: attrs, type: json, fast: true}
    - {name: kept, type: json, fast: {normalizer: lowercase}, indexed: false}
    - name: inside
      type: object
      fast: true
      field_mappings:
        - {name: delta, type: i64, fast: true}
search_settings:
  default_search_fields: [slow_delta, level]
"#;

const DELTAS: [i64; 14] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 40),
    -(1 << 31) - 1,
    -200,
    -2,
    -1,
    0,
    1,
    404,
    1 << 31,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX,
];
const BIGS: [u64; 9] = [
    0,
    1,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 7,
    (1 << 53) + 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];
const LEVELS: [f64; 14] = [
    f64::MIN,
    -1e300,
    -1000.0,
    -2.25,
    -1e-300,
    -0.0,
    0.0,
    1e-300,
    0.5,
    1.0,
    1.5,
    4_294_967_296.5,
    1e300,
    f64::MAX,
];
const NAMES: [&str; 10] = [
    "apple", "Apple", "APRICOT", "banana", "Cherry", "ΟΔΟΣ", "Éclair", "10", "9", "zoo",
];
const HOSTS: [&str; 9] = [
    "0.0.0.0",
    "9.255.255.255",
    "10.0.0.1",
    "10.0.0.10",
    "255.255.255.255",
    "::",
    "2001:db8::1",
    "fe80::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];
const BLOBS: [&str; 6] = ["", "00", "0000", "7f", "80", "ff00ff"];
const FRACTIONS: [&str; 5] = ["", ".0004", ".25", ".250001", ".999999999"];

/// Generates `num_docs` documents as JSON lines. Each run of `split_num_docs` documents has its own
/// types of dynamic numbers.
pub fn numbers(num_docs: u32, split_num_docs: u32, seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..num_docs)
        .map(|ord| document(ord, ord / split_num_docs, &mut rng).to_string())
        .collect()
}

fn document(ord: u32, split: u32, rng: &mut ChaCha8Rng) -> Value {
    let delta = match rng.random_bool(0.5) {
        true => pick(&DELTAS, rng),
        false => rng.random_range(-20..20),
    };
    let big = pick(&BIGS, rng);
    let level = match rng.random_bool(0.5) {
        true => pick(&LEVELS, rng),
        false => f64::from(rng.random_range(-40..40)) / 4.0,
    };
    // Before and after 1970, in months of 28 days.
    let date = |days: i64, fraction: &str| {
        let hours = (days * 7).rem_euclid(24);
        let day = 1 + days.rem_euclid(28);
        let (year, month) = (1955 + days / 336, 1 + days / 28 % 12);
        format!("{year:04}-{month:02}-{day:02}T{hours:02}:00:00{fraction}Z")
    };
    let day = date(rng.random_range(0..20_000), pick(&FRACTIONS, rng));
    let gaps: Vec<i64> = (0..rng.random_range(0..4))
        .map(|_| rng.random_range(-9..9))
        .collect();
    let (host, blob, name) = (pick(&HOSTS, rng), pick(&BLOBS, rng), pick(&NAMES, rng));
    let flag = rng.random_bool(0.3);
    let mixed = mixed(split, rng);
    let json = json!({"number": mixed, "day": day, "name": name, "flag": flag});
    let mut document = json!({
        "id": ord,
        "at": date(10_000 + i64::from(ord) * 3, ".0009"),
        "day": day, "slow_day": day, "kept_day": day,
        "delta": delta, "slow_delta": delta, "kept_delta": delta, "inside": {"delta": delta},
        "big": big, "slow_big": big, "kept_big": big,
        "level": level, "slow_level": level, "kept_level": level,
        "gaps": gaps, "slow_gaps": gaps,
        "flag": flag, "slow_flag": flag, "kept_flag": flag,
        "host": host, "slow_host": host, "kept_host": host,
        "blob": blob, "slow_blob": blob,
        "name": name, "slow_name": name, "kept_name": name,
        "plain": json, "attrs": json, "kept": json,
        "number": mixed,
    });
    // `delta`, `big` and `level` are in every document; others are sometimes missing.
    let absent = [
        "slow_delta",
        "kept_big",
        "flag",
        "host",
        "blob",
        "name",
        "kept_name",
        "plain",
        "number",
    ];
    if rng.random_bool(0.4)
        && let Some(fields) = document.as_object_mut()
    {
        fields.remove(pick(&absent, rng));
    }
    document
}

/// Returns a number of one of the split's types. With integers and fractions together, tantivy
/// stores floating-point numbers, so none here needs more digits than these have.
fn mixed(split: u32, rng: &mut ChaCha8Rng) -> Value {
    let small = json!(rng.random_range(-20_i64..20));
    let fraction = json!(f64::from(rng.random_range(-40_i32..40)) / 4.0);
    let large = json!((1_u64 << 63) + (rng.random_range(0..8_u64) << 20));
    let other = json!(pick(&["n/a", "-", "12 apples"], rng));
    let choices = match split % 4 {
        0 => [small.clone(), small, other],
        1 => [small, fraction, other],
        2 => [json!(rng.random_range(0_i64..20)), large, other],
        _ => [small, large, fraction],
    };
    pick(&choices, rng)
}

fn pick<T: Clone>(choices: &[T], rng: &mut ChaCha8Rng) -> T {
    choices.choose(rng).unwrap_or(&choices[0]).clone()
}
