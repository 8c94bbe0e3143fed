//! The price of a search.

mod table;

pub(crate) use table::{DEFAULT, Prices, QueryPrice, Usage, prices_json, usage_of};
