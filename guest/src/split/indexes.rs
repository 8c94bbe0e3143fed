//! The indexes of the splits of a search.

use serde::{Deserialize, Serialize};

use super::open::{HeadSource, Mappers, OpenSplit, open_split};
use crate::SearchError;
use crate::exchange::Exchange;

/// An index that is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchedIndex {
    /// Prefix of the names of its objects and cache keys: its own name and a slash, or empty where the host knows only
    /// one index.
    pub(crate) prefix: String,
    /// Its config, as its manifest has it.
    #[serde(with = "as_text")]
    pub(crate) config: serde_json::Value,
}

/// JSON travels as text, because it describes itself.
mod as_text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(json: &Value, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&json.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Value, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}

impl SearchedIndex {
    /// Returns the name under which the index is searched; empty where the host knows only one index.
    pub(crate) fn name(&self) -> &str {
        self.prefix.strip_suffix('/').unwrap_or(&self.prefix)
    }
}

/// Exchanges and mappers that open the splits.
pub(crate) struct Indexes(Vec<(Exchange, Mappers)>);

impl Indexes {
    pub(crate) fn new(indexes: &[SearchedIndex], exchange: &Exchange) -> Self {
        let of_index = |index: &SearchedIndex| {
            let exchange = exchange.with_prefix(&index.prefix);
            (exchange, Mappers::new(&index.config, index.name()))
        };
        Self(indexes.iter().map(of_index).collect())
    }

    fn get(&self, source: &HeadSource) -> Result<&(Exchange, Mappers), SearchError> {
        let found = self.0.get(source.index);
        found.ok_or_else(|| SearchError::internal("a split of an index that is not searched"))
    }

    /// Returns the exchange of a split's index; `None` if the index is not among these.
    pub(crate) fn exchange_of(&self, source: &HeadSource) -> Option<&Exchange> {
        self.get(source).ok().map(|(exchange, _)| exchange)
    }

    /// Opens a split of one of these indexes.
    ///
    /// # Errors
    /// As [`open_split`].
    pub(crate) async fn open(&self, source: HeadSource) -> Result<OpenSplit, SearchError> {
        let (exchange, mappers) = self.get(&source)?;
        open_split(source, exchange, mappers).await
    }
}
