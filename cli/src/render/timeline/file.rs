//! The file that a timeline is written to.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};

use super::chart::Chart;
use super::svg;

/// A file for a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineFile(PathBuf);

impl FromStr for TimelineFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::new(Path::new(text))
    }
}

impl TimelineFile {
    /// Accepts a name that ends in `.svg`.
    ///
    /// # Errors
    /// The name ends otherwise.
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        let extension = path.extension().unwrap_or_default();
        match extension.eq_ignore_ascii_case("svg") {
            true => Ok(Self(path.to_owned())),
            false => Err("a timeline is written as a picture: end the name in .svg".to_owned()),
        }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes charts, one below the other and on the same scale, and replaces the file.
    pub(crate) fn write(&self, title: &str, charts: &[Chart]) -> Result<()> {
        svg::picture(title, charts)
            .and_then(|text| fs::write(&self.0, text))
            .with_context(|| format!("cannot write the timeline `{}`", self.0.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_is_an_svg() {
        for (name, is_right) in [
            ("t.svg", true),
            ("a.b/t.SVG", true),
            ("t.html", false),
            ("svg", false),
            (".svg", false),
            ("", false),
        ] {
            assert_eq!(name.parse::<TimelineFile>().is_ok(), is_right, "{name}");
        }
    }
}
