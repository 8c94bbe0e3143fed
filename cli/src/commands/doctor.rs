//! `canter doctor`: examines a store or web server, and says what to change.

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

use crate::cli::{Format, FormatArg};
use crate::exit::WrongUse;
use crate::open::tokio_runtime;
use crate::render::{self, Screen};

/// Requests besides those that are timed.
const NUM_OTHER_REQUESTS: usize = 40;

const AFTER_HELP: &str = "\
Nothing is written, and at most 16 MiB are read. The exit code is 0 if Canter can search from there
and 1 if not; --format json prints is_fit, and each check by a stable name.

Examples:
  canter doctor https://example.org/logs --browser --origin https://my.site
  canter doctor s3://bucket/logs --format json";

/// Arguments of `canter doctor`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DoctorArgs {
    /// An index or a file: https://…, s3://…, gs://…, az://… or a folder.
    #[arg(value_name = "URL")]
    url: String,

    /// How many small ranges to time.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    ranges: u16,

    /// Browsers are to read the index: what keeps them out counts as a failure.
    #[arg(long)]
    browser: bool,

    /// The site whose scripts are to read the index, for the checks of CORS.
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
    let report = match args.url.split_once("://") {
        Some(("http" | "https", _)) => {
            let urls = candidates(&args.url)?;
            tokio_runtime()?.block_on(examine_web(&urls, &options))?
        }
        _ => examine_store(&args.url, &options)?,
    };
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => {
            let mut value = json!({"is_fit": report.is_fit()});
            if let (Some(value), Some(report)) = (
                value.as_object_mut(),
                serde_json::to_value(&report)?.as_object(),
            ) {
                value.extend(report.clone());
            }
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        }
        Format::Table => out.write_all(render::doctor(&report, screen).as_bytes())?,
    }
    out.flush()?;
    let failed: Vec<&str> = report.failed().collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(anyhow!("not fit to search from: {}", failed.join(", "))),
    }
}

/// A script's origin, as browsers write it.
fn origin_of(text: &str) -> Result<String> {
    let wrong = || {
        WrongUse(format!(
            "`{text}` is no origin: write it as https://example.org"
        ))
    };
    let url = Url::parse(text).map_err(|_| wrong())?;
    match url.origin().is_tuple() {
        true => Ok(url.origin().ascii_serialization()),
        false => Err(wrong().into()),
    }
}

/// Where the object to read may be: the address names an index or a file, and does not say which.
fn candidates(text: &str) -> Result<Vec<Url>> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| url.has_host())
        .ok_or_else(|| WrongUse(format!("`{text}` is no web address")))?;
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

/// A bucket or folder, through the fetcher that searches use, which here repeats nothing.
fn examine_store(uri: &str, options: &DoctorOptions) -> Result<Report> {
    let (index, object) = match uri.rsplit_once('/') {
        Some((parent, name))
            if is_file(name) && !parent.ends_with('/') && !Path::new(uri).is_dir() =>
        {
            (parent, name)
        }
        _ => (uri, MANIFEST_OBJECT),
    };
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
