//! The report of an examination: a line for each check, then what to change.

use canter_runtime::doctor::{Check, CheckStatus, Report};

use super::{Align, Cell, Colour, Column, Screen, Table, numbers};

/// Formats a report for people. `is_fit_for_writing` is `None` if it was not examined.
pub(crate) fn doctor(report: &Report, is_fit_for_writing: Option<bool>, screen: &Screen) -> String {
    let title = match report.object_len {
        Some(len) => format!("{}, {}", report.url, numbers::bytes(len)),
        None => report.url.clone(),
    };
    let title = Cell::new(title).into_text();
    let mut text = format!("{}\n\n", screen.paint(Colour::Bold, &title));
    let columns = [Align::Whole, Align::Whole, Align::Left];
    let mut table = Table::new(columns.map(|align| Column::new("", align)).into());
    for check in &report.checks {
        let (mark, colour) = mark_of(check.status, screen);
        let seen = match check.status {
            CheckStatus::Skipped => format!("not checked: {}", check.seen),
            _ => check.seen.clone(),
        };
        table.push(vec![
            Cell::new(mark).in_colour(Some(colour)),
            Cell::new(check.name),
            Cell::new(seen)
                .in_colour((check.status == CheckStatus::Skipped).then_some(Colour::Dim)),
        ]);
    }
    text.push_str(&table.text(screen, ""));
    let ailments = ailments_of(report);
    if !ailments.is_empty() {
        let title = screen.paint(Colour::Bold, "What to change");
        text.push_str(&format!("\n{title}\n"));
    }
    for ailment in &ailments {
        push_change(&mut text, ailment, screen);
    }
    text.push_str(&format!("\n{}\n", verdict(report, screen)));
    let writing = match is_fit_for_writing {
        None => "Writing was not examined.".to_owned(),
        Some(true) => screen.paint(Colour::Green, "Fit to write to."),
        Some(false) => screen.paint(Colour::Red, "Not fit to write to."),
    };
    text.push_str(&format!("{writing}\n"));
    text
}

/// Checks that one change fixes, the first of them with its observation.
struct Ailment<'a> {
    first: &'a Check,
    names: String,
}

fn ailments_of(report: &Report) -> Vec<Ailment<'_>> {
    let mut ailments: Vec<Ailment<'_>> = Vec::new();
    for check in report.checks.iter().filter(|check| check.change.is_some()) {
        let same = ailments.iter_mut().find(|ailment| {
            ailment.first.change == check.change && ailment.first.status == check.status
        });
        match same {
            Some(ailment) => ailment.names.push_str(&format!(", {}", check.name)),
            None => ailments.push(Ailment {
                first: check,
                names: check.name.to_owned(),
            }),
        }
    }
    ailments
}

fn mark_of(status: CheckStatus, screen: &Screen) -> (&'static str, Colour) {
    match status {
        CheckStatus::Ok => (screen.either("✓", "ok"), Colour::Green),
        CheckStatus::Warning => ("!", Colour::Yellow),
        CheckStatus::Failed => (screen.either("✗", "x"), Colour::Red),
        CheckStatus::Skipped => ("-", Colour::Dim),
    }
}

fn push_change(text: &mut String, ailment: &Ailment<'_>, screen: &Screen) {
    let check = ailment.first;
    let (mark, colour) = mark_of(check.status, screen);
    let mark = screen.paint(colour, mark);
    let seen = format!("{}: {}", ailment.names, check.seen);
    let lines = wrapped(&seen, screen.width.saturating_sub(2));
    for (ord, line) in lines.iter().enumerate() {
        let indent = if ord == 0 {
            format!("{mark} ")
        } else {
            "  ".to_owned()
        };
        text.push_str(&format!("{indent}{line}\n"));
    }
    for line in wrapped(
        check.change.as_deref().unwrap_or_default(),
        screen.width.saturating_sub(4),
    ) {
        text.push_str(&format!("    {line}\n"));
    }
    for line in check.example.iter().flat_map(|example| example.lines()) {
        let line = format!("        {}", Cell::new(line).into_text());
        text.push_str(&format!("{}\n", screen.paint(Colour::Cyan, &line)));
    }
}

/// Breaks a text into lines of at most `width` columns, at spaces if possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let text = Cell::new(text).into_text();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let columns = console::measure_text_width(word) + 1;
        match lines.last_mut() {
            Some(line) if console::measure_text_width(line) + columns <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn verdict(report: &Report, screen: &Screen) -> String {
    let count = |status| {
        // Checks of writing have a separate verdict.
        let checks = report.checks.iter();
        let checks = checks.filter(|check| !check.name.starts_with("writ"));
        checks.filter(|check| check.status == status).count() as u64
    };
    let (num_failed, num_warnings) = (count(CheckStatus::Failed), count(CheckStatus::Warning));
    let cost = format!(
        "{}, {} read",
        numbers::counted(report.num_requests as u64, "request"),
        numbers::bytes(report.num_bytes)
    );
    let warnings = numbers::counted(num_warnings, "warning");
    let verdict = match (num_failed, num_warnings) {
        (0, 0) => screen.paint(Colour::Green, "Fit to search from."),
        (0, _) => format!(
            "{} {warnings}.",
            screen.paint(Colour::Green, "Fit to search from.")
        ),
        _ => format!(
            "{} {} failed, {warnings}.",
            screen.paint(Colour::Red, "Not fit to search from."),
            numbers::counted(num_failed, "check")
        ),
    };
    format!("{verdict} {cost}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_between_words() {
        let check = |text: &str, width: usize, expect: &[&str]| {
            assert_eq!(wrapped(text, width), expect, "{text:?}");
        };
        check("", 10, &[]);
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 8, &["one two", "three"]);
        check(
            "one twelve-and-more three",
            8,
            &["one", "twelve-and-more", "three"],
        );
        check("a\nb\u{1b}[2J", 20, &["a b\u{fffd}[2J"]);
    }
}
