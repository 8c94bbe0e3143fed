//! `canter doctor`: examines a store or web server, and recommends changes.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use canter_runtime::doctor::{DoctorOptions, Report, examine_bucket, examine_web};
use canter_runtime::fetch::{OpenOptions, RetryOptions, open_uri};
use canter_runtime::observe::redact_urls;
use canter_split_format::MANIFEST_OBJECT;
use clap::Args;
use serde_json::json;
use url::Url;

use super::writing;
use crate::args::{Format, FormatArg};
use crate::exit::WrongUse;
use crate::open::tokio_runtime;
use crate::render::{self, Screen};

/// Number of requests besides the timed ones.
const NUM_OTHER_REQUESTS: usize = 40;

const AFTER_HELP: &str = "\
The examination reads at most 16 MiB. It writes only with --write: a small object below
write-probe/, deleted afterwards, to check that concurrent builders are safe from one another. The
exit code is 0 if the store passes the examination, and 1 otherwise. --format json prints is_fit
(for searching), is_fit_for_writing (null if writing was not examined), and a stable name for each
check.

Examples:
  canter doctor https://example.org/logs --browser --origin https://my.site
  canter doctor s3://bucket/logs --format json
  canter doctor s3://bucket/logs --write";

/// Arguments of `canter doctor`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DoctorArgs {
    /// Index or file to examine: https://…, s3://…, gs://…, az://… or a folder.
    #[arg(value_name = "URL")]
    url: String,

    /// Number of small ranges to time.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    ranges: u16,

    /// Examine writing, too: writes a small object and deletes it.
    #[arg(long)]
    write: bool,

    /// Count everything that keeps browsers from reading the index as a failure.
    #[arg(long)]
    browser: bool,

    /// Origin of the site whose scripts read the index, for the CORS checks.
    #[arg(long, value_name = "ORIGIN", default_value = "https://canter.example")]
    origin: String,

    #[command(flatten)]
    format: FormatArg,
}

/// Examines the store, shows the report, and fails if Canter cannot use the store.
pub(crate) fn run(args: &DoctorArgs, screen: &Screen) -> Result<()> {
    let options = DoctorOptions {
        num_timed_ranges: usize::from(args.ranges),
        max_requests: NUM_OTHER_REQUESTS + usize::from(args.ranges),
        origin: origin_of(&args.origin)?,
        is_for_browsers: args.browser,
        mutable_object: Some(MANIFEST_OBJECT.to_owned()),
        ..DoctorOptions::default()
    };
    let mut report = match args.url.split_once("://") {
        Some(("http" | "https", _)) => {
            let urls = candidates(&args.url)?;
            tokio_runtime()?.block_on(examine_web(&urls, &options))?
        }
        _ => examine_store(&args.url, &options)?,
    };
    let unfit: Vec<&str> = report.failed().collect();
    let writing = writing::examine(index_and_object(&args.url).0, args.write)?;
    report.checks.extend(writing.checks);
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => {
            let mut value = json!({
                "is_fit": unfit.is_empty(),
                "is_fit_for_writing": writing.is_fit,
            });
            if let (Some(value), Some(report)) = (
                value.as_object_mut(),
                serde_json::to_value(&report)?.as_object(),
            ) {
                value.extend(report.clone());
            }
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        }
        Format::Table => {
            out.write_all(render::doctor(&report, writing.is_fit, screen).as_bytes())?
        }
    }
    out.flush()?;
    let failed = report.failed();
    let unfit_for_writing: Vec<&str> = failed.filter(|name| !unfit.contains(name)).collect();
    let verdicts: Vec<String> = [("search from", unfit), ("write to", unfit_for_writing)]
        .into_iter()
        .filter(|(_, failed)| !failed.is_empty())
        .map(|(what, failed)| format!("not fit to {what}: {}", failed.join(", ")))
        .collect();
    match verdicts.is_empty() {
        true => Ok(()),
        false => Err(anyhow!(verdicts.join("; "))),
    }
}

/// Parses a script's origin, as browsers write it.
fn origin_of(text: &str) -> Result<String> {
    let wrong = || {
        WrongUse(format!(
            "`{text}` is not an origin: write it as https://example.org"
        ))
    };
    let url = Url::parse(text).map_err(|_| wrong())?;
    match url.origin().is_tuple() {
        true => Ok(url.origin().ascii_serialization()),
        false => Err(wrong().into()),
    }
}

/// Returns possible URLs of the object to read: the address is either that of an index or of a file.
fn candidates(text: &str) -> Result<Vec<Url>> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| url.has_host())
        .ok_or_else(|| WrongUse(format!("`{text}` is not a web address")))?;
    let mut manifest = url.clone();
    if let Ok(mut segments) = manifest.path_segments_mut() {
        segments.pop_if_empty().push(MANIFEST_OBJECT);
    }
    Ok(match is_file(url.path()) {
        true => vec![url, manifest],
        false => vec![manifest, url],
    })
}

fn is_file(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| name.contains('.'))
}

/// Splits `uri` into an index and an object, which is the manifest unless `uri` names one.
fn index_and_object(uri: &str) -> (&str, &str) {
    match uri.rsplit_once('/') {
        Some((parent, name))
            if is_file(name) && !parent.ends_with('/') && !Path::new(uri).is_dir() =>
        {
            (parent, name)
        }
        _ => (uri, MANIFEST_OBJECT),
    }
}

/// Examines a bucket or folder through the fetcher of searches, without retries.
fn examine_store(uri: &str, options: &DoctorOptions) -> Result<Report> {
    let (index, object) = index_and_object(uri);
    let retry = RetryOptions {
        max_retries: 0,
        ..RetryOptions::default()
    };
    let fetcher = open_uri(
        index,
        &OpenOptions {
            retry,
            ..OpenOptions::default()
        },
    )?;
    let shown = redact_urls(&format!("{}/{object}", index.trim_end_matches('/')));
    let examination = examine_bucket(&*fetcher, object, &shown, options);
    Ok(tokio_runtime()?.block_on(examination))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_an_index_or_a_file() {
        let check = |text: &str, expect: [&str; 2]| {
            let urls: Vec<String> = candidates(text)
                .unwrap()
                .into_iter()
                .map(Into::into)
                .collect();
            assert_eq!(urls, expect);
        };
        check(
            "https://h/logs?sig=1",
            [
                "https://h/logs/manifest.canter?sig=1",
                "https://h/logs?sig=1",
            ],
        );
        check(
            "https://h/logs/",
            ["https://h/logs/manifest.canter", "https://h/logs/"],
        );
        check(
            "http://h/a.split",
            ["http://h/a.split", "http://h/a.split/manifest.canter"],
        );
        assert!(candidates("https://").is_err());
    }

    #[test]
    fn an_origin_is_scheme_and_host() {
        assert_eq!(
            origin_of("https://a.example/x").unwrap(),
            "https://a.example"
        );
        for wrong in ["a.example", "", "data:x"] {
            assert!(origin_of(wrong).is_err(), "{wrong}");
        }
    }
}
