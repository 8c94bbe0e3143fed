//! Settings from the environment: typed, and named in every error. An empty setting counts as
//! missing.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Error about a missing or invalid setting, with its name and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// Variables of a process at its start.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Returns the variables of this process, except for those that are not UTF-8.
    pub fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// Creates an environment of these variables.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self(variables.into_iter().map(owned).collect())
    }

    /// Returns a variable, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns a required variable; `example` shows a possible value.
    pub fn require(&self, name: &str, example: &str) -> Result<&str, ConfigError> {
        self.get(name).ok_or_else(|| {
            ConfigError(format!(
                "{name} is not set: give it, as in {name}={example}"
            ))
        })
    }

    /// Returns an error if a variable has the prefix but is not in `known`, because it would be
    /// ignored.
    pub fn refuse_unknown(&self, prefix: &str, known: &[&str]) -> Result<(), ConfigError> {
        let ours = self.0.keys().filter(|name| name.starts_with(prefix));
        for name in ours {
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                return Err(ConfigError(format!(
                    "{name} is not known; there are {known}"
                )));
            }
        }
        Ok(())
    }

    /// Parses a number or another value with a text form.
    pub fn parse<T: FromStr>(&self, name: &str, expect: &str) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let parsed = value.trim().parse().map_err(|_| {
            ConfigError(format!(
                "{name} is {value:?}: give {expect}, or leave it out"
            ))
        });
        parsed.map(Some)
    }

    /// Parses an integer.
    pub fn number(&self, name: &str) -> Result<Option<u64>, ConfigError> {
        self.parse(name, "a whole number")
    }

    /// Parses a number of bytes, such as `400MB` or `1GiB`.
    pub fn bytes(&self, name: &str) -> Result<Option<u64>, ConfigError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let parsed = canter_stores::parse_bytes(value);
        parsed
            .map(Some)
            .map_err(|wrong| ConfigError(format!("{name} is {value:?}, {wrong}")))
    }

    /// Parses a JSON value.
    pub fn json<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        expect: &str,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        // The value may contain secrets, so it is not shown.
        serde_json::from_str(value)
            .map(Some)
            .map_err(|error| ConfigError(format!("{name} is not {expect}: {error}")))
    }
}

/// Shows only names, because values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named_with_what_would_be_right() {
        let env = Environment::of([("A", "12"), ("B", "many"), ("C", "")]);
        assert_eq!(env.number("A").unwrap(), Some(12));
        assert_eq!(env.number("C").unwrap(), None);
        let error = env.number("B").unwrap_err().to_string();
        assert!(error.contains("B is \"many\""), "{error}");
        let env = Environment::of([("A", "1GiB"), ("B", "1.5"), ("C", "")]);
        assert_eq!(env.bytes("A").unwrap(), Some(1 << 30));
        assert_eq!(env.bytes("C").unwrap(), None);
        let error = env.bytes("B").unwrap_err().to_string();
        assert!(
            error.contains("B is \"1.5\", not a whole number"),
            "{error}"
        );
        let error = env.require("C", "s3://b/p").unwrap_err().to_string();
        assert!(error.contains("C=s3://b/p"), "{error}");
    }

    #[test]
    fn values_are_not_shown() {
        let env = Environment::of([("CANTER_LIMITS", "secret")]);
        assert!(!format!("{env:?}").contains("secret"));
        let error = env.json::<u64>("CANTER_LIMITS", "a number").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
