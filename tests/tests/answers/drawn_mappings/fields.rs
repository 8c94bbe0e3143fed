//! Fields of a mapping: what is drawn of each, and its definition as JSON.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Type of a field, with the parameters that belong to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Long,
    Integer,
    Short,
    Byte,
    UnsignedLong,
    Double,
    Float,
    HalfFloat,
    Scaled(f64),
    Date(&'static str),
    DateNanos,
    Boolean,
    Ip,
    Keyword {
        ignore_above: Option<usize>,
        lowercase: bool,
    },
    Text,
}

/// Formats of dates; the empty text stands for the default.
pub(super) const FORMATS: [&str; 6] = [
    "",
    "strict_date_optional_time",
    "epoch_millis",
    "epoch_second",
    "yyyy-MM-dd",
    "yyyy-MM-dd HH:mm:ss||epoch_millis",
];

impl Kind {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Integer => "integer",
            Self::Short => "short",
            Self::Byte => "byte",
            Self::UnsignedLong => "unsigned_long",
            Self::Double => "double",
            Self::Float => "float",
            Self::HalfFloat => "half_float",
            Self::Scaled(_) => "scaled_float",
            Self::Date(_) => "date",
            Self::DateNanos => "date_nanos",
            Self::Boolean => "boolean",
            Self::Ip => "ip",
            Self::Keyword { .. } => "keyword",
            Self::Text => "text",
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        use Kind::{Byte, Integer, Long, Short, UnsignedLong};
        matches!(self, Long | Integer | Short | Byte | UnsignedLong)
    }

    pub(super) fn is_float(&self) -> bool {
        matches!(
            self,
            Self::Double | Self::Float | Self::HalfFloat | Self::Scaled(_)
        )
    }

    pub(super) fn is_number(&self) -> bool {
        self.is_integer() || self.is_float()
    }

    pub(super) fn is_date(&self) -> bool {
        matches!(self, Self::Date(_) | Self::DateNanos)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        match rng.random_range(0..17) {
            0 => Self::Long,
            1 => Self::Integer,
            2 => Self::Short,
            3 => Self::Byte,
            4 => Self::UnsignedLong,
            5 => Self::Double,
            6 => Self::Float,
            7 => Self::HalfFloat,
            8 => Self::Scaled([10.0, 100.0, 3.0][rng.random_range(0..3)]),
            9 | 10 => Self::Date(FORMATS[rng.random_range(0..FORMATS.len())]),
            11 => Self::DateNanos,
            12 => Self::Boolean,
            13 => Self::Ip,
            14 | 15 => Self::Keyword {
                ignore_above: rng.random_bool(0.5).then_some(5),
                lowercase: rng.random_bool(0.3),
            },
            _ => Self::Text,
        }
    }
}

/// A field of a mapping.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) coerces: bool,
    pub(super) ignores_malformed: bool,
    pub(super) null_value: Option<Value>,
    pub(super) is_indexed: bool,
    pub(super) has_column: bool,
    /// Fields that get the same values.
    pub(super) others: Vec<Field>,
    /// False if no mapping names it.
    pub(super) is_mapped: bool,
    /// Paths whose values it gets, beside its own.
    pub(super) sources: Vec<String>,
}

impl Field {
    pub(super) fn of(path: &str, kind: Kind) -> Self {
        Self {
            path: path.to_owned(),
            kind,
            coerces: true,
            ignores_malformed: false,
            null_value: None,
            is_indexed: true,
            has_column: true,
            others: Vec::new(),
            is_mapped: true,
            sources: Vec::new(),
        }
    }

    /// A field that documents make.
    fn unmapped(path: &str, kind: Kind) -> Self {
        let mut field = Self::of(path, kind);
        field.is_mapped = false;
        if field.kind == Kind::Text {
            field.has_column = false;
            let whole = Kind::Keyword {
                ignore_above: Some(256),
                lowercase: false,
            };
            let mut keyword = Self::of(&format!("{path}.keyword"), whole);
            keyword.is_mapped = false;
            field.others.push(keyword);
        }
        field
    }

    fn drawn(rng: &mut ChaCha8Rng, path: &str, is_other: bool) -> Self {
        let mut field = Self::of(path, Kind::drawn(rng));
        let kind = &field.kind;
        if kind.is_number() && *kind != Kind::UnsignedLong {
            field.coerces = rng.random_bool(0.8);
        }
        if kind.is_number() || kind.is_date() || matches!(kind, Kind::Boolean | Kind::Ip) {
            field.ignores_malformed = is_other || rng.random_bool(0.4);
        }
        if rng.random_bool(0.25) {
            field.null_value = null_value(kind);
        }
        // What is neither indexed nor has a column is asked for nothing.
        match (kind, rng.random_range(0..8)) {
            (Kind::Text, _) => field.has_column = false,
            (_, 0) => field.is_indexed = false,
            (_, 1) => field.has_column = false,
            _ => {}
        }
        if !is_other {
            for name in ["one", "other"].iter().take(rng.random_range(0..3)) {
                let path = format!("{path}.{name}");
                let mut other = Self::drawn(rng, &path, true);
                other.is_indexed = true;
                // A keyword among others has the column of the text itself, if that has none.
                other.has_column = other.kind != Kind::Text;
                field.others.push(other);
            }
        }
        field
    }

    /// Returns the definition of a field in a mapping.
    pub(super) fn definition(&self) -> Value {
        let mut own = json!({"type": self.kind.name()});
        match &self.kind {
            Kind::Scaled(factor) => own["scaling_factor"] = (*factor).into(),
            Kind::Date(format) if !format.is_empty() => own["format"] = (*format).into(),
            Kind::Keyword {
                ignore_above,
                lowercase,
            } => {
                if let Some(most) = ignore_above {
                    own["ignore_above"] = (*most).into();
                }
                if *lowercase {
                    own["normalizer"] = "lowercase".into();
                }
            }
            _ => {}
        }
        if !self.coerces {
            own["coerce"] = false.into();
        }
        if self.ignores_malformed {
            own["ignore_malformed"] = true.into();
        }
        if let Some(value) = &self.null_value {
            own["null_value"] = value.clone();
        }
        if !self.is_indexed {
            own["index"] = false.into();
        }
        if !self.has_column && self.kind != Kind::Text {
            own["doc_values"] = false.into();
        }
        for other in &self.others {
            let name = other.path.rsplit('.').next().unwrap();
            own["fields"][name] = other.definition();
        }
        own
    }

    /// Returns the field and those that get its values.
    pub(super) fn all(&self) -> impl Iterator<Item = &Field> {
        std::iter::once(self).chain(&self.others)
    }
}

fn null_value(kind: &Kind) -> Option<Value> {
    Some(match kind {
        Kind::UnsignedLong => json!(7),
        Kind::Float | Kind::HalfFloat | Kind::Double | Kind::Scaled(_) => json!(-1.5),
        kind if kind.is_integer() => json!(-7),
        Kind::Date("" | "strict_date_optional_time") | Kind::DateNanos => {
            json!("1999-12-31T23:59:59.000Z")
        }
        Kind::Date("yyyy-MM-dd") => json!("1999-12-31"),
        Kind::Date("epoch_second") => json!(1000),
        Kind::Date(_) => json!(86_400_000),
        Kind::Boolean => json!(false),
        Kind::Ip => json!("0.0.0.0"),
        Kind::Keyword { .. } => json!("NONE"),
        _ => return None,
    })
}

/// Draws the fields of a mapping.
pub(super) fn drawn(rng: &mut ChaCha8Rng) -> Vec<Field> {
    let mut fields = vec![Field::of("n", Kind::Long)];
    for name in ["a", "b", "c", "d", "o.p", "o.q", "o.deep.r", "x.y"] {
        if rng.random_bool(0.75) {
            fields.push(Field::drawn(rng, name, false));
        }
    }
    let unmapped = [
        ("words", Kind::Text),
        ("whole", Kind::Long),
        ("half", Kind::Double),
        ("flag", Kind::Boolean),
        ("u.in", Kind::Text),
    ];
    for (name, kind) in unmapped {
        if rng.random_bool(0.4) {
            fields.push(Field::unmapped(name, kind));
        }
    }
    if rng.random_bool(0.4) {
        let mut all = Field::of("all", Kind::Text);
        all.has_column = false;
        let are_copied = |field: &&Field| {
            field.is_mapped && matches!(field.kind, Kind::Text | Kind::Keyword { .. } | Kind::Long)
        };
        let sources = fields.iter().skip(1).filter(are_copied);
        all.sources = sources.map(|field| field.path.clone()).collect();
        fields.push(all);
    }
    fields
}

/// Returns the mapping of fields: objects within objects, or names with dots.
pub(super) fn mapping(rng: &mut ChaCha8Rng, fields: &[Field]) -> Value {
    let has_dots = *[true, false].choose(rng).unwrap();
    let mut properties = json!({});
    let copied = fields.iter().flat_map(|field| &field.sources);
    let copied: Vec<&String> = copied.collect();
    for field in fields.iter().filter(|field| field.is_mapped) {
        let names: Vec<&str> = match has_dots {
            true => vec![&field.path],
            false => field.path.split('.').collect(),
        };
        let mut place = &mut properties;
        for (nth, name) in names.iter().enumerate() {
            place = match nth {
                0 => &mut place[*name],
                _ => &mut place["properties"][*name],
            };
        }
        *place = field.definition();
        if copied.contains(&&field.path) {
            place["copy_to"] = "all".into();
        }
    }
    json!({"properties": properties})
}
