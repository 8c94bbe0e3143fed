//! The binary `canter`. The library contains all of it, because the Python package uses it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    canter_cli::run(std::env::args_os()).into()
}
