//! `canter`: builds indexes, searches them and looks into them.
//!
//! No search logic is here: the index builder builds, the runtime searches, and this program turns
//! arguments into calls and answers into text. Answers go to stdout, everything else to stderr.
//!
//! Exit codes: 0 an answer, 1 a failure, 2 wrong use (see [`exit`]).

mod amounts;
mod cli;
mod commands;
mod exit;
mod observe;
mod open;
mod prices;
mod render;
mod simulate;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli) => exit::code_of(cli.run()),
        Err(error) => exit::end_with(&error),
    }
}
