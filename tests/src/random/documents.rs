//! Documents with edge cases: missing values, extremes, scripts, long terms, equal documents.

use rand::{Rng, RngExt};
use serde_json::{Map, Value, json};

use super::dates::{self, MILLISECOND, SECOND};
use super::schema::{Diet, Field, Kind, Setup};

/// Words and values that texts are made of: escapes, operators, scripts, and characters that
/// lowercasing changes.
const WORDS: [&str; 46] = [
    "alpha",
    "beta",
    "Gamma",
    "delta",
    "error",
    "Warn",
    "ERROR",
    "timeout",
    "tim",
    "time",
    "ΟΔΟΣ",
    "οδος",
    "Οδοσ",
    "İstanbul",
    "istanbul",
    "ISTANBUL",
    "ısı",
    "東京",
    "東京タワー",
    "über",
    "ÜBER",
    "Straße",
    "STRASSE",
    "nai\u{308}ve",
    "naïve",
    "e\u{301}clair",
    "👍",
    "👩‍🚀",
    "نص",
    "हिन्दी",
    "C++",
    "a*b",
    "why?",
    "a\\b",
    "x:y",
    "foo/bar",
    "foo-bar",
    "[x]",
    "AND",
    "NOT",
    "-5",
    "007",
    "1e3",
    "true",
    "it's",
    "ǅ",
];

pub(super) fn one_of<'a, T>(rng: &mut impl Rng, items: &'a [T]) -> &'a T {
    &items[rng.random_range(0..items.len())]
}

pub(super) fn word(rng: &mut impl Rng) -> String {
    (*one_of(rng, &WORDS)).to_owned()
}

/// Generates `num_docs` documents of a setup.
pub(super) fn documents(setup: &Setup, num_docs: usize, rng: &mut impl Rng) -> Vec<Value> {
    let mut docs: Vec<Value> = Vec::new();
    while docs.len() < num_docs {
        let doc = match docs.is_empty() || rng.random_bool(0.95) {
            true => document(setup, rng),
            // Equal documents still count as separate documents.
            false => docs[rng.random_range(0..docs.len())].clone(),
        };
        docs.push(doc);
    }
    docs
}

fn document(setup: &Setup, rng: &mut impl Rng) -> Value {
    let mut doc = Value::Object(Map::new());
    for field in &setup.fields {
        let is_timestamp = setup.timestamp == Some(field.path);
        let is_no_key = field.kind == Kind::Object || field.source.is_some();
        if is_no_key || (!is_timestamp && rng.random_bool(0.3)) {
            continue;
        }
        let is_json = matches!(field.kind, Kind::Json { .. });
        let value = match field.multi && rng.random_bool(if is_json { 0.2 } else { 0.9 }) {
            true => (0..rng.random_range(0..4))
                .map(|_| value(field, rng))
                .collect(),
            false if is_timestamp || rng.random_bool(0.97) => value(field, rng),
            false => Value::Null,
        };
        put(&mut doc, field.path, value);
    }
    doc
}

fn put(doc: &mut Value, path: &str, value: Value) {
    let mut place = doc;
    for key in path.split('.') {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[key];
    }
    *place = value;
}

fn value(field: &Field, rng: &mut impl Rng) -> Value {
    match (field.kind, field.diet) {
        (Kind::Text { .. }, _) => text(rng).into(),
        (Kind::I64, _) if field.is_small => rng.random_range(-20..20).into(),
        (Kind::U64, _) if field.is_small => rng.random_range(0..20).into(),
        (Kind::F64, _) if field.is_small => quarter(rng).into(),
        (Kind::I64, _) => i64_value(rng).into(),
        (Kind::U64, _) => u64_value(rng).into(),
        (Kind::F64, _) => match rng.random_bool(0.2) {
            true => rng.random_range(-3..3).into(),
            false => f64_value(rng).into(),
        },
        (Kind::Bool, _) | (_, Diet::Bools) => rng.random_bool(0.5).into(),
        (Kind::Date { .. }, _) => dates::write(date(rng)).into(),
        (Kind::Ip, _) => ip(rng).into(),
        (Kind::Bytes, _) => one_of(rng, &["", "00", "ff", "00ff", "deadbeef", "dead"])
            .to_string()
            .into(),
        (_, Diet::Texts) => text(rng).into(),
        (_, Diet::Numbers) => number(rng),
        (_, Diet::Big) => u64_value(rng).into(),
        (_, Diet::Dates) => match rng.random_bool(0.3) {
            true => dates::write_at(date(rng), 120).into(),
            false => dates::write(date(rng)).into(),
        },
        (_, Diet::Mixed) => match rng.random_range(0..6) {
            0 => rng.random_bool(0.5).into(),
            1 => dates::write(date(rng)).into(),
            2 => rng.random_range(0..9).to_string().into(),
            3 => number(rng),
            4 => json!([number(rng), text(rng)]),
            _ => text(rng).into(),
        },
        (Kind::Json { .. } | Kind::Object, Diet::Own) => Value::Null,
    }
}

fn number(rng: &mut impl Rng) -> Value {
    match rng.random_bool(0.5) {
        true => rng.random_range(-9..20).into(),
        false => quarter(rng).into(),
    }
}

pub(super) fn quarter(rng: &mut impl Rng) -> f64 {
    f64::from(rng.random_range(-40..40)) / 4.0
}

/// Returns a word, a few words, an empty text, or a very long one.
pub(super) fn text(rng: &mut impl Rng) -> String {
    match rng.random_range(0..200) {
        0..90 => word(rng),
        90..180 => (0..rng.random_range(2..6))
            .map(|_| word(rng))
            .collect::<Vec<_>>()
            .join(*one_of(rng, &[" ", " ", " ", ", ", "  ", "\t", "\n"])),
        180..186 => String::new(),
        186..188 => " ".to_owned(),
        188..194 => long(rng, &[254, 255, 256, 300]),
        194 => long(rng, &[65_529, 65_530, 65_531, 70_000]),
        195 => format!("alpha {} beta", long(rng, &[255, 256, 300])),
        196 => format!("{} time", long(rng, &[65_530, 65_531])),
        _ => format!("{} {}", word(rng), rng.random_range(0..3)),
    }
}

fn long(rng: &mut impl Rng, lens: &[usize]) -> String {
    let len = *one_of(rng, lens);
    let letter = one_of(rng, &["x", "X", "é", "京"]);
    letter.repeat(len / letter.len()) + &"y".repeat(len % letter.len())
}

pub(super) fn i64_value(rng: &mut impl Rng) -> i64 {
    match rng.random_bool(0.7) {
        true => rng.random_range(-9..9),
        false => *one_of(
            rng,
            &[
                i64::MIN,
                i64::MIN + 1,
                i64::MAX,
                i64::MAX - 1,
                1 << 53,
                (1 << 53) + 1,
                -(1 << 53) - 1,
                1 << 40,
            ],
        ),
    }
}

pub(super) fn u64_value(rng: &mut impl Rng) -> u64 {
    match rng.random_bool(0.6) {
        true => rng.random_range(0..9),
        false => *one_of(
            rng,
            &[
                u64::MAX,
                u64::MAX - 1,
                1 << 63,
                (1 << 63) + 1,
                (1 << 63) - 1,
                10_000_000_000_000_000_000,
                (1 << 53) + 1,
            ],
        ),
    }
}

pub(super) fn f64_value(rng: &mut impl Rng) -> f64 {
    match rng.random_bool(0.6) {
        true => quarter(rng),
        false => *one_of(
            rng,
            &[
                -0.0,
                0.0,
                0.1,
                -0.1,
                1e300,
                -1e300,
                1e-300,
                5e-324,
                9_007_199_254_740_992.0,
                1e19,
                -1e19,
                1.5e10,
            ],
        ),
    }
}

/// Returns a date: often one of a few, so that there are ties; some before 1970; with fractions of
/// every length.
pub(super) fn date(rng: &mut impl Rng) -> i64 {
    let base = 1_714_557_600 * SECOND;
    match rng.random_range(0..10) {
        0..3 => base + rng.random_range(0..5) * SECOND,
        3..5 => base + rng.random_range(0..200_000) * SECOND,
        5 => base + rng.random_range(0..200_000_000) * MILLISECOND,
        6 => base + rng.random_range(0..200_000_000_000_000),
        7 => -(rng.random_range(0..5) * SECOND / 2),
        8 => -rng.random_range(0..3_000_000_000_000_000),
        _ => *one_of(
            rng,
            &[
                0,
                -1,
                -MILLISECOND,
                -SECOND,
                -SECOND - 1,
                -9_000_000_000 * SECOND,
                9_000_000_000 * SECOND,
                1,
                SECOND - 1,
            ],
        ),
    }
}

pub(super) fn ip(rng: &mut impl Rng) -> String {
    match rng.random_range(0..4) {
        0 => (*one_of(
            rng,
            &["::1", "2001:db8::1", "2001:db8::ff", "fe80::1", "::"],
        ))
        .to_owned(),
        1 => (*one_of(rng, &["0.0.0.0", "255.255.255.255", "127.0.0.1"])).to_owned(),
        _ => format!("10.0.{}.{}", rng.random_range(0..2), rng.random_range(0..9)),
    }
}
