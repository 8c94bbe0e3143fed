//! `canter prices`: the built-in price table, to be copied and edited.

use std::io::{self, Write};

use anyhow::Result;

use crate::prices::DEFAULT;

/// Prints the built-in table.
pub(crate) fn run() -> Result<()> {
    Ok(io::stdout().write_all(DEFAULT.as_bytes())?)
}
