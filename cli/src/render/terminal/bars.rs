//! Horizontal bars.

use super::palette::Fill;
use super::{Colour, Screen};

/// The eighths of a block that follow the whole ones.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Returns a bar of `value` on a scale that ends at `max`, in `width` columns. Any value except zero is visible.
pub(in crate::render) fn bar(
    value: f64,
    max: f64,
    width: usize,
    colour: Colour,
    screen: &Screen,
) -> String {
    if max <= 0.0 || value <= 0.0 || !value.is_finite() || width == 0 {
        return String::new();
    }
    let eighths = ((value / max).min(1.0) * (width * 8) as f64).round() as usize;
    let eighths = eighths.max(1);
    let text = match screen.has_unicode {
        true => format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]),
        false => "#".repeat(eighths.div_ceil(8)),
    };
    screen.paint(colour, &text)
}

/// Returns a bar of several consecutive parts; every nonzero part gets at least one column, taken
/// from the largest part.
pub(in crate::render) fn stacked_bar(
    parts: &[(u64, Fill)],
    max: u64,
    width: usize,
    screen: &Screen,
) -> String {
    let columns = columns_of(
        &parts.iter().map(|(value, _)| *value).collect::<Vec<_>>(),
        max,
        width,
    );
    parts
        .iter()
        .zip(columns)
        .map(|((_, fill), columns)| {
            screen.paint(fill.colour, &fill.character.to_string().repeat(columns))
        })
        .collect()
}

fn columns_of(values: &[u64], max: u64, width: usize) -> Vec<usize> {
    let total: u64 = values.iter().sum();
    if max == 0 || total == 0 {
        return vec![0; values.len()];
    }
    let scaled = |value: u64| value as f64 / max as f64 * width as f64;
    let available = (scaled(total).round() as usize).clamp(1, width);
    let mut columns: Vec<usize> = values
        .iter()
        .map(|value| match value {
            0 => 0,
            _ => (scaled(*value) as usize).max(1),
        })
        .collect();
    let largest = (0..values.len())
        .max_by_key(|ord| values[*ord])
        .unwrap_or(0);
    let sum: usize = columns.iter().sum();
    let rest = sum - columns[largest];
    columns[largest] = available.saturating_sub(rest).max(1);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_scale() {
        let check = |value: f64, has_unicode: bool, expect: &str| {
            let screen = Screen::plain(80, has_unicode);
            assert_eq!(bar(value, 100.0, 10, Colour::Green, &screen), expect);
        };
        check(100.0, true, "██████████");
        check(50.0, true, "█████");
        check(55.0, true, "█████▌");
        check(0.0, true, "");
        check(0.001, true, "▏");
        check(500.0, true, "██████████");
        check(f64::NAN, true, "");
        check(55.0, false, "######");
        check(0.001, false, "#");
    }

    #[test]
    fn every_part_shows_and_the_sum_fits() {
        let check = |values: &[u64], max: u64, expect: &[usize]| {
            assert_eq!(columns_of(values, max, 20), expect, "{values:?} of {max}");
        };
        check(&[960, 38, 2], 1000, &[18, 1, 1]);
        check(&[480, 19, 1], 1000, &[8, 1, 1]);
        check(&[1000, 0, 0], 1000, &[20, 0, 0]);
        check(&[0, 0, 0], 1000, &[0, 0, 0]);
        check(&[1, 1, 1], 1000, &[1, 1, 1]);
        check(&[500, 500], 1000, &[10, 10]);
        check(&[5], 0, &[0]);
    }

    #[test]
    fn parts_differ_without_colours() {
        let screen = Screen::plain(80, false);
        let fills = super::super::palette::fills_of(&["INFO".into(), "WARN".into()], &screen);
        let parts = [(8, fills[0]), (2, fills[1])];
        assert_eq!(stacked_bar(&parts, 10, 10, &screen), "########++");
    }
}
