//! The timeline in a terminal: a row per request, in chronological order.

use canter_lab::AttemptEnd;
use canter_runtime::RequestRecord;
use canter_runtime::session::ByteClass;

use super::super::{Align, Cell, Colour, Column, Screen, Table, numbers};
use super::chart::{Bar, Chart, Part, Row, What};
use super::scale::Scale;
use super::words::{class_name, outcome, short_name, shortest_name};

/// Maximum number of rows; the rest are counted.
const MAX_ROWS: usize = 80;
/// Width from which on object and class have columns of their own.
const WIDE: usize = 100;
const MIN_BAR_WIDTH: usize = 10;
const MAX_BAR_WIDTH: usize = 100;
/// Columns of everything except the bar: in the narrow form and in the wide one.
const LABELS_WIDTH: usize = 48;
const WIDE_LABELS_WIDTH: usize = 61;
/// Minimum distance between two labels of the axis.
const TICK_WIDTH: usize = 6;

/// Formats a chart with a row per request. Empty if there was no request.
pub(crate) fn timeline(chart: &Chart, screen: &Screen, indent: &str) -> String {
    if chart.waves.is_empty() {
        return String::new();
    }
    let form = Form::new(chart, screen, indent);
    let mut table = Table::new(form.columns());
    for row in chart.rows.iter().take(MAX_ROWS) {
        table.push(form.cells(row));
    }
    let mut text = table.text(screen, indent);
    match chart.num_requests_after(MAX_ROWS) {
        0 => {}
        num => text.push_str(&format!(
            "{indent}and {}\n",
            numbers::counted(num, "more request")
        )),
    }
    let legend = form.legend();
    if !legend.is_empty() {
        text.push_str(&format!("{indent}{legend}\n"));
    }
    text
}

/// Settings that all rows of a chart share.
struct Form<'a> {
    chart: &'a Chart,
    screen: &'a Screen,
    scale: Scale,
    is_wide: bool,
    bar_width: usize,
}

impl<'a> Form<'a> {
    fn new(chart: &'a Chart, screen: &'a Screen, indent: &str) -> Self {
        let available = screen.width.saturating_sub(indent.len());
        let is_wide = available >= WIDE;
        let labels_width = match is_wide {
            true => WIDE_LABELS_WIDTH,
            false => LABELS_WIDTH,
        };
        Self {
            chart,
            screen,
            scale: Scale::new(chart.scale_us),
            is_wide,
            bar_width: available
                .saturating_sub(labels_width)
                .clamp(MIN_BAR_WIDTH, MAX_BAR_WIDTH),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::new("wave", Align::Whole)];
        if self.is_wide {
            columns.push(Column::new("object", Align::Left));
        }
        columns.extend([
            Column::new(if self.is_wide { "holds" } else { "read" }, Align::Left),
            Column::new("bytes", Align::Right),
            Column::new(self.axis(), Align::Whole),
            Column::new("took", Align::Right),
        ]);
        columns
    }

    /// Returns a line of round moments above their columns.
    fn axis(&self) -> String {
        let mark = self.screen.either("╷", "'");
        let ticks = self.scale.ticks(self.bar_width / TICK_WIDTH);
        let mut axis = String::new();
        let mut column = 0;
        for tick in &ticks {
            let at = (tick.place * self.bar_width as f64) as usize;
            // Labels never overlap.
            if at > 0 && at <= column {
                continue;
            }
            let label = match at {
                0 => format!("{} {}", tick.number, self.scale.unit()),
                _ => format!("{mark}{}", tick.number),
            };
            let len = console::measure_text_width(&label);
            if at + len > self.bar_width {
                break;
            }
            axis.push_str(&" ".repeat(at - column));
            axis.push_str(&label);
            column = at + len;
        }
        axis
    }

    fn cells(&self, row: &Row) -> Vec<Cell> {
        let wave = row.wave_ord.filter(|_| row.begins_wave).and_then(|ord| {
            Some(format!(
                "{} {}",
                ord + 1,
                self.chart.waves.get(ord)?.phase.short_name()
            ))
        });
        let mut cells = vec![Cell::new(wave.unwrap_or_default()).in_colour(Some(Colour::Bold))];
        let (object, holds) = self.names(row);
        match self.is_wide {
            true => cells.extend([Cell::new(object), Cell::new(holds)]),
            false if object.is_empty() => cells.push(Cell::new(holds)),
            false => cells.push(Cell::new(format!("{object} {holds}"))),
        }
        cells.extend([
            Cell::new(outcome(&row.what).unwrap_or_default()),
            Cell::painted(self.bar(row)),
            Cell::new(numbers::micros(row.bar.took_us())),
        ]);
        cells
    }

    /// Returns the object and the class of its bytes.
    fn names(&self, row: &Row) -> (String, String) {
        match &row.what {
            What::Cpu => (String::new(), "cpu".to_owned()),
            What::Attempt(_, attempt) => (String::new(), format!("  {}", attempt.kind.name())),
            What::Request(request) => {
                let holds = class_name(request.class);
                match (self.is_wide, request.class) {
                    (true, _) => (short_name(&request.object), holds),
                    // There is only one.
                    (false, ByteClass::Manifest) => (String::new(), holds),
                    (false, _) => (shortest_name(&request.object), holds),
                }
            }
        }
    }

    fn bar(&self, row: &Row) -> String {
        let idle = self.screen.either("·", ".");
        let mut bar = String::new();
        let mut column = 0;
        let mut fill = |until: usize, colour: Colour, character: &str| {
            let num = until.saturating_sub(column);
            bar.push_str(&self.screen.paint(colour, &character.repeat(num)));
            column += num;
        };
        let (first, last) = self.columns_of(&row.bar);
        fill(first, Colour::Dim, idle);
        let colour = colour_of(&row.what);
        let parts = row.bar.parts();
        for (ord, (part, _, end_us)) in parts.iter().enumerate() {
            let is_last = ord + 1 == parts.len();
            let until = match is_last {
                true => last,
                // The part after it has at least one column.
                false => self.column(*end_us).min(last.saturating_sub(1)),
            };
            let is_cpu = matches!(row.what, What::Cpu);
            fill(until, colour, self.character(*part, is_cpu));
        }
        fill(self.bar_width, Colour::Dim, idle);
        let hedged_us = match &row.what {
            What::Request(request) if row.bar.sent_us.is_none() => request.hedged_us,
            _ => None,
        };
        match hedged_us {
            Some(hedged_us) => self.with_mark(row, hedged_us),
            None => bar,
        }
    }

    /// Draws a bar of which only the moment of its hedge is known.
    fn with_mark(&self, row: &Row, hedged_us: u64) -> String {
        let (first, last) = self.columns_of(&row.bar);
        let mark = self.column(hedged_us).clamp(first, last - 1);
        let idle = self.screen.either("·", ".");
        let busy = self.character(Part::Busy, false);
        let colour = colour_of(&row.what);
        [
            (Colour::Dim, idle.repeat(first)),
            (colour, busy.repeat(mark - first)),
            (Colour::Bold, "h".to_owned()),
            (colour, busy.repeat(last - mark - 1)),
            (Colour::Dim, idle.repeat(self.bar_width - last)),
        ]
        .map(|(colour, text)| self.screen.paint(colour, &text))
        .concat()
    }

    fn column(&self, time_us: u64) -> usize {
        (self.scale.place(time_us) * self.bar_width as f64) as usize
    }

    /// Returns the first column of a bar and the one after its last: at least one column.
    fn columns_of(&self, bar: &Bar) -> (usize, usize) {
        let first = self.column(bar.start_us).min(self.bar_width - 1);
        (first, self.column(bar.end_us).max(first + 1))
    }

    fn character(&self, part: Part, is_cpu: bool) -> &'static str {
        match part {
            _ if is_cpu => self.screen.either("▒", "%"),
            Part::Queued => self.screen.either("─", "-"),
            Part::Waiting => self.screen.either("░", "="),
            Part::Busy => self.screen.either("█", "#"),
        }
    }

    /// Returns the meanings of the characters that occur.
    fn legend(&self) -> String {
        let is_marked = |row: &Row| match &row.what {
            What::Request(request) => request.hedged_us.is_some() && row.bar.sent_us.is_none(),
            _ => false,
        };
        let of = |part: Part| self.character(part, false);
        let items = [
            (
                of(Part::Queued),
                "queued",
                self.chart.has_part(Part::Queued),
            ),
            (
                of(Part::Waiting),
                "until the first byte",
                self.chart.has_part(Part::Waiting),
            ),
            (
                of(Part::Busy),
                "receiving",
                self.chart.has_part(Part::Waiting) && self.chart.has_part(Part::Busy),
            ),
            (
                self.character(Part::Busy, true),
                "no request under way",
                self.chart.has_cpu(),
            ),
            ("h", "hedged", self.chart.rows.iter().any(is_marked)),
        ];
        let items: Vec<String> = items
            .into_iter()
            .filter(|(.., is_used)| *is_used)
            .map(|(character, meaning, _)| format!("{character} {meaning}"))
            .collect();
        self.screen.paint(Colour::Dim, &items.join("   "))
    }
}

fn colour_of(what: &What) -> Colour {
    match what {
        What::Cpu => Colour::Dim,
        What::Request(RequestRecord { error: Some(_), .. }) => Colour::Red,
        What::Request(request) => colour_of_class(request.class),
        What::Attempt(_, attempt) if attempt.end == AttemptEnd::Failed => Colour::Red,
        What::Attempt(class, _) => colour_of_class(*class),
    }
}

fn colour_of_class(class: ByteClass) -> Colour {
    match class {
        ByteClass::Manifest | ByteClass::PartialResult => Colour::Bold,
        ByteClass::Head => Colour::Blue,
        ByteClass::Dictionary => Colour::Yellow,
        ByteClass::Postings => Colour::Magenta,
        ByteClass::FastField => Colour::Green,
        ByteClass::DocStore => Colour::Cyan,
    }
}
