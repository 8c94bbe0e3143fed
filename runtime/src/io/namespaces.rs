//! Prefixes of the keys of a searcher's cache.

use std::sync::Arc;

use crate::fetch::OpenIndexes;

/// Maximum number of names in a label: there may be hundreds.
const MAX_LISTED: usize = 10;

/// The namespace of one index, or of each of several, whose objects begin with their name.
#[derive(Clone, Debug)]
pub(crate) enum Namespaces {
    One(Arc<str>),
    ByIndex(Arc<OpenIndexes>),
}

impl Namespaces {
    /// Returns the key of an object, or of an entry of the guest. An index has the same keys whether it
    /// is open alone or beside others.
    pub(crate) fn key(&self, name: &str) -> String {
        match self {
            Self::One(namespace) => format!("{namespace}/{name}"),
            Self::ByIndex(indexes) => {
                let known = name
                    .split_once('/')
                    .and_then(|(index, rest)| Some((indexes.namespace_of(index)?, rest)));
                match known {
                    Some((namespace, rest)) => format!("{namespace}/{rest}"),
                    None => format!("/{name}"),
                }
            }
        }
    }

    /// Returns a label of the indexes, for spans.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::One(namespace) => namespace.to_string(),
            Self::ByIndex(indexes) => {
                let mut names = indexes.names();
                if names.len() > MAX_LISTED {
                    names.truncate(MAX_LISTED);
                    names.push("…".to_owned());
                }
                names.join(",")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::{MemoryFetcher, OpenIndex};

    #[test]
    fn an_index_has_the_same_keys_alone_and_beside_others() {
        let alone = Namespaces::One("s3://b/logs".into());
        let indexes = OpenIndexes::default();
        for (name, namespace) in [("logs", "s3://b/logs"), ("docs", "/docs")] {
            let index = OpenIndex {
                fetcher: Arc::new(MemoryFetcher::default()),
                namespace: namespace.to_owned(),
            };
            assert!(indexes.add(name, index));
        }
        let beside = Namespaces::ByIndex(Arc::new(indexes));
        assert_eq!(beside.key("logs/splits/a"), alone.key("splits/a"));
        assert_eq!(beside.key("docs/splits/a"), "/docs/splits/a");
        assert_ne!(beside.key("other/splits/a"), alone.key("splits/a"));
    }
}
