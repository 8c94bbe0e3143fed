//! The number of hits that a search counts.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Limit on counting hits: Quickwit's `count_all`, and Elasticsearch's `track_total_hits`.
///
/// See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/search-api#track-total-hits>.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Counting {
    /// Counts all hits.
    #[default]
    All,
    /// Counts up to this number. Documents beyond it and beyond the wanted hits may stay unread; the number is then a
    /// lower bound.
    UpTo(u64),
}

/// Reads `true`, `false` or a number from JSON.
pub(super) fn read_counting<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Counting, D::Error> {
    let json = Value::deserialize(deserializer)?;
    match (json.as_bool(), json.as_u64()) {
        (Some(true), _) => Ok(Counting::All),
        (Some(false), _) => Ok(Counting::UpTo(0)),
        (_, Some(most)) => Ok(Counting::UpTo(most)),
        _ => Err(D::Error::custom(
            "track_total_hits must be true, false or a whole number, 0 or more",
        )),
    }
}
