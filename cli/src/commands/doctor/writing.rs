//! Checks of `--write`: whether a store keeps concurrent builders from overwriting each other.

use anyhow::Result;
use canter_index_builder::{BuildError, Condition, IndexStore, WriteProbe};
use canter_runtime::doctor::{Check, CheckStatus};

use crate::exit::WrongUse;

/// Result of the checks.
pub(super) struct Writing {
    /// Rows of the report.
    pub(super) checks: Vec<Check>,
    /// True if builders may write there; `None` if it was not examined.
    pub(super) is_fit: Option<bool>,
}

/// Examines writing to the index at `uri`, if requested.
pub(super) fn examine(uri: &str, is_wanted: bool) -> Result<Writing> {
    let is_web = uri.starts_with("http://") || uri.starts_with("https://");
    match (is_wanted, is_web) {
        (true, true) => Err(WrongUse(format!(
            "`{uri}` can be read but not written: give the bucket as s3://, gs:// or az:// to --write"
        ))
        .into()),
        (false, true) => Ok(skipped("a web address can only be read")),
        (false, false) => Ok(skipped("give --write, which writes a small object")),
        (true, false) => {
            let probed = IndexStore::open(uri).and_then(|store| store.probe_writes());
            Ok(match probed {
                Ok(found) => rows_of(&found),
                Err(error) => failed(&error),
            })
        }
    }
}

fn check(
    name: &'static str,
    status: CheckStatus,
    seen: impl Into<String>,
    change: Option<&str>,
) -> Check {
    Check {
        name,
        status,
        seen: seen.into(),
        change: change.map(str::to_owned),
        example: None,
    }
}

fn skipped(why: &str) -> Writing {
    Writing {
        checks: vec![check("writing", CheckStatus::Skipped, why, None)],
        is_fit: None,
    }
}

fn failed(error: &BuildError) -> Writing {
    let change = "let builders write objects; this was tried below write-probe/";
    let seen = with_causes(error);
    Writing {
        checks: vec![check("writing", CheckStatus::Failed, seen, Some(change))],
        is_fit: Some(false),
    }
}

fn rows_of(found: &WriteProbe) -> Writing {
    let cleanup = match &found.left_behind {
        None => check(
            "write_cleanup",
            CheckStatus::Ok,
            "the object was deleted",
            None,
        ),
        Some(why) => check(
            "write_cleanup",
            CheckStatus::Warning,
            why,
            Some(
                "let builders delete objects below write-probe/, where making an index writes one, or have \
                 a rule of the bucket remove them",
            ),
        ),
    };
    Writing {
        checks: vec![
            check(
                "writing",
                CheckStatus::Ok,
                "an object was written below write-probe/",
                None,
            ),
            condition("write_if_none_match", "If-None-Match", found.if_none_match),
            condition("write_if_match", "If-Match", found.if_match),
            cleanup,
        ],
        is_fit: Some(found.is_fit()),
    }
}

fn condition(name: &'static str, header: &str, found: Condition) -> Check {
    const CHANGE: &str = "build in a store that keeps to If-None-Match and If-Match on writes, where \
        two builders at once lose nothing; or let one builder write at a time, with \
        --unsafe-single-writer";
    match found {
        Condition::Kept => check(
            name,
            CheckStatus::Ok,
            "a write whose condition does not hold is refused",
            None,
        ),
        Condition::Ignored => check(
            name,
            CheckStatus::Failed,
            format!("{header} is ignored: a write is done although its condition does not hold"),
            Some(CHANGE),
        ),
        Condition::Unsupported => check(
            name,
            CheckStatus::Failed,
            format!("every write with {header} is refused"),
            Some(CHANGE),
        ),
    }
}

fn with_causes(error: &BuildError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
