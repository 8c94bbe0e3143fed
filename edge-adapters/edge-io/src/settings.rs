//! Settings in text form, from an environment or a config store: read once, with errors that name
//! the key.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use crate::Options;

/// Settings that [`Options::with_settings`] reads.
const INTEGERS: [&str; 6] = [
    "CANTER_MAX_REQUESTS",
    "CANTER_MAX_WAVES",
    "CANTER_DEADLINE_MS",
    "CANTER_MAX_CPU_MS",
    "CANTER_MANIFEST_TTL_MS",
    "CANTER_MAX_CONCURRENT_REQUESTS",
];

impl Options {
    /// Applies the settings `CANTER_MAX_REQUESTS`, `CANTER_MAX_BYTES`, `CANTER_MAX_WAVES`,
    /// `CANTER_DEADLINE_MS`, `CANTER_MAX_CPU_MS`, `CANTER_MANIFEST_TTL_MS`,
    /// `CANTER_MAX_CONCURRENT_REQUESTS`, `CANTER_LIMITS` (the guest's limits, JSON) and
    /// `CANTER_FORCED_FILTER` (a query). An empty value counts as missing.
    ///
    /// # Errors
    /// A value is not valid for its key (the message names both), or cannot be read: a filter that
    /// cannot be read must not count as missing.
    pub fn with_settings(
        mut self,
        setting: impl Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<Self, String> {
        let setting = |name: &str| {
            let value = setting(name)?;
            Ok::<_, String>(value.filter(|value| !value.trim().is_empty()))
        };
        for name in INTEGERS {
            let Some(value) = setting(name)? else {
                continue;
            };
            let number: u64 = value
                .trim()
                .parse()
                .map_err(|_| format!("{name} is {value:?}: give a whole number"))?;
            match name {
                "CANTER_MAX_REQUESTS" => self.budget.max_requests = Some(number),
                "CANTER_MAX_WAVES" => self.budget.max_waves = Some(number),
                "CANTER_DEADLINE_MS" => self.budget.deadline_ms = Some(number),
                "CANTER_MAX_CPU_MS" => self.max_cpu_ms = Some(number),
                "CANTER_MANIFEST_TTL_MS" => self.manifest_ttl_ms = number,
                _ if number == 0 => return Err(format!("{name} is 0: give 1 or more")),
                _ => self.max_concurrent_requests = usize::try_from(number).unwrap_or(usize::MAX),
            }
        }
        if let Some(value) = setting("CANTER_MAX_BYTES")? {
            let bytes =
                parse_bytes(&value).map_err(|error| format!("CANTER_MAX_BYTES: {error}"))?;
            self.budget.max_bytes = Some(bytes);
        }
        if let Some(value) = setting("CANTER_LIMITS")? {
            match serde_json::from_str(&value) {
                Ok(Value::Object(limits)) => self.guest_limits = limits,
                Ok(_) => return Err("CANTER_LIMITS: give a JSON object".to_owned()),
                Err(error) => return Err(format!("CANTER_LIMITS: {error}")),
            }
        }
        if let Some(filter) = setting("CANTER_FORCED_FILTER")? {
            self.forced_filter = Some(filter);
        }
        Ok(self)
    }
}

/// Parses `name=url,name=url`.
///
/// # Errors
/// A part does not have this form, a name is duplicate or invalid in a path, or a URL is neither
/// `http` nor `https`.
pub fn parse_indexes(text: &str) -> Result<BTreeMap<String, Url>, String> {
    let mut indexes = BTreeMap::new();
    let parts = text.split(',').map(str::trim);
    for part in parts.filter(|part| !part.is_empty()) {
        let (name, url) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} is not name=url"))?;
        if name.is_empty() || name.contains('/') {
            return Err(format!(
                "an index cannot have the name {name:?}: it is a part of a path"
            ));
        }
        if indexes.insert(name.to_owned(), parse_url(url)?).is_some() {
            return Err(format!("the index {name:?} is given twice"));
        }
    }
    match indexes.is_empty() {
        true => Err("give at least one index as name=url".to_owned()),
        false => Ok(indexes),
    }
}

/// Parses the URL of an index.
///
/// # Errors
/// It is not a URL of `http` or `https`.
pub fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{text:?} is no URL: {error}"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!(
            "{text:?}: {other} is not spoken here; give http or https"
        )),
    }
}

/// Parses a number of bytes, such as `64MiB`, `50MB` or `1000`.
///
/// # Errors
/// The text is invalid, or the number is too large.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    canter_stores::parse_bytes(text).map_err(|wrong| format!("{text:?} is {wrong}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_names_and_urls() {
        let indexes = parse_indexes("logs=http://a.example/x, b=https://b.example/?sig=1").unwrap();
        let urls: Vec<&str> = indexes.values().map(Url::as_str).collect();
        assert_eq!(urls, ["https://b.example/?sig=1", "http://a.example/x"]);
        for (text, expect) in [
            ("", "at least one"),
            ("logs", "name=url"),
            ("=http://a.example", "cannot have the name"),
            ("a/b=http://a.example", "cannot have the name"),
            ("a=http://a.example,a=http://b.example", "twice"),
            ("a=s3://bucket/x", "s3 is not spoken"),
            ("a=x", "no URL"),
        ] {
            let error = parse_indexes(text).unwrap_err();
            assert!(error.contains(expect), "{text}: {error}");
        }
    }

    #[test]
    fn bytes_have_units() {
        for (text, expect) in [
            ("0", Some(0)),
            ("64MiB", Some(64 << 20)),
            ("50 mb", Some(50_000_000)),
            ("MiB", None),
            ("-1", None),
            ("1.5MB", Some(1_500_000)),
            ("1.5", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(parse_bytes(text).ok(), expect, "{text}");
        }
    }

    #[test]
    fn a_setting_that_cannot_be_read_is_named() {
        let with = |name: &'static str, value: &'static str| {
            Options::default()
                .with_settings(move |asked| Ok((asked == name).then(|| value.to_owned())))
        };
        let set = with("CANTER_MAX_REQUESTS", "16").unwrap();
        assert_eq!(set.budget.max_requests, Some(16));
        let set = with("CANTER_LIMITS", r#"{"max_hits":5}"#).unwrap();
        assert_eq!(set.guest_limits["max_hits"], 5);
        for (name, value) in [
            ("CANTER_MAX_REQUESTS", "many"),
            ("CANTER_MAX_BYTES", "much"),
            ("CANTER_LIMITS", "[]"),
            ("CANTER_LIMITS", "{"),
            ("CANTER_MAX_CONCURRENT_REQUESTS", "0"),
        ] {
            let error = with(name, value).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        let unreadable = |asked: &str| match asked {
            "CANTER_FORCED_FILTER" => Err("too long".to_owned()),
            _ => Ok(None),
        };
        assert_eq!(
            Options::default().with_settings(unreadable).unwrap_err(),
            "too long"
        );
    }
}
