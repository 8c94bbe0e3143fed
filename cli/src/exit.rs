//! Exit codes: converts a command's result, and prints its error on stderr.
//!
//! All output to stderr goes through this module, so that credentials in URLs are removed ([`redact_urls`]).

use std::error::Error as StdError;
use std::fmt;
use std::io::{self, Write};

use anyhow::Result;
use canter_doc_mapper::ConfigError;
use canter_index_builder::BuildError;
use canter_runtime::observe::redact_urls;
use canter_runtime::{ErrorKind, SearchError};

const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;
const WRONG_USE: u8 = 2;

/// A request that cannot be met: the message says what to change.
#[derive(Debug)]
pub(crate) struct WrongUse(pub(crate) String);

impl fmt::Display for WrongUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for WrongUse {}

/// Prints the error, if there is one, and returns the exit code.
pub(crate) fn code_of(result: Result<()>) -> u8 {
    let Err(error) = result else {
        return SUCCESS;
    };
    // The reader of the answer has seen enough, as in `canter … | head`.
    if is_broken_pipe(&error) {
        return SUCCESS;
    }
    print(format_args!("error: {}", message_of(&error)));
    match is_wrong_use(&error) {
        true => WRONG_USE,
        false => FAILURE,
    }
}

/// Prints a warning on stderr.
pub(crate) fn warn(message: impl fmt::Display) {
    print(format_args!("warning: {message}"));
}

/// Prints a line on stderr.
pub(crate) fn note(message: impl fmt::Display) {
    print(message);
}

fn print(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", redact_urls(&message.to_string()));
}

/// Prints the error of an invalid command line, or the requested help, and ends the process.
pub(crate) fn end_with(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    let shown = redact_urls(&text);
    if !error.use_stderr() || shown == text {
        error.exit();
    }
    // The message quotes the arguments, which may contain a secret.
    let _ = write!(io::stderr(), "{shown}");
    std::process::exit(i32::from(WRONG_USE))
}

/// Returns the error and its causes, without repeated texts.
fn message_of(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if message.is_empty() {
            message = text;
        } else if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
    }
    message
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn is_wrong_use(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<WrongUse>()
            || cause.is::<ConfigError>()
            || cause
                .downcast_ref::<SearchError>()
                .is_some_and(|error| matches!(error.kind, ErrorKind::Invalid | ErrorKind::NotFound))
            || cause
                .downcast_ref::<BuildError>()
                .is_some_and(|error| error.kind() == canter_index_builder::ErrorKind::Invalid)
            || is_wrong_server(cause)
    })
}

/// Returns whether a server cannot start for a reason that other arguments would fix.
#[cfg(feature = "serve")]
fn is_wrong_server(cause: &(dyn StdError + 'static)) -> bool {
    let error = cause.downcast_ref::<canter_server::ServerError>();
    error.is_some_and(canter_server::ServerError::is_invalid)
}

#[cfg(not(feature = "serve"))]
fn is_wrong_server(_: &(dyn StdError + 'static)) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_says_each_thing_once() {
        let error = anyhow::anyhow!("no such file").context("cannot read `a`: no such file");
        assert_eq!(message_of(&error), "cannot read `a`: no such file");
        let error = anyhow::anyhow!("no such file").context("cannot read `a`");
        assert_eq!(message_of(&error), "cannot read `a`: no such file");
    }

    #[test]
    fn what_the_caller_can_correct_is_wrong_use() {
        let check = |error: anyhow::Error, expect: bool| {
            assert_eq!(is_wrong_use(&error), expect, "{error:#}");
        };
        check(SearchError::invalid("query").into(), true);
        check(SearchError::new(ErrorKind::NotFound, "index").into(), true);
        check(SearchError::unavailable("store").into(), false);
        check(anyhow::anyhow!("disk full"), false);
        check(WrongUse("no".into()).into(), true);
        let wrapped: Result<()> = Err(SearchError::invalid("query").into());
        check(wrapped.context("searching").unwrap_err(), true);
    }
}
