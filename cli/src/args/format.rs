//! The format of an answer.

use clap::{Args, ValueEnum};

use crate::render::Screen;

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object.
    Json,
    /// Aligned text for people.
    Table,
}

/// The argument of every command with an answer.
#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// Format of the answer [default: a table on a terminal, JSON elsewhere].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

impl FormatArg {
    /// Returns the given format, or else the one that suits the screen.
    pub(crate) fn on(&self, screen: &Screen) -> Format {
        self.format.unwrap_or(match screen.is_terminal {
            true => Format::Table,
            false => Format::Json,
        })
    }
}
