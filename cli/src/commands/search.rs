//! `canter search`: one request, one answer.

mod args;
mod limits;
mod output;
mod run;

use std::io::{self, Write};

use anyhow::Result;

pub(crate) use args::SearchArgs;

use crate::cli::Format;
use crate::render::Screen;
use output::{check_answered, json_of, table_of, warn_of_failed_splits};

/// Searches and shows the answer.
pub(crate) fn run(args: &SearchArgs, screen: &Screen) -> Result<()> {
    let response = run::search(args)?;
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => {
            let json = json_of(&response.json, args.profile);
            match screen.is_terminal {
                true => writeln!(out, "{json:#}")?,
                false => writeln!(out, "{json}")?,
            }
        }
        Format::Table => out.write_all(table_of(&response, args.profile, screen).as_bytes())?,
    }
    out.flush()?;
    warn_of_failed_splits(&response.json);
    check_answered(&response.json)
}
