//! The price of a search, according to a price table that anyone can edit.
//!
//! The table is TOML, for its comments: each price is next to its source. Errors of the crate `toml`
//! name the line and the key.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use canter_runtime::Explanation;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::exit::WrongUse;

/// The built-in table, with its comments.
pub(crate) const DEFAULT: &str = include_str!("default.toml");

const BYTES_PER_GB: f64 = (1u64 << 30) as f64;

/// A price table: `cli/src/prices/default.toml` explains each key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prices {
    /// The date of the prices.
    pub(crate) as_of: String,
    pub(crate) assumptions: Assumptions,
    #[serde(default)]
    service: BTreeMap<String, ServicePrices>,
}

/// Figures that a plan does not contain.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assumptions {
    pub(crate) wave_ms: Amount,
    pub(crate) cpu_ms: Amount,
    pub(crate) memory_gb: Amount,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ServicePrices {
    per_thousand_reads: Amount,
    per_gb_read: Amount,
    per_million_queries: Amount,
    per_gb_second: Amount,
    per_million_cpu_ms: Amount,
}

/// A price or quantity: finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Amount(pub(crate) f64);

impl TryFrom<f64> for Amount {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        match value.is_finite() && value >= 0.0 {
            true => Ok(Self(value)),
            false => Err(format!(
                "{value} is not a price or quantity: give 0 or more"
            )),
        }
    }
}

/// Resources that a query uses, as far as its plan tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) num_requests: u64,
    pub(crate) num_bytes: u64,
    pub(crate) num_waves: u64,
    /// Maximum number of documents that may cost a request each.
    pub(crate) max_documents: u64,
}

/// Price of one query at one service, in USD.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryPrice {
    pub(crate) service: String,
    /// For reads, or for the call of a function.
    pub(crate) requests: f64,
    pub(crate) transfer: f64,
    pub(crate) compute: f64,
    /// Maximum additional price, if each document costs a read.
    pub(crate) documents: f64,
}

impl Prices {
    /// Reads the table in `path`, or the built-in one.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            return Self::parse(DEFAULT, "the built-in price table");
        };
        let shown = format!("price table `{}`", path.display());
        let text = fs::read_to_string(path)
            .map_err(|error| WrongUse(format!("cannot read {shown}: {error}")))?;
        Self::parse(&text, &shown)
    }

    fn parse(text: &str, shown: &str) -> Result<Self> {
        let prices = toml::from_str(text);
        prices.map_err(|error| WrongUse(format!("{shown}: {error}").trim_end().to_owned()).into())
    }

    /// Returns the price of a query, service by service.
    pub(crate) fn of(&self, usage: &Usage) -> Vec<QueryPrice> {
        let services = self.service.iter();
        services
            .map(|(name, service)| self.price(name, service, usage))
            .collect()
    }

    fn price(&self, name: &str, service: &ServicePrices, usage: &Usage) -> QueryPrice {
        let per_read = service.per_thousand_reads.0 / 1e3;
        let Assumptions {
            wave_ms,
            cpu_ms,
            memory_gb,
        } = self.assumptions;
        let seconds = (usage.num_waves as f64 * wave_ms.0 + cpu_ms.0) / 1e3;
        QueryPrice {
            service: name.to_owned(),
            requests: usage.num_requests as f64 * per_read + service.per_million_queries.0 / 1e6,
            transfer: usage.num_bytes as f64 / BYTES_PER_GB * service.per_gb_read.0,
            compute: seconds * memory_gb.0 * service.per_gb_second.0
                + cpu_ms.0 * service.per_million_cpu_ms.0 / 1e6,
            documents: usage.max_documents as f64 * per_read,
        }
    }
}

impl QueryPrice {
    /// Returns the price of what the plan certainly uses.
    pub(crate) fn total(&self) -> f64 {
        self.requests + self.transfer + self.compute
    }

    fn to_json(&self) -> Value {
        json!({
            "requests_usd": rounded(self.requests),
            "transfer_usd": rounded(self.transfer),
            "compute_usd": rounded(self.compute),
            "max_documents_usd": rounded(self.documents),
            "per_million_queries_usd": rounded(self.total() * 1e6),
        })
    }
}

/// Returns the prices of a query by service as JSON.
pub(crate) fn prices_json(prices: &[QueryPrice]) -> Value {
    let services = prices
        .iter()
        .map(|price| (price.service.clone(), price.to_json()));
    services.collect::<Map<_, _>>().into()
}

/// Rounds to a millionth of a millionth of a dollar, to remove the errors of binary fractions.
fn rounded(usd: f64) -> f64 {
    (usd * 1e12).round() / 1e12
}

/// Returns what the search certainly uses: the usage of the plan, and of the next reads.
pub(crate) fn usage_of(explained: &Explanation) -> Usage {
    let Explanation {
        profile, planned, ..
    } = explained;
    let num_planned_bytes: u64 = planned.iter().map(|read| read.length).sum();
    Usage {
        num_requests: profile.num_requests + planned.len() as u64,
        num_bytes: profile.num_bytes + num_planned_bytes,
        num_waves: profile.num_waves + u64::from(!planned.is_empty()),
        max_documents: explained.max_documents,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage {
        num_requests: 10,
        num_bytes: 1 << 30,
        num_waves: 3,
        max_documents: 20,
    };

    #[test]
    fn the_built_in_table_prices_stores_and_functions() {
        let prices = Prices::read(None).unwrap_or_else(|error| panic!("{error}"));
        let of_query = prices.of(&USAGE);
        let check = |name: &str, requests: f64, transfer: f64, compute: f64, documents: f64| {
            let price = of_query.iter().find(|price| price.service == name);
            let price = price.unwrap_or_else(|| panic!("{name} is missing"));
            let found = [
                price.requests,
                price.transfer,
                price.compute,
                price.documents,
            ];
            let expect = [requests, transfer, compute, documents];
            assert_eq!(found.map(rounded), expect.map(rounded), "{name}");
        };
        check("s3", 4e-6, 0.09, 0.0, 8e-6);
        check("s3_same_region", 4e-6, 0.0, 0.0, 8e-6);
        check("r2", 3.6e-6, 0.0, 0.0, 7.2e-6);
        // 3 waves of 60 ms and 15 ms of computing, at half a GB.
        check("lambda", 2e-7, 0.0, 0.195 * 0.5 * 0.0000166667, 0.0);
        check("workers", 3e-7, 0.0, 15.0 * 0.02 / 1e6, 0.0);
    }

    #[test]
    fn a_mistake_is_named_with_line_and_key() {
        let head = "as_of = \"today\"\n[assumptions]\nwave_ms = 1\ncpu_ms = 1\nmemory_gb = 1\n[service.x]\n";
        let check = |text: String, expect: &[&str]| {
            let message = match Prices::parse(&text, "price table `p`") {
                Ok(_) => String::new(),
                Err(error) => format!("{error:#}"),
            };
            for expect in expect {
                assert!(message.contains(expect), "{expect}: {message}");
            }
            assert_eq!(message.is_empty(), expect.is_empty(), "{message}");
        };
        check(format!("{head}per_gb_read = 1"), &[]);
        check(
            format!("{head}per_gb_raed = 1"),
            &["price table `p`", "line 7", "per_gb_raed"],
        );
        check(
            format!("{head}per_gb_read = -1"),
            &["line 7", "per_gb_read", "-1 is not a price"],
        );
        check(
            format!("{head}per_gb_read = nan"),
            &["line 7", "per_gb_read"],
        );
        check(
            format!("{head}per_gb_read = \"1\""),
            &["line 7", "per_gb_read"],
        );
        check("as_of = \"today\"".to_owned(), &["assumptions"]);
        check("as_of = ".to_owned(), &["line 1"]);
    }
}
