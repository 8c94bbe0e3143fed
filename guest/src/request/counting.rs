//! How many hits a search counts.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// How many hits a search counts: Quickwit's `count_all`, and Elasticsearch's `track_total_hits`.
///
/// See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/search-api#track-total-hits>.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counting {
    /// All of them.
    #[default]
    All,
    /// So many. What lies behind them and behind the hits that are wanted may stay unread; the number is then a lower
    /// bound.
    UpTo(u64),
}

impl Counting {
    pub(super) fn is_all(&self) -> bool {
        *self == Self::All
    }
}

impl Serialize for Counting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_bool(true),
            Self::UpTo(most) => serializer.serialize_u64(*most),
        }
    }
}

impl<'de> Deserialize<'de> for Counting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        match (json.as_bool(), json.as_u64()) {
            (Some(true), _) => Ok(Self::All),
            (Some(false), _) => Ok(Self::UpTo(0)),
            (_, Some(most)) => Ok(Self::UpTo(most)),
            _ => Err(D::Error::custom(
                "track_total_hits must be true, false or a whole number, 0 or more",
            )),
        }
    }
}
