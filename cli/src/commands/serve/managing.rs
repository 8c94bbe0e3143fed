//! Arguments of `canter serve` for creating and deleting indexes.

use canter_server::RootSettings;
use clap::Args;

/// Value of `--auto-create-index` that allows no name.
const NO_NAME: &str = "none";

/// Options of `canter serve`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Indexes that come and go")]
pub(crate) struct ManagingArgs {
    /// Serve all indexes under this folder or bucket, too. With --writable, clients create and delete indexes there,
    /// and put templates. Other servers over the same folder or bucket notice changes within seconds.
    #[arg(long, value_name = "URI")]
    pub(super) indexes_in: Option<String>,

    /// Name for which incoming documents create an index without a template; `*` stands for any text, and `none` leaves
    /// creating indexes to templates. May be given several times.
    #[arg(
        long = "auto-create-index",
        value_name = "PATTERN",
        default_value = "*",
        requires = "indexes_in"
    )]
    auto_create: Vec<String>,

    /// Maximum number of indexes under --indexes-in; each takes a thread of a writable server.
    #[arg(long, value_name = "N", default_value = "200", requires = "indexes_in")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_indexes: u32,
}

impl ManagingArgs {
    /// Returns the settings of the root of indexes, if there is one.
    pub(super) fn settings(&self) -> Option<RootSettings> {
        let patterns = self.auto_create.iter();
        Some(RootSettings {
            uri: self.indexes_in.clone()?,
            auto_create: patterns.filter(|name| *name != NO_NAME).cloned().collect(),
            max_indexes: self.max_indexes as usize,
        })
    }
}
