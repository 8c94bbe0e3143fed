//! The file that a timeline is written to; its extension decides what it becomes.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};

use super::chart::Chart;
use super::{html, svg};

/// A file for a picture, or for a page with the picture and a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineFile {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Svg,
    Html,
}

impl FromStr for TimelineFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::new(Path::new(text))
    }
}

impl TimelineFile {
    /// An error if the extension is neither `svg` nor `html`.
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let kind = match extension.to_ascii_lowercase().as_str() {
            "svg" => Kind::Svg,
            "html" | "htm" => Kind::Html,
            _ => {
                return Err(
                    "a timeline is written as a picture or as a page: end the name in .svg or .html"
                        .to_owned(),
                );
            }
        };
        Ok(Self {
            path: path.to_owned(),
            kind,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes charts, one below the other and on the same scale, over what the file held.
    pub(crate) fn write(&self, title: &str, charts: &[Chart]) -> Result<()> {
        let text = match self.kind {
            Kind::Svg => svg::picture(title, charts),
            Kind::Html => html::page(title, charts),
        };
        text.and_then(|text| fs::write(&self.path, text))
            .with_context(|| format!("cannot write the timeline `{}`", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        let check = |name: &str, expect: Option<Kind>| {
            let parsed = name.parse::<TimelineFile>();
            assert_eq!(parsed.as_ref().ok().map(|file| file.kind), expect, "{name}");
            if let Err(message) = parsed {
                assert!(message.contains(".svg or .html"), "{message}");
            }
        };
        check("t.svg", Some(Kind::Svg));
        check("a.b/t.SVG", Some(Kind::Svg));
        check("t.html", Some(Kind::Html));
        check("t.htm", Some(Kind::Html));
        check("t.png", None);
        check("svg", None);
        check(".svg", None);
        check("", None);
    }
}
