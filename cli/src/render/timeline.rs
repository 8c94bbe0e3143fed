//! The requests of a search over time: one bar per request, wave by wave.

use canter_runtime::Profile;

use super::numbers;
use super::{Align, Cell, Colour, Column, Screen, Table};

/// Requests shown at most; the rest are counted.
const MAX_ROWS: usize = 40;
const MAX_BAR_WIDTH: usize = 40;
const MIN_BAR_WIDTH: usize = 10;
/// Columns that everything but the bar takes.
const LABELS_WIDTH: usize = 60;

/// A chart of all requests, with a row per request. Empty if there was none.
pub(crate) fn timeline(profile: &Profile, screen: &Screen, indent: &str) -> String {
    let requests = || profile.waves.iter().flat_map(|wave| &wave.requests);
    let Some(end_us) = requests().map(|request| request.end_us).max() else {
        return String::new();
    };
    let width = screen
        .width
        .saturating_sub(LABELS_WIDTH + indent.len())
        .clamp(MIN_BAR_WIDTH, MAX_BAR_WIDTH);
    let mut table = Table::new(vec![
        Column::new("wave", Align::Right),
        Column::new("object", Align::Left),
        Column::new("holds", Align::Left),
        Column::new("bytes", Align::Right),
        Column::new(format!("0 to {}", numbers::micros(end_us)), Align::Whole),
        Column::new("took", Align::Right),
    ]);
    let mut num_rows = 0;
    for (wave_ord, wave) in profile.waves.iter().enumerate() {
        for (request_ord, request) in wave.requests.iter().enumerate() {
            num_rows += 1;
            if num_rows > MAX_ROWS {
                continue;
            }
            let is_first = request_ord == 0;
            let colour = match request.error {
                Some(_) => Colour::Red,
                None => COLOURS[wave_ord % COLOURS.len()],
            };
            let outcome = match &request.error {
                Some(_) => "failed".to_owned(),
                None => numbers::bytes(request.length),
            };
            let took = request.end_us.saturating_sub(request.start_us);
            table.push(vec![
                Cell::new(if is_first {
                    (wave_ord + 1).to_string()
                } else {
                    String::new()
                })
                .in_colour(Some(Colour::Bold)),
                Cell::new(short_name(&request.object)),
                Cell::new(request.class.as_str().replace('_', " ")),
                Cell::new(outcome),
                Cell::painted(span(
                    request.start_us,
                    request.end_us,
                    end_us,
                    width,
                    colour,
                    screen,
                )),
                Cell::new(numbers::micros(took)),
            ]);
        }
    }
    let mut text = table.text(screen, indent);
    if num_rows > MAX_ROWS {
        text.push_str(&format!(
            "{indent}and {} more requests\n",
            numbers::count((num_rows - MAX_ROWS) as u64)
        ));
    }
    text
}

/// Waves alternate, so that the eye finds where one ends.
const COLOURS: [Colour; 3] = [Colour::Cyan, Colour::Magenta, Colour::Blue];

/// A bar from `start` to `end` on a scale that ends at `total`.
fn span(start: u64, end: u64, total: u64, width: usize, colour: Colour, screen: &Screen) -> String {
    let column = |time: u64| {
        let column = time as f64 / total.max(1) as f64 * width as f64;
        (column as usize).min(width)
    };
    let first = column(start).min(width - 1);
    let last = column(end).max(first + 1);
    let (idle, busy) = screen.either(("·", "█"), (".", "#"));
    format!(
        "{}{}{}",
        screen.paint(Colour::Dim, &idle.repeat(first)),
        screen.paint(colour, &busy.repeat(last - first)),
        screen.paint(Colour::Dim, &idle.repeat(width - last)),
    )
}

/// A split by the first digits of its id, which are enough to tell it from its neighbours.
pub(super) fn short_name(object: &str) -> String {
    match object
        .strip_prefix("splits/")
        .and_then(|name| name.strip_suffix(".split"))
    {
        Some(id) => format!("split {}", id.chars().take(8).collect::<String>()),
        None => object.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_stand_where_they_were() {
        let check = |start: u64, end: u64, expect: &str| {
            let screen = Screen::plain(80, false);
            assert_eq!(span(start, end, 100, 10, Colour::Cyan, &screen), expect);
        };
        check(0, 100, "##########");
        check(0, 0, "#.........");
        check(50, 70, ".....##...");
        check(100, 100, ".........#");
        check(99, 100, ".........#");
    }

    #[test]
    fn a_search_without_requests_has_no_timeline() {
        assert_eq!(
            timeline(&Profile::default(), &Screen::plain(80, true), ""),
            ""
        );
    }

    #[test]
    fn splits_are_named_by_the_start_of_their_id() {
        assert_eq!(
            short_name("splits/0123456789abcdef.split"),
            "split 01234567"
        );
        assert_eq!(short_name("manifest.canter"), "manifest.canter");
    }
}
