//! The program `canter`: builds, searches and inspects indexes.
//!
//! It contains no search logic: the index builder builds, the runtime searches, and this program turns arguments into
//! calls and answers into text. Answers go to stdout, everything else to stderr.
//!
//! Exit codes: 0 an answer, 1 a failure, 2 wrong use (see `exit.rs`).

mod args;
mod cli;
mod commands;
mod exit;
mod observe;
mod open;
mod prices;
mod render;
mod simulate;

use std::ffi::OsString;

use clap::Parser;

/// Runs the program with these arguments, its name first, and returns the exit code. Help and invalid arguments end
/// the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => exit::code_of(cli.run()),
        Err(error) => exit::end_with(&error),
    }
}
