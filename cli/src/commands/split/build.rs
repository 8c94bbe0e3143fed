//! `canter split build`: builds one part of a build that several machines share.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use canter_index_builder::{FindOptions, build_part, may_be_several, write_receipt};
use clap::Args;

use super::publish::{text_of_blank, text_of_dropped};
use crate::commands::index::ingest::{IngestArgs, open_index, options_of, with_ids};
use crate::exit::{WrongUse, note};
use crate::render::{IngestProgress, clean_text, numbers};

const AFTER_HELP: &str = "\
Each machine builds and uploads the splits of its part of the inputs and writes a receipt. `canter
split publish` takes all receipts and publishes everything at once; until then the index is
unchanged. A part that is built twice, because a machine failed or was slow, has the same splits
and counts once.

Give every machine the same inputs in the same order. A file @LIST names inputs, one per line.
The files and objects that a folder, a glob or a prefix of a bucket yields are divided by name, so
that objects that arrive meanwhile do not move others to another part.

Examples:
  canter split build --index s3://bucket/logs --input @inputs.txt --part 3/16 --receipt 3.json
  canter split build --index s3://bucket/logs --input s3://bucket/raw/ --part $JOB_COMPLETION_INDEX/16 \
      --receipt s3://bucket/receipts/$JOB_COMPLETION_INDEX.json
  canter split publish --index s3://bucket/logs *.json";

/// Arguments of `canter split build`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    ingest: IngestArgs,

    /// Part of the inputs to build: I of N, counted from 0. Part I takes the inputs I, I + N, I + 2 N, … of the list.
    /// Inputs that a folder, glob or prefix yields are divided among the parts by name.
    #[arg(long, value_name = "I/N", value_parser = parse_part, default_value = "0/1")]
    part: PartOrd,

    /// File or object for the receipt, such as s3://bucket/receipts/3.json [default: standard output].
    #[arg(long, value_name = "FILE|URI")]
    receipt: Option<PathBuf>,
}

/// One of N parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartOrd {
    index: usize,
    of: usize,
}

fn parse_part(text: &str) -> Result<PartOrd, String> {
    let part = text.split_once('/').and_then(|(index, of)| {
        let (index, of) = (index.parse().ok()?, of.parse().ok()?);
        (index < of).then_some(PartOrd { index, of })
    });
    part.ok_or_else(|| "write I/N with I from 0 to N - 1, such as 0/4".to_owned())
}

/// Builds and uploads, and writes the receipt.
pub(crate) fn run(args: &BuildArgs) -> Result<()> {
    let PartOrd { index, of } = args.part;
    let inputs = listed(&args.ingest.reading.input)?;
    if of > 1 && inputs.is_empty() {
        bail!(WrongUse(
            "--part needs inputs to divide: name them with --input, or in a file with --input @LIST".into()
        ));
    }
    if args.ingest.dry_run.is_some() {
        bail!(WrongUse(
            "--dry-run is not available for a part: use `canter index ingest --dry-run`".into()
        ));
    }
    if args.ingest.merge {
        bail!(WrongUse(
            "a part publishes nothing, so there is nothing to --merge: run `canter index merge` after \
             `canter split publish`"
                .into()
        ));
    }
    let inputs = match inputs.is_empty() {
        true => vec![PathBuf::from("-")],
        false => inputs,
    };
    let mut mine: Vec<PathBuf> = Vec::new();
    for (place, input) in inputs.into_iter().enumerate() {
        if place % of == index || may_be_several(&input)? {
            mine.push(input);
        }
    }
    let options = options_of(&args.ingest)?;
    let store = open_index(&args.ingest)?;
    let found = args.ingest.reading.find_these(
        &mine,
        FindOptions {
            part: Some((index, of)),
            index_uri: Some(args.ingest.index.clone()),
            ..FindOptions::default()
        },
    )?;
    let sources = with_ids(found.sources, &args.ingest)?;
    let num_mine = sources.len() as u64;
    let progress = IngestProgress::on_stderr(None);
    let receipt = build_part(&store, &options, sources, &progress);
    progress.finish();
    let receipt = receipt?;
    match &args.receipt {
        None => writeln!(io::stdout().lock(), "{}", receipt.to_json()?)?,
        Some(path) => match uri_of(path) {
            Some(uri) => write_receipt(uri, &receipt)?,
            None => write_whole(path, receipt.to_json()?.as_bytes())?,
        },
    }
    note(format_args!(
        "part {index} of {of}: {} became {} in {}; {} rejected{}{}",
        numbers::counted(num_mine, "input"),
        numbers::counted(receipt.num_docs(), "document"),
        numbers::counted(receipt.num_splits(), "split"),
        numbers::counted(receipt.num_rejected_docs, "line"),
        text_of_dropped(receipt.num_dropped_docs),
        text_of_blank(receipt.num_blank_lines),
    ));
    for warning in &receipt.warnings {
        note(format_args!("warning: {}", clean_text(warning)));
    }
    Ok(())
}

/// Returns the inputs, including those in lists.
fn listed(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for input in inputs {
        let Some(list) = input.to_str().and_then(|text| text.strip_prefix('@')) else {
            all.push(input.clone());
            continue;
        };
        let text = fs::read_to_string(list).map_err(|error| {
            WrongUse(format!("cannot read the list of inputs `{list}`: {error}"))
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        all.extend(lines.map(PathBuf::from));
    }
    Ok(all)
}

/// Returns the path, if it is a URI.
pub(super) fn uri_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains("://"))
}

/// Writes a file atomically, so that waiting readers never see a part of it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("incomplete");
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write the receipt `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{PartOrd, parse_part};

    #[test]
    fn parts_are_counted_from_zero() {
        assert_eq!(parse_part("0/1"), Ok(PartOrd { index: 0, of: 1 }));
        assert_eq!(parse_part("15/16"), Ok(PartOrd { index: 15, of: 16 }));
        for wrong in ["16/16", "1", "-1/2", "0/0", "a/b", "1/2/3"] {
            assert!(parse_part(wrong).is_err(), "{wrong}");
        }
    }
}
