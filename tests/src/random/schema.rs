//! Index configs, each with a description of its fields for the scan.

use super::dates::{MILLISECOND, SECOND};
use super::truth::tokens::Tokenizer;

/// Normalizer of the text in a fast field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Normalizer {
    Raw,
    Lowercase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text {
        tokenizer: Tokenizer,
        positions: bool,
    },
    I64,
    U64,
    F64,
    Bool,
    /// Date with a precision in nanoseconds.
    Date {
        precision: i64,
    },
    Ip,
    Bytes,
    /// Path in a JSON field or in an unmapped field, with values of any type.
    Json {
        tokenizer: Tokenizer,
        positions: bool,
    },
    /// Object, which only supports existence queries.
    Object,
}

/// Kinds of values that documents have at a path of a JSON field, so that requests can fit them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Diet {
    /// Values of the field's kind.
    Own,
    Texts,
    /// Small integers and quarters.
    Numbers,
    /// Integers from 0 to 2^64-1.
    Big,
    Bools,
    Dates,
    Mixed,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    pub(super) diet: Diet,
    pub(super) indexed: bool,
    pub(super) fast: Option<Normalizer>,
    pub(super) multi: bool,
    /// True if the values are few small numbers, suitable for histograms.
    pub(super) is_small: bool,
    /// Path of the text whose whole values these are.
    pub(super) source: Option<&'static str>,
}

/// Index config and its fields.
pub(super) struct Setup {
    pub(super) name: &'static str,
    pub(super) yaml: &'static str,
    pub(super) fields: Vec<Field>,
    pub(super) timestamp: Option<&'static str>,
    pub(super) default_fields: &'static [&'static str],
    /// True if unmapped fields are accepted. Hits show them unchanged.
    pub(super) is_dynamic: bool,
}

impl Setup {
    pub(super) fn field(&self, path: &str) -> usize {
        let found = self.fields.iter().position(|field| field.path == path);
        found.unwrap_or_else(|| panic!("the setup {} has a field {path}", self.name))
    }

    pub(super) fn all() -> [Setup; 3] {
        [strict(), dynamic(), timeless()]
    }
}

const RAW: Option<Normalizer> = Some(Normalizer::Raw);

fn field(path: &'static str, kind: Kind, fast: Option<Normalizer>) -> Field {
    Field {
        path,
        kind,
        diet: Diet::Own,
        indexed: true,
        fast,
        multi: false,
        is_small: false,
        source: None,
    }
}

fn text(
    path: &'static str,
    tokenizer: Tokenizer,
    positions: bool,
    fast: Option<Normalizer>,
) -> Field {
    field(
        path,
        Kind::Text {
            tokenizer,
            positions,
        },
        fast,
    )
}

pub(super) fn json(path: &'static str, diet: Diet, fast: bool) -> Field {
    let kind = Kind::Json {
        tokenizer: if fast {
            Tokenizer::Raw
        } else {
            Tokenizer::Default
        },
        positions: !fast,
    };
    Field {
        diet,
        multi: true,
        is_small: diet == Diet::Numbers,
        ..field(path, kind, fast.then_some(Normalizer::Raw))
    }
}

impl Field {
    /// Returns a readable form of the kind and its options.
    pub(super) fn signature(&self) -> String {
        let kind = format!("{:?}", self.kind);
        let kind = kind.split([' ', '{']).next().unwrap_or_default().to_owned();
        let fast = match self.fast {
            None => "",
            Some(Normalizer::Raw) => " fast",
            Some(Normalizer::Lowercase) => " fast-lowercase",
        };
        let indexed = if self.indexed { "" } else { " not indexed" };
        let multi = if self.multi { " array" } else { "" };
        format!("{kind} {:?}{fast}{indexed}{multi}", self.diet)
    }

    fn array(self) -> Field {
        Field {
            multi: true,
            ..self
        }
    }

    fn of(self, source: &'static str) -> Field {
        Field {
            source: Some(source),
            ..self
        }
    }

    fn small(self) -> Field {
        Field {
            is_small: true,
            ..self
        }
    }

    fn column_only(self) -> Field {
        Field {
            indexed: false,
            ..self
        }
    }
}

const STRICT: &str = r#"
version: 0.8
index_id: strict
doc_mapping:
  mode: strict
  timestamp_field: at
  index_field_presence: true
  field_mappings:
    - {name: at, type: datetime, fast: true, fast_precision: milliseconds}
    - {name: word, type: text, record: position}
    - {name: raw, type: text, tokenizer: raw, fast: true}
    - {name: low, type: text, tokenizer: raw, fast: {normalizer: lowercase}}
    - {name: kw, type: text, tokenizer: lowercase, fast: {normalizer: lowercase}}
    - {name: rlow, type: text, tokenizer: raw_lowercase}
    - {name: ws, type: text, tokenizer: whitespace, record: position}
    - {name: plain, type: text}
    - {name: col, type: text, indexed: false, fast: true}
    - {name: i, type: i64, fast: true}
    - {name: ii, type: i64}
    - {name: ic, type: i64, indexed: false, fast: true}
    - {name: u, type: u64, fast: true}
    - {name: uu, type: u64}
    - {name: f, type: f64, fast: true}
    - {name: ff, type: f64}
    - {name: n, type: i64, fast: true}
    - {name: q, type: f64, fast: true}
    - {name: b, type: bool, fast: true}
    - {name: bb, type: bool}
    - {name: d, type: datetime, fast: true, fast_precision: seconds}
    - {name: dd, type: datetime}
    - {name: dn, type: datetime, fast: true, fast_precision: nanoseconds}
    - {name: ip, type: ip, fast: true}
    - {name: ipi, type: ip}
    - {name: y, type: bytes, input_format: hex, output_format: hex}
    - {name: tags, type: array<text>, tokenizer: raw, fast: true}
    - {name: words, type: array<text>, record: position}
    - {name: nums, type: array<i64>, fast: true}
    - {name: floats, type: array<f64>, fast: true}
    - name: o
      type: object
      field_mappings:
        - {name: s, type: text, tokenizer: raw, fast: true}
        - {name: n, type: i64, fast: true}
        - name: p
          type: object
          field_mappings:
            - {name: q, type: u64, fast: true}
            - {name: w, type: text}
    - {name: j, type: json, tokenizer: raw, fast: true}
    - {name: jd, type: json, tokenizer: default, record: position}
search_settings:
  default_search_fields: [word, raw, i]
"#;

pub(super) fn strict() -> Setup {
    let date = |precision| Kind::Date { precision };
    let lowercase = Some(Normalizer::Lowercase);
    let fields = vec![
        field("at", date(MILLISECOND), RAW),
        text("word", Tokenizer::Default, true, None),
        text("raw", Tokenizer::Raw, false, RAW),
        text("low", Tokenizer::Raw, false, lowercase),
        text("kw", Tokenizer::Lowercase, false, lowercase),
        text("rlow", Tokenizer::Lowercase, false, None),
        text("ws", Tokenizer::Whitespace, true, None),
        text("plain", Tokenizer::Default, false, None),
        text("col", Tokenizer::Raw, false, RAW).column_only(),
        field("i", Kind::I64, RAW),
        field("ii", Kind::I64, None),
        field("ic", Kind::I64, RAW).column_only(),
        field("u", Kind::U64, RAW),
        field("uu", Kind::U64, None),
        field("f", Kind::F64, RAW),
        field("ff", Kind::F64, None),
        field("n", Kind::I64, RAW).small(),
        field("q", Kind::F64, RAW).small(),
        field("b", Kind::Bool, RAW),
        field("bb", Kind::Bool, None),
        field("d", date(SECOND), RAW),
        field("dd", date(SECOND), None),
        field("dn", date(1), RAW),
        field("ip", Kind::Ip, RAW),
        field("ipi", Kind::Ip, None),
        field("y", Kind::Bytes, None),
        text("tags", Tokenizer::Raw, false, RAW).array(),
        text("words", Tokenizer::Default, true, None).array(),
        field("nums", Kind::I64, RAW).small().array(),
        field("floats", Kind::F64, RAW).array(),
        text("o.s", Tokenizer::Raw, false, RAW),
        field("o.n", Kind::I64, RAW).small(),
        field("o.p.q", Kind::U64, RAW),
        text("o.p.w", Tokenizer::Default, false, None),
        json("j.s", Diet::Texts, true),
        json("j.s.keyword", Diet::Texts, true).of("j.s"),
        text("raw.keyword", Tokenizer::Raw, false, RAW).of("raw"),
        json("j.n", Diet::Numbers, true),
        json("j.big", Diet::Big, true),
        json("j.b", Diet::Bools, true),
        json("j.t", Diet::Dates, true),
        json("j.m", Diet::Mixed, true),
        json("j.deep.n", Diet::Numbers, true),
        json("jd.s", Diet::Texts, false),
        json("jd.n", Diet::Numbers, false),
        json("jd.m", Diet::Mixed, false),
        field("o", Kind::Object, None),
        field("o.p", Kind::Object, None),
        field("j", Kind::Object, RAW),
        field("j.deep", Kind::Object, RAW),
        field("jd", Kind::Object, None),
    ];
    Setup {
        name: "strict",
        yaml: STRICT,
        fields,
        timestamp: Some("at"),
        default_fields: &["word", "raw", "i"],
        is_dynamic: false,
    }
}

const DYNAMIC: &str = r#"
version: 0.8
index_id: dynamic
doc_mapping:
  mode: dynamic
  timestamp_field: at
  tag_fields: [raw]
  field_mappings:
    - {name: at, type: datetime, fast: true, input_formats: [rfc3339, unix_timestamp], fast_precision: seconds}
    - {name: word, type: text, record: position}
    - {name: raw, type: text, tokenizer: raw, fast: true}
    - name: o
      type: object
      field_mappings:
        - {name: n, type: i64, fast: true}
search_settings:
  default_search_fields: [word]
"#;

pub(super) fn dynamic() -> Setup {
    let fields = vec![
        field("at", Kind::Date { precision: SECOND }, RAW),
        text("word", Tokenizer::Default, true, None),
        text("raw", Tokenizer::Raw, false, RAW),
        field("o.n", Kind::I64, RAW).small(),
        json("o.s", Diet::Texts, true),
        json("s", Diet::Texts, true),
        json("s.keyword", Diet::Texts, true).of("s"),
        json("n", Diet::Numbers, true),
        json("big", Diet::Big, true),
        json("b", Diet::Bools, true),
        json("t", Diet::Dates, true),
        json("m", Diet::Mixed, true),
        json("deep.n", Diet::Numbers, true),
        json("deep.s", Diet::Texts, true),
        field("o", Kind::Object, RAW),
        field("deep", Kind::Object, RAW),
    ];
    Setup {
        name: "dynamic",
        yaml: DYNAMIC,
        fields,
        timestamp: Some("at"),
        default_fields: &["word"],
        is_dynamic: true,
    }
}

const TIMELESS: &str = r#"
version: 0.8
index_id: timeless
doc_mapping:
  mode: lenient
  field_mappings:
    - {name: word, type: text, record: freq}
    - {name: ws, type: text, tokenizer: whitespace, fast: true}
    - {name: n, type: u64, fast: true}
    - {name: f, type: f64, fast: true}
    - {name: j, type: json, tokenizer: default, record: position, fast: {normalizer: lowercase}}
"#;

pub(super) fn timeless() -> Setup {
    let path = |path, diet| {
        let tokenizer = Tokenizer::Default;
        let mut field = json(path, diet, true);
        field.kind = Kind::Json {
            tokenizer,
            positions: true,
        };
        field.fast = Some(Normalizer::Lowercase);
        field
    };
    let fields = vec![
        text("word", Tokenizer::Default, false, None),
        text("ws", Tokenizer::Whitespace, false, RAW),
        text("ws.keyword", Tokenizer::Raw, false, RAW).of("ws"),
        field("n", Kind::U64, RAW).small(),
        field("f", Kind::F64, RAW),
        path("j.s", Diet::Texts),
        text(
            "j.s.keyword",
            Tokenizer::Lowercase,
            false,
            Some(Normalizer::Lowercase),
        )
        .array()
        .of("j.s"),
        path("j.n", Diet::Numbers),
        path("j.m", Diet::Mixed),
        path("j.t", Diet::Dates),
        path("j.deep.s", Diet::Texts),
        field("j", Kind::Object, RAW),
    ];
    Setup {
        name: "timeless",
        yaml: TIMELESS,
        fields,
        timestamp: None,
        default_fields: &[],
        is_dynamic: false,
    }
}
