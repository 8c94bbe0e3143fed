//! Settings of buckets, from the program and from the environment.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
#[cfg(feature = "buckets")]
use std::str::FromStr;

/// Settings of buckets by the name of their environment variable, such as `AWS_REGION`. They
/// override the environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Settings(pub BTreeMap<String, String>);

impl Settings {
    /// Returns a setting from here or the environment, unless it is empty.
    pub fn get(&self, name: &str) -> Option<String> {
        let own = self.0.get(name).cloned();
        own.or_else(|| env::var(name).ok())
            .filter(|value| !value.is_empty())
    }

    /// Returns the settings whose names a store knows, each with its key.
    #[cfg(feature = "buckets")]
    pub(crate) fn of<K: FromStr>(&self, prefix: &str) -> impl Iterator<Item = (K, String)> {
        self.0
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix))
            .filter_map(|(name, value)| {
                let key = name.to_ascii_lowercase().parse().ok()?;
                Some((key, value.clone()))
            })
    }
}

/// Shows names only: values may be secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
