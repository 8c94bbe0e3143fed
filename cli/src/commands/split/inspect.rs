//! `canter split inspect`: shows the head of a split, without its body.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use canter_runtime::SearchError;
use canter_runtime::fetch::{ByteRange, FetchErrorKind, OpenOptions, RangeFetcher, open_uri};
use canter_runtime::observe::redact_urls;
use canter_split_format::{HEAD_PREFIX_LEN, Head, SPECULATIVE_HEAD_LEN, head_len_of};
use clap::Args;

use crate::args::{Format, FormatArg};
use crate::exit::WrongUse;
use crate::open::tokio_runtime;
use crate::render::{InspectedSplit, Screen, numbers, split_json, split_table};

/// Maximum length of a head in bytes; a longer one is most likely damage.
const MAX_HEAD_LEN: u64 = 256 << 20;
/// Approximate number of bytes that are verified at a time.
const VERIFY_LEN: u64 = 4 << 20;

/// Arguments of `canter split inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Split to inspect: a file, or an object (s3://…, gs://…, az://… or https://…).
    #[arg(value_name = "PATH|URL")]
    split: String,

    /// Check every block of the body, too; for a file on this machine only.
    #[arg(long)]
    verify: bool,

    #[command(flatten)]
    format: FormatArg,
}

/// Inspects the split.
pub(crate) fn run(args: &InspectArgs, screen: &Screen) -> Result<()> {
    let is_file = !args.split.contains("://");
    if args.verify && !is_file {
        bail!(WrongUse(
            "--verify reads the whole split, so it takes a file: copy the object here first".into()
        ));
    }
    let mut split = tokio_runtime()?.block_on(read_head(&args.split))?;
    if args.verify {
        split.damaged_blocks = Some(verify(Path::new(&args.split), &split)?);
    }
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => writeln!(out, "{:#}", split_json(&split))?,
        Format::Table => out.write_all(split_table(&split, screen).as_bytes())?,
    }
    out.flush()?;
    match split.damaged_blocks.as_deref() {
        None | Some([]) => Ok(()),
        Some(damaged) => bail!(
            "`{}` is damaged in {}, the first of them number {}: get the split again or rebuild it",
            args.split,
            numbers::counted(damaged.len() as u64, "block"),
            damaged[0]
        ),
    }
}

async fn read_head(split: &str) -> Result<InspectedSplit> {
    let (folder, object) = folder_and_object(split)?;
    let fetcher = open_uri(&folder, &OpenOptions::default())?;
    let mut reader = HeadReader {
        fetcher: fetcher.as_ref(),
        object: &object,
        num_requests: 0,
        num_bytes: 0,
    };
    let bytes = reader.read().await?;
    let cannot = || format!("`{split}` cannot be read as a split");
    Ok(InspectedSplit {
        name: redact_urls(split),
        head: Head::open(&bytes).with_context(cannot)?,
        head_len: head_len_of(&bytes).with_context(cannot)?,
        num_requests: reader.num_requests,
        num_bytes_read: reader.num_bytes,
        damaged_blocks: None,
    })
}

struct HeadReader<'a> {
    fetcher: &'a dyn RangeFetcher,
    object: &'a str,
    num_requests: u64,
    num_bytes: u64,
}

impl HeadReader<'_> {
    /// Reads the head. One request suffices for most splits. The answer to a shorter split shows
    /// its length; for a longer head, the prefix contains the length.
    async fn read(&mut self) -> Result<Vec<u8>> {
        let mut bytes = match self.fetch(0, SPECULATIVE_HEAD_LEN).await? {
            Some(bytes) => bytes,
            None => self
                .fetch(0, HEAD_PREFIX_LEN as u64)
                .await?
                .with_context(|| format!("`{}` is too short to be a split", self.object))?,
        };
        let head_len = head_len_of(&bytes).with_context(|| format!("`{}`", self.object))?;
        if head_len > MAX_HEAD_LEN {
            bail!(
                "`{}` says that its head has {head_len} bytes, more than the {MAX_HEAD_LEN} that \
                 are read: it is damaged",
                self.object
            );
        }
        let known = bytes.len() as u64;
        if known < head_len {
            let rest = self.fetch(known, head_len - known).await?;
            bytes.extend(rest.with_context(|| {
                format!("`{}` is cut short: it ends within its head", self.object)
            })?);
        }
        Ok(bytes)
    }

    /// Fetches a range; `None` if the object ends before it.
    async fn fetch(&mut self, offset: u64, len: u64) -> Result<Option<Vec<u8>>> {
        self.num_requests += 1;
        match self
            .fetcher
            .fetch(self.object, ByteRange::new(offset, len))
            .await
        {
            Ok(fetched) => {
                self.num_bytes += fetched.bytes.len() as u64;
                Ok(Some(fetched.bytes.into()))
            }
            Err(error) if error.kind == FetchErrorKind::Truncated => Ok(None),
            Err(error) if error.kind == FetchErrorKind::NotFound => {
                Err(SearchError::invalid(format!("there is no split here: {error}")).into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the location to open and the object in it, the last part of the path. A query string,
/// such as a signature, stays with the location.
fn folder_and_object(split: &str) -> Result<(String, String)> {
    let (path, query) = match split.contains("://") {
        true => split
            .find('?')
            .map_or((split, ""), |start| split.split_at(start)),
        false => (split, ""),
    };
    let (folder, object) = path
        .rsplit_once(['/', std::path::MAIN_SEPARATOR])
        .unwrap_or((".", path));
    if object.is_empty() || folder.ends_with('/') {
        bail!(WrongUse(format!(
            "`{split}` names no split: give a file or an object, as in INDEX/splits/ID.split"
        )));
    }
    let folder = if folder.is_empty() { "/" } else { folder };
    Ok((format!("{folder}{query}"), object.to_owned()))
}

/// Reads the whole body and returns the numbers of the damaged blocks.
fn verify(path: &Path, split: &InspectedSplit) -> Result<Vec<u64>> {
    let shown = path.display();
    let cannot_read = || format!("cannot read `{shown}`");
    let checksums = &split.head.block_checksums;
    let mut file = File::open(path).with_context(cannot_read)?;
    let len = file.metadata().with_context(cannot_read)?.len();
    let expected = split.head_len + checksums.body_len();
    if len != expected {
        bail!(
            "`{shown}` is {len} bytes long and should be {expected}: it was cut short or something \
             was added; get the split again or rebuild it"
        );
    }
    file.seek(SeekFrom::Start(split.head_len))
        .with_context(cannot_read)?;
    let mut damaged = Vec::new();
    let blocks_at_once = (VERIFY_LEN / checksums.block_len()).max(1);
    let mut bytes = Vec::new();
    let mut first = 0;
    while first < checksums.num_blocks() {
        let next = (first + blocks_at_once).min(checksums.num_blocks());
        let range = checksums.bytes_of(first..next);
        bytes.clear();
        (&mut file)
            .take(range.end - range.start)
            .read_to_end(&mut bytes)
            .with_context(cannot_read)?;
        let blocks = bytes.chunks(usize::try_from(checksums.block_len())?);
        for (block_ord, block) in (first..next).zip(blocks) {
            if checksums.verify(block_ord, block).is_err() {
                damaged.push(block_ord);
            }
        }
        first = next;
    }
    Ok(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_an_object_in_a_folder() {
        let check = |split: &str, expect: Option<(&str, &str)>| {
            let found = folder_and_object(split).ok();
            let found = found
                .as_ref()
                .map(|(folder, object)| (&**folder, &**object));
            assert_eq!(found, expect, "{split}");
        };
        check("a.split", Some((".", "a.split")));
        check("/a.split", Some(("/", "a.split")));
        check("logs/splits/a.split", Some(("logs/splits", "a.split")));
        check("s3://bucket/a.split", Some(("s3://bucket", "a.split")));
        check(
            "https://host/x/a.split?sig=1/2",
            Some(("https://host/x?sig=1/2", "a.split")),
        );
        check("https://host", None);
        check("logs/", None);
    }
}
