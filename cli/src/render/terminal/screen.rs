//! Capabilities of the output: its width, colours and characters.

use std::env;
use std::io::{self, IsTerminal};

use clap::ValueEnum;

/// Number of columns if the width is unknown.
const DEFAULT_WIDTH: usize = 100;
const MIN_WIDTH: usize = 40;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Even into a file.
    Always,
    /// Nowhere.
    Never,
}

/// A colour or weight of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Colour::Bold => "1",
            Colour::Dim => "2",
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Blue => "34",
            Colour::Magenta => "35",
            Colour::Cyan => "36",
        }
    }
}

/// Destination of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Number of columns of a line.
    pub(crate) width: usize,
    /// True if escape sequences for colours are supported.
    pub(crate) has_colour: bool,
    /// True if block characters and the like are supported; plain ASCII otherwise.
    pub(crate) has_unicode: bool,
    /// True if the output is a terminal.
    pub(crate) is_terminal: bool,
}

impl Screen {
    /// Describes stdout.
    pub(crate) fn of_stdout(choice: ColourChoice) -> Screen {
        let is_terminal = io::stdout().is_terminal();
        let columns = match is_terminal {
            true => console::Term::stdout()
                .size_checked()
                .map(|(_, columns)| usize::from(columns)),
            false => env::var("COLUMNS").ok().and_then(|text| text.parse().ok()),
        };
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Screen {
            width: columns.unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH),
            has_colour: match choice {
                ColourChoice::Always => true,
                ColourChoice::Never => false,
                ColourChoice::Auto => is_terminal && !is_set("NO_COLOR") && !is_dumb,
            },
            has_unicode: speaks_utf8(|name| env::var(name).ok()),
            is_terminal,
        }
    }

    /// Returns `text` in a colour, if there are colours.
    pub(crate) fn paint(&self, colour: Colour, text: &str) -> String {
        match self.has_colour && !text.is_empty() {
            true => format!("\x1b[{}m{text}\x1b[0m", colour.code()),
            false => text.to_owned(),
        }
    }

    /// Returns `fancy` where it can be shown, `plain` elsewhere.
    pub(crate) fn either<T>(&self, fancy: T, plain: T) -> T {
        match self.has_unicode {
            true => fancy,
            false => plain,
        }
    }
}

/// Returns whether the locale uses UTF-8. As in the C library, the first of the three variables that is set counts.
fn speaks_utf8(var: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| var(name).filter(|value| !value.is_empty()));
    match locale {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        // A missing locale indicates a service or a container; Windows has none, and supports everything.
        None => cfg!(windows),
    }
}

#[cfg(test)]
impl Screen {
    /// Returns a screen without colours, for tests.
    pub(crate) fn plain(width: usize, has_unicode: bool) -> Screen {
        Screen {
            width,
            has_colour: false,
            has_unicode,
            is_terminal: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_decides_about_unicode() {
        let check = |vars: &[(&str, &str)], expect: bool| {
            let var = |name: &str| {
                let found = vars.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(speaks_utf8(var), expect, "{vars:?}");
        };
        check(&[("LANG", "de_DE.UTF-8")], true);
        check(&[("LANG", "C.utf8")], true);
        check(&[("LANG", "C")], false);
        check(&[("LC_ALL", "POSIX"), ("LANG", "en_US.UTF-8")], false);
        check(&[("LC_ALL", ""), ("LANG", "en_US.UTF-8")], true);
    }

    #[test]
    fn colours_show_only_where_they_can() {
        let mut screen = Screen::plain(80, true);
        assert_eq!(screen.paint(Colour::Red, "x"), "x");
        screen.has_colour = true;
        assert_eq!(screen.paint(Colour::Red, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(screen.paint(Colour::Red, ""), "");
    }
}
