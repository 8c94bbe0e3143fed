//! Values and types.

use std::sync::Arc;

use serde_json::Number;

use super::heap::Id;

/// A value. Lists and maps are references: they stand in a [`Heap`](super::Heap).
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// A number of a document that fits no type: it is kept, and nothing is computed with it.
    Big(Number),
    Text(Arc<str>),
    List(Id),
    Set(Id),
    Map(Id),
    /// What a map has, as it is when it is looked at.
    View(View, Id),
    /// An entry of a map.
    Entry(Id, Arc<str>),
    /// Elements between `stream()` and what ends it.
    Stream(Id),
    /// A stream of numbers of a type.
    Figures(Type, Id),
    /// A list of one value or none.
    Optional(Id),
    /// What `collect` makes of a stream.
    Collector(&'static str, Arc<str>),
}

/// Which part of a map is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Keys,
    Values,
    Entries,
}

impl Value {
    /// Returns Java's name of the value's class.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "java.lang.Boolean",
            Self::Int(_) => "java.lang.Integer",
            Self::Long(_) => "java.lang.Long",
            Self::Float(_) => "java.lang.Float",
            Self::Double(_) => "java.lang.Double",
            Self::Big(_) => "java.math.BigInteger",
            Self::Text(_) => "java.lang.String",
            Self::List(_) => "java.util.ArrayList",
            Self::Set(_) => "java.util.HashSet",
            Self::Map(_) => "java.util.HashMap",
            Self::View(View::Values, _) => "java.util.Collection",
            Self::View(..) => "java.util.Set",
            Self::Entry(..) => "java.util.Map$Entry",
            Self::Stream(_) => "java.util.stream.Stream",
            Self::Figures(..) => "java.util.stream.BaseStream",
            Self::Optional(_) => "java.util.Optional",
            Self::Collector(..) => "java.util.stream.Collector",
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Int(_) | Self::Long(_) | Self::Float(_) | Self::Double(_) | Self::Big(_)
        )
    }
}

/// A type of a variable, or one that a value is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Def,
    Object,
    Int,
    Long,
    Float,
    Double,
    Bool,
    BoxedInt,
    BoxedLong,
    BoxedFloat,
    BoxedDouble,
    BoxedBool,
    Number,
    Text,
    List,
    Set,
    Map,
    Entry,
    Collection,
}

impl Type {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "def" | "var" => Self::Def,
            "Object" => Self::Object,
            "int" => Self::Int,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            "boolean" => Self::Bool,
            "Integer" => Self::BoxedInt,
            "Long" => Self::BoxedLong,
            "Float" => Self::BoxedFloat,
            "Double" => Self::BoxedDouble,
            "Boolean" => Self::BoxedBool,
            "Number" => Self::Number,
            "String" | "CharSequence" => Self::Text,
            "List" | "ArrayList" => Self::List,
            "Set" | "HashSet" | "LinkedHashSet" => Self::Set,
            "Map" | "HashMap" | "LinkedHashMap" => Self::Map,
            "Map.Entry" => Self::Entry,
            "Collection" | "Iterable" => Self::Collection,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Def => "def",
            Self::Object => "java.lang.Object",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bool => "boolean",
            Self::BoxedInt => "java.lang.Integer",
            Self::BoxedLong => "java.lang.Long",
            Self::BoxedFloat => "java.lang.Float",
            Self::BoxedDouble => "java.lang.Double",
            Self::BoxedBool => "java.lang.Boolean",
            Self::Number => "java.lang.Number",
            Self::Text => "java.lang.String",
            Self::List => "java.util.List",
            Self::Set => "java.util.Set",
            Self::Map => "java.util.Map",
            Self::Entry => "java.util.Map$Entry",
            Self::Collection => "java.util.Collection",
        }
    }

    /// Returns the type of which primitive values are, if it is one of them, and whether it can be null.
    pub(crate) fn primitive(self) -> Option<(Self, bool)> {
        Some(match self {
            Self::Int | Self::Long | Self::Float | Self::Double | Self::Bool => (self, false),
            Self::BoxedInt => (Self::Int, true),
            Self::BoxedLong => (Self::Long, true),
            Self::BoxedFloat => (Self::Float, true),
            Self::BoxedDouble => (Self::Double, true),
            Self::BoxedBool => (Self::Bool, true),
            _ => return None,
        })
    }

    /// Returns the value of a variable that is declared without one.
    pub(crate) fn default_value(self) -> Value {
        match self {
            Self::Int => Value::Int(0),
            Self::Long => Value::Long(0),
            Self::Float => Value::Float(0.0),
            Self::Double => Value::Double(0.0),
            Self::Bool => Value::Bool(false),
            _ => Value::Null,
        }
    }

    /// Returns whether a value that is no null is of this type.
    pub(crate) fn has(self, value: &Value) -> bool {
        match self {
            Self::Def | Self::Object => true,
            Self::Int | Self::BoxedInt => matches!(value, Value::Int(_)),
            Self::Long | Self::BoxedLong => matches!(value, Value::Long(_)),
            Self::Float | Self::BoxedFloat => matches!(value, Value::Float(_)),
            Self::Double | Self::BoxedDouble => matches!(value, Value::Double(_)),
            Self::Bool | Self::BoxedBool => matches!(value, Value::Bool(_)),
            Self::Number => value.is_number(),
            Self::Text => matches!(value, Value::Text(_)),
            Self::List => matches!(value, Value::List(_)),
            Self::Set => matches!(
                value,
                Value::Set(_) | Value::View(View::Keys | View::Entries, _)
            ),
            Self::Map => matches!(value, Value::Map(_)),
            Self::Entry => matches!(value, Value::Entry(..)),
            Self::Collection => {
                matches!(value, Value::List(_) | Value::Set(_) | Value::View(..))
            }
        }
    }
}
