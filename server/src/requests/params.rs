//! The parameters of writes in the URL: each is used, has no effect, or is refused by name.

use std::collections::BTreeMap;

use canter_intake::Acknowledge;
use canter_names::FilterPath;
use url::form_urlencoded;

/// The parameters of a URL.
pub(crate) struct Params {
    rest: BTreeMap<String, String>,
    /// The wanted parts of an answer.
    pub(crate) filter_path: Option<FilterPath>,
    pub(crate) is_pretty: bool,
}

impl Params {
    /// Parses the parameters that every request may have.
    pub(crate) fn of(query: &str) -> Result<Self, String> {
        let mut rest = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if rest.insert(name.to_string(), value.to_string()).is_some() {
                return Err(format!("the parameter [{name}] is there twice"));
            }
        }
        let mut params = Self {
            rest,
            filter_path: None,
            is_pretty: false,
        };
        params.is_pretty = params.flag("pretty")?.unwrap_or(false);
        for means_nothing in ["human", "error_trace", "timeout", "wait_for_active_shards"] {
            params.text(means_nothing);
        }
        params.one_of("format", &["json"])?;
        let filter = params.text("filter_path");
        params.filter_path = filter.map(|paths| FilterPath::parse(&paths)).transpose()?;
        Ok(params)
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.rest.remove(name)
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, String> {
        let text = self.rest.remove(name);
        text.map(|text| match text.as_str() {
            "" | "true" => Ok(true),
            "false" => Ok(false),
            other => Err(format!("[{name}] is true or false, and not [{other}]")),
        })
        .transpose()
    }

    /// Takes a parameter whose listed values have no effect.
    pub(crate) fn one_of(&mut self, name: &str, values: &[&str]) -> Result<(), String> {
        match self.rest.remove(name) {
            Some(value) if !values.contains(&value.as_str()) => {
                let values: Vec<&str> = values
                    .iter()
                    .copied()
                    .filter(|value| !value.is_empty())
                    .collect();
                let values = values.join(" or ");
                Err(format!(
                    "[{name}] can only be {values} here, and not [{value}]"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Takes the time at which the client wants the answer. Elasticsearch's `refresh=false`, its default, requires
    /// documents only to be durable; without it, they can also be found when the answer arrives.
    pub(crate) fn refresh(&mut self) -> Result<Acknowledge, String> {
        match self.rest.remove("refresh").as_deref() {
            None | Some("wait_for") => Ok(Acknowledge::Published),
            Some("" | "true") => Ok(Acknowledge::PublishedNow),
            Some("false") => Ok(Acknowledge::Durable),
            Some(other) => Err(format!(
                "[refresh] is true, false or wait_for, and not [{other}]"
            )),
        }
    }

    /// Refuses the parameters that were not used.
    pub(crate) fn finish(&self) -> Result<(), String> {
        match self.rest.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("request contains unrecognized parameter: [{name}]")),
        }
    }
}
