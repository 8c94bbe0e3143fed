//! Finding inputs: what is asked for → sources, with what is left out and why.

use super::bucket::list_bucket;
use super::folder::list_folder;
use super::path_date::period_of;
use super::path_fields::fields_of;
use super::pattern::Pattern;
use crate::error::BuildError;
use crate::source::{ObjectPlace, Source};
use canter_split_format::SourceId;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How inputs are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindOptions {
    /// More than this is an error (100,000): a pattern may take more than was meant.
    pub max_inputs: usize,
    /// Seconds since 1970: what was before is left out. A path that says a day, or an hour, is judged by that; any
    /// other input by when it was last changed.
    pub since_s: Option<i64>,
    /// The same for what is not before.
    pub until_s: Option<i64>,
    /// Makes the keys of paths (`region=eu-west-1`) fields of their documents, where the index takes them.
    pub path_fields: bool,
    /// Only the first so many of each pattern.
    pub first: Option<usize>,
    /// Of what patterns find, the part `.0` of `.1`, by names: what comes or goes meanwhile moves nothing from one part to
    /// another.
    pub part: Option<(usize, usize)>,
    /// The index, which is never its own input.
    pub index_uri: Option<String>,
    /// Takes also what links in folders lead to outside of the folder that was named.
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
    /// In the order in which they were asked for; those of one pattern in the order of their names.
    pub sources: Vec<Source>,
    /// What was found and is not among them.
    pub left_out: LeftOut,
    /// The names of the first pipes, sockets and devices that were left out.
    pub special: Vec<String>,
}

/// How many inputs were found and left out, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Files, folders and objects whose names begin with a dot.
    pub num_hidden: u64,
    /// Those without a byte.
    pub num_empty: u64,
    /// Those of before [`FindOptions::since_s`].
    pub num_too_old: u64,
    /// Those of [`FindOptions::until_s`] and later.
    pub num_too_new: u64,
    /// Those that belong to the index.
    pub num_of_index: u64,
    /// Links to what is not below the folder that was named, without [`FindOptions::follow_links`].
    pub num_links_outside: u64,
    /// Links to nothing, or in a circle.
    pub num_dead_links: u64,
    /// Links to a file that was found by another name too.
    pub num_repeated_links: u64,
    /// Pipes, sockets and devices in folders.
    pub num_special: u64,
}

impl LeftOut {
    /// All of them.
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

    /// Adds what a folder leaves out by itself.
    pub(super) fn add(&mut self, other: &LeftOut) {
        self.num_hidden += other.num_hidden;
        self.num_links_outside += other.num_links_outside;
        self.num_dead_links += other.num_dead_links;
        self.num_repeated_links += other.num_repeated_links;
        self.num_special += other.num_special;
    }
}

/// Finds the inputs that paths, globs, folders (all files below), and `s3://`, `gs://` and `az://` name. A bucket's
/// settings and credentials come from the environment, as those of an index do. Reads no input. Blocks.
///
/// # Errors
/// `Invalid` for a pattern that cannot be read or that nothing matches, `Limit` for too many inputs, `Unavailable` if a
/// folder or bucket cannot be listed.
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

/// Something that may be an input.
pub(super) struct Candidate {
    source: Source,
    /// What is looked at for a date and for keys.
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

/// Takes what is found, as the options say.
pub(super) struct Sink<'a> {
    options: &'a FindOptions,
    found: &'a mut FoundInputs,
    /// Inputs of the patterns before.
    num_before: usize,
    /// Whether somebody named this very input.
    is_named: bool,
    /// Whether the pattern takes anything, be it left out or not.
    has_found: bool,
}

impl Sink<'_> {
    pub(super) fn left_out(&mut self) -> &mut LeftOut {
        self.has_found = true;
        &mut self.found.left_out
    }

    /// Takes note of the names of what is neither a file nor a link.
    pub(super) fn name_special(&mut self, names: Vec<String>) {
        self.found.special.extend(names);
    }

    fn take_file(&mut self, path: PathBuf) -> Result<(), BuildError> {
        // One that is not there is told when it is opened.
        let modified = path.metadata().and_then(|meta| meta.modified()).ok();
        let name = path.display().to_string();
        self.take_named(Candidate::file(path, name, 1, modified))
    }

    /// One that was named, which no rule for what is found leaves out.
    pub(super) fn take_named(&mut self, candidate: Candidate) -> Result<(), BuildError> {
        self.is_named = true;
        self.take(candidate).map(|_| ())
    }

    /// False if no more are wanted.
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

    /// Puts what this pattern has found into the order of names.
    pub(super) fn sort(&mut self) {
        if let Some(new) = self.found.sources.get_mut(self.num_before..) {
            new.sort_by(|left, right| left.name().cmp(right.name()));
        }
    }

    /// The count of those that are left out for the same reason.
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

/// Whether an input is a part of the index at `uri`.
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
