//! Finding inputs: patterns → sources, and the inputs that were left out, with the reasons.

use super::bucket::list_bucket;
use super::folder::list_folder;
use super::path_date::period_of;
use super::path_fields::fields_of;
use super::pattern::Pattern;
use crate::error::BuildError;
use crate::input::source::{ObjectPlace, Source};
use canter_split_format::SourceId;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Options for finding inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindOptions {
    /// Maximum number of inputs (100,000): a pattern may match more than was meant.
    pub max_inputs: usize,
    /// Leaves out inputs from before this time, in seconds since 1970. The date or hour in a path counts if there
    /// is one; otherwise the last modification.
    pub since_s: Option<i64>,
    /// Leaves out inputs from this time and later.
    pub until_s: Option<i64>,
    /// Turns the keys in paths (`region=eu-west-1`) into fields of their documents, where the index has them.
    pub path_fields: bool,
    /// Maximum number of inputs per pattern; takes the first ones.
    pub first: Option<usize>,
    /// Takes only part `.0` of `.1` of the matches, divided by name: other objects that are added or removed do not
    /// move inputs between parts.
    pub part: Option<(usize, usize)>,
    /// The index, which is never its own input.
    pub index_uri: Option<String>,
    /// True to follow links in folders that lead out of the named folder.
    pub follow_links: bool,
}

impl Default for FindOptions {
    fn default() -> FindOptions {
        FindOptions {
            max_inputs: 100_000,
            since_s: None,
            until_s: None,
            path_fields: false,
            first: None,
            part: None,
            index_uri: None,
            follow_links: false,
        }
    }
}

/// The inputs that were found.
#[derive(Debug, Default)]
pub struct FoundInputs {
    /// In the order of the patterns; the matches of one pattern by name.
    pub sources: Vec<Source>,
    /// Counts of the inputs that were left out.
    pub left_out: LeftOut,
    /// Names of the first pipes, sockets and devices that were left out.
    pub special: Vec<String>,
}

/// Numbers of inputs that were left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Files, folders and objects whose names begin with a dot.
    pub num_hidden: u64,
    /// Empty inputs.
    pub num_empty: u64,
    /// Inputs from before [`FindOptions::since_s`].
    pub num_too_old: u64,
    /// Inputs from [`FindOptions::until_s`] and later.
    pub num_too_new: u64,
    /// Objects of the index itself.
    pub num_of_index: u64,
    /// Links out of the named folder, without [`FindOptions::follow_links`].
    pub num_links_outside: u64,
    /// Broken or circular links.
    pub num_dead_links: u64,
    /// Links to a file that was also found under another name.
    pub num_repeated_links: u64,
    /// Pipes, sockets and devices in folders.
    pub num_special: u64,
}

impl LeftOut {
    /// Returns the total.
    #[must_use]
    pub fn num_all(&self) -> u64 {
        self.counts().iter().sum()
    }

    fn counts(&self) -> [u64; 9] {
        [
            self.num_hidden,
            self.num_empty,
            self.num_too_old,
            self.num_too_new,
            self.num_of_index,
            self.num_links_outside,
            self.num_dead_links,
            self.num_repeated_links,
            self.num_special,
        ]
    }

    /// Adds the counts of a folder.
    pub(super) fn add(&mut self, other: &LeftOut) {
        self.num_hidden += other.num_hidden;
        self.num_links_outside += other.num_links_outside;
        self.num_dead_links += other.num_dead_links;
        self.num_repeated_links += other.num_repeated_links;
        self.num_special += other.num_special;
    }
}

/// Finds the inputs that match paths, globs, folders (all files below), and `s3://`, `gs://` and `az://` URIs. A
/// bucket's settings and credentials come from the environment, as those of an index do. Reads no input. Blocks.
///
/// # Errors
/// `Invalid` for an invalid pattern or one without a match, `Limit` for too many inputs, `Unavailable` if a folder or
/// bucket cannot be listed.
pub fn find_inputs(inputs: &[PathBuf], options: &FindOptions) -> Result<FoundInputs, BuildError> {
    let mut found = FoundInputs::default();
    for input in inputs {
        let before = found.sources.len();
        let mut sink = Sink {
            options,
            found: &mut found,
            num_before: before,
            is_named: false,
            has_found: false,
        };
        match Pattern::parse(input)? {
            Pattern::Stdin => {
                sink.found.sources.push(Source::stdin());
                continue;
            }
            Pattern::File(path) => sink.take_file(path)?,
            Pattern::Folder(folder, glob) => {
                list_folder(&folder, glob.as_ref(), options.follow_links, &mut sink)?;
            }
            Pattern::Bucket(pattern) => list_bucket(&pattern, &mut sink)?,
        }
        if !sink.has_found {
            return Err(BuildError::invalid(format!(
                "nothing matches the input `{}`: in a pattern `*` stands for a part of a name and `**` for any \
                 folders; in a bucket all below a prefix is written with a slash at its end",
                input.display()
            )));
        }
    }
    Ok(found)
}

/// A possible input.
pub(super) struct Candidate {
    source: Source,
    /// Path that is examined for a date and for keys.
    path: String,
    len: u64,
    modified: Option<SystemTime>,
}

impl Candidate {
    pub(super) fn file(
        path: PathBuf,
        name: String,
        len: u64,
        modified: Option<SystemTime>,
    ) -> Candidate {
        Candidate {
            source: Source::file(path),
            path: name,
            len,
            modified,
        }
    }

    pub(super) fn object(place: ObjectPlace) -> Candidate {
        Candidate {
            path: place.key().to_string(),
            len: place.len(),
            modified: Some(place.modified()),
            source: Source::object(place),
        }
    }
}

/// Receives candidates, and applies the options.
pub(super) struct Sink<'a> {
    options: &'a FindOptions,
    found: &'a mut FoundInputs,
    /// Number of inputs of earlier patterns.
    num_before: usize,
    /// True if the input was named explicitly.
    is_named: bool,
    /// True if the pattern matched anything, even if it was left out.
    has_found: bool,
}

impl Sink<'_> {
    pub(super) fn left_out(&mut self) -> &mut LeftOut {
        self.has_found = true;
        &mut self.found.left_out
    }

    /// Records the names of special files.
    pub(super) fn name_special(&mut self, names: Vec<String>) {
        self.found.special.extend(names);
    }

    fn take_file(&mut self, path: PathBuf) -> Result<(), BuildError> {
        // A missing file is reported when it is opened.
        let modified = path.metadata().and_then(|meta| meta.modified()).ok();
        let name = path.display().to_string();
        self.take_named(Candidate::file(path, name, 1, modified))
    }

    /// Takes an explicitly named input, to which no rules for matches apply.
    pub(super) fn take_named(&mut self, candidate: Candidate) -> Result<(), BuildError> {
        self.is_named = true;
        self.take(candidate).map(|_| ())
    }

    /// Takes a candidate. Returns false if no more are wanted.
    pub(super) fn take(&mut self, candidate: Candidate) -> Result<bool, BuildError> {
        self.has_found = true;
        if !self.is_named && !self.is_of_part(&candidate.source) {
            return Ok(true);
        }
        if let Some(count) = self.reason_against(&candidate) {
            *count += 1;
            return Ok(true);
        }
        let max = self.options.max_inputs;
        if self.found.sources.len() >= max {
            return Err(BuildError::limit(format!(
                "more than {max} inputs (the next is `{}`): name a narrower pattern, leave out old ones with \
                 --since, or raise --max-inputs",
                candidate.source.name()
            )));
        }
        let source = match self.options.path_fields {
            true => {
                let fields = fields_of(&candidate.path);
                candidate.source.with_path_fields(fields)
            }
            false => candidate.source,
        };
        let source = match self.is_named {
            true => source,
            false => source.found(),
        };
        self.found.sources.push(source);
        let num_taken = self.found.sources.len() - self.num_before;
        Ok(self.options.first.is_none_or(|first| num_taken < first))
    }

    fn is_of_part(&self, source: &Source) -> bool {
        let Some((part, num_parts)) = self.options.part else {
            return true;
        };
        let number = SourceId::of(source.name().as_bytes(), &[]).to_u128();
        number % num_parts.max(1) as u128 == part as u128
    }

    /// Sorts the matches of this pattern by name.
    pub(super) fn sort(&mut self) {
        if let Some(new) = self.found.sources.get_mut(self.num_before..) {
            new.sort_by(|left, right| left.name().cmp(right.name()));
        }
    }

    /// Returns the counter of the reason for which a candidate is left out.
    fn reason_against(&mut self, candidate: &Candidate) -> Option<&mut u64> {
        let left_out = &mut self.found.left_out;
        if !self.is_named {
            if let Some(index) = &self.options.index_uri
                && is_below(&candidate.source, index)
            {
                return Some(&mut left_out.num_of_index);
            }
            if candidate.len == 0 {
                return Some(&mut left_out.num_empty);
            }
        }
        let (since, until) = (self.options.since_s, self.options.until_s);
        if since.is_none() && until.is_none() {
            return None;
        }
        let period = period_of(&candidate.path).or_else(|| {
            let since = candidate.modified?.duration_since(UNIX_EPOCH).ok()?;
            let at = i64::try_from(since.as_secs()).ok()?;
            Some(at..at + 1)
        })?;
        if since.is_some_and(|since| period.end <= since) {
            return Some(&mut left_out.num_too_old);
        }
        (until.is_some_and(|until| period.start >= until)).then_some(&mut left_out.num_too_new)
    }
}

/// Returns whether an input is part of the index at `uri`.
fn is_below(source: &Source, uri: &str) -> bool {
    let index = uri.trim_end_matches('/');
    if uri.contains("://") {
        let rest = source.name().strip_prefix(index);
        return rest.is_some_and(|rest| rest.starts_with('/'));
    }
    let index = Path::new(index).canonicalize();
    let file = source.path().and_then(|path| path.canonicalize().ok());
    match (index, file) {
        (Ok(index), Some(file)) => file.starts_with(index),
        _ => false,
    }
}
