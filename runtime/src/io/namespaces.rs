//! What the keys of a searcher's cache begin with.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The namespace of one index, or of each of several, whose objects begin with their name.
#[derive(Clone, Debug)]
pub(crate) enum Namespaces {
    One(Arc<str>),
    ByIndex(Arc<BTreeMap<String, String>>),
}

impl Namespaces {
    /// The key of an object, or of an entry of the guest. An index has the same keys whether it is open
    /// alone or beside others.
    pub(crate) fn key(&self, name: &str) -> String {
        match self {
            Self::One(namespace) => format!("{namespace}/{name}"),
            Self::ByIndex(namespaces) => {
                let known = name
                    .split_once('/')
                    .and_then(|(index, rest)| Some((namespaces.get(index)?, rest)));
                match known {
                    Some((namespace, rest)) => format!("{namespace}/{rest}"),
                    None => format!("/{name}"),
                }
            }
        }
    }

    /// Which indexes these are, for spans.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::One(namespace) => namespace.to_string(),
            Self::ByIndex(namespaces) => {
                let names: Vec<&str> = namespaces.keys().map(String::as_str).collect();
                names.join(",")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_the_same_keys_alone_and_beside_others() {
        let alone = Namespaces::One("s3://b/logs".into());
        let names = [("logs", "s3://b/logs"), ("docs", "/docs")];
        let names = names.map(|(name, namespace)| (name.to_owned(), namespace.to_owned()));
        let beside = Namespaces::ByIndex(Arc::new(names.into()));
        assert_eq!(beside.key("logs/splits/a"), alone.key("splits/a"));
        assert_eq!(beside.key("docs/splits/a"), "/docs/splits/a");
        assert_ne!(beside.key("other/splits/a"), alone.key("splits/a"));
    }
}
