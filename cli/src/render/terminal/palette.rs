//! Colours and characters of keys.

use super::{Colour, Screen};

/// Colours for keys without a colour of their own, in order.
const COLOURS: [Colour; 6] = [
    Colour::Green,
    Colour::Yellow,
    Colour::Red,
    Colour::Blue,
    Colour::Magenta,
    Colour::Cyan,
];
const UNICODE_FILLS: [char; 4] = ['█', '▓', '▒', '░'];
const ASCII_FILLS: [char; 6] = ['#', '+', '=', 'o', '-', '.'];

/// Returns the colour of a log level, whatever its case.
pub(in crate::render) fn colour_of_level(text: &str) -> Option<Colour> {
    let level = match text.len() {
        3..=9 => text.to_ascii_lowercase(),
        _ => return None,
    };
    match level.as_str() {
        "error" | "err" | "fatal" | "critical" | "emergency" | "alert" => Some(Colour::Red),
        "warn" | "warning" => Some(Colour::Yellow),
        "info" | "notice" => Some(Colour::Green),
        "debug" => Some(Colour::Blue),
        "trace" => Some(Colour::Dim),
        _ => None,
    }
}

/// Style of one part of a stacked bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::render) struct Fill {
    pub(in crate::render) character: char,
    pub(in crate::render) colour: Colour,
}

/// Returns a fill for each key. With colours all bars are solid; without, characters distinguish them.
pub(in crate::render) fn fills_of(keys: &[String], screen: &Screen) -> Vec<Fill> {
    let are_levels = keys.iter().all(|key| colour_of_level(key).is_some());
    let fills = screen.either(&UNICODE_FILLS[..], &ASCII_FILLS[..]);
    (0..)
        .zip(keys)
        .map(|(ord, key): (usize, _)| Fill {
            character: match screen.has_colour {
                true => fills[0],
                false => fills[ord % fills.len()],
            },
            colour: colour_of_level(key)
                .filter(|_| are_levels)
                .unwrap_or(COLOURS[ord % COLOURS.len()]),
        })
        .collect()
}
