//! Aligned columns that fit a width.

use super::{Colour, Screen};

const GAP: usize = 2;
/// Minimum width of a column of text.
const MIN_TEXT_WIDTH: usize = 8;

/// Alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text; it is cut if the table is too wide.
    Left,
    /// Numbers; never cut.
    Right,
    /// Text that is useless in part, such as a bar or an id: never cut.
    Whole,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    title: String,
    align: Align,
}

impl Column {
    /// Creates a column under a title.
    pub(crate) fn new(title: impl Into<String>, align: Align) -> Column {
        Column {
            title: clean(&title.into()),
            align,
        }
    }
}

/// The contents of one row of one column.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    colour: Option<Colour>,
    is_painted: bool,
}

impl Cell {
    /// Creates a cell from any text: control characters are made visible.
    pub(crate) fn new(text: impl AsRef<str>) -> Cell {
        Cell {
            text: clean(text.as_ref()),
            colour: None,
            is_painted: false,
        }
    }

    /// Sets the colour of the cell.
    pub(crate) fn in_colour(mut self, colour: Option<Colour>) -> Cell {
        self.colour = colour;
        self
    }

    /// Creates a cell from text that this program has coloured itself.
    pub(crate) fn painted(text: String) -> Cell {
        Cell {
            text,
            colour: None,
            is_painted: true,
        }
    }

    /// Returns its text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn width(&self) -> usize {
        console::measure_text_width(&self.text)
    }
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new(columns: Vec<Column>) -> Table {
        Table {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a line outside of the columns: it takes the whole width, and is cut at its end.
    pub(crate) fn push_line(&mut self, line: Cell) {
        self.rows.push(vec![line]);
    }

    /// Returns whether a row of the table is a line without columns.
    fn is_line(&self, row: &[Cell]) -> bool {
        row.len() == 1 && self.columns.len() > 1
    }

    /// Adds a row, a cell per column.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Returns whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Formats the table, a line per row under the titles, each beginning with `indent`. `None` if
    /// it does not fit without cutting columns of text to nothing.
    pub(crate) fn fitted(&self, screen: &Screen, indent: &str) -> Option<String> {
        let widths = self.widths(screen.width.saturating_sub(indent.len()));
        let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        (total + indent.len() <= screen.width).then(|| self.render(screen, indent, &widths))
    }

    /// Formats the table, as narrow as possible.
    pub(crate) fn text(&self, screen: &Screen, indent: &str) -> String {
        let widths = self.widths(screen.width.saturating_sub(indent.len()));
        self.render(screen, indent, &widths)
    }

    fn widths(&self, available: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .map(|column| console::measure_text_width(&column.title))
            .collect();
        for row in self.rows.iter().filter(|row| !self.is_line(row)) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        let available = available.saturating_sub(GAP * widths.len().saturating_sub(1));
        for (width, column) in widths.iter_mut().zip(&self.columns) {
            if column.align == Align::Left {
                *width = (*width).min(available.max(MIN_TEXT_WIDTH));
            }
        }
        // The widest column shrinks first, so that short columns stay complete.
        while widths.iter().sum::<usize>() > available {
            let widest = (0..widths.len())
                .filter(|ord| self.columns[*ord].align == Align::Left)
                .filter(|ord| widths[*ord] > MIN_TEXT_WIDTH)
                .max_by_key(|ord| widths[*ord]);
            match widest {
                Some(ord) => widths[ord] -= 1,
                None => break,
            }
        }
        widths
    }

    fn render(&self, screen: &Screen, indent: &str, widths: &[usize]) -> String {
        let mut text = String::new();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let titles: Vec<Cell> = self
                .columns
                .iter()
                .map(|column| Cell::new(&column.title).in_colour(Some(Colour::Dim)))
                .collect();
            self.push_row(&mut text, screen, indent, widths, &titles);
        }
        for row in &self.rows {
            let whole = [screen.width.saturating_sub(indent.len())];
            let widths = match self.is_line(row) {
                true => &whole[..],
                false => widths,
            };
            self.push_row(&mut text, screen, indent, widths, row);
        }
        text
    }

    fn push_row(
        &self,
        text: &mut String,
        screen: &Screen,
        indent: &str,
        widths: &[usize],
        row: &[Cell],
    ) {
        let mut line = String::from(indent);
        for (ord, cell) in row.iter().enumerate().take(widths.len()) {
            if ord > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let width = widths[ord];
            let shown = match cell.width() > width {
                true => console::truncate_str(&cell.text, width, screen.either("…", "~")),
                false => cell.text.as_str().into(),
            };
            let padding = " ".repeat(width.saturating_sub(console::measure_text_width(&shown)));
            let painted = match (cell.is_painted, cell.colour) {
                (false, Some(colour)) => screen.paint(colour, &shown),
                _ => shown.into_owned(),
            };
            match self.columns[ord].align {
                Align::Right => line.extend([padding, painted]),
                Align::Left | Align::Whole => line.extend([painted, padding]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Returns one line without characters that control a terminal.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\r' => clean.push(' '),
            // Control characters, and those that change the direction of text.
            _ if character.is_control()
                || ('\u{202a}'..='\u{202e}').contains(&character)
                || ('\u{2066}'..='\u{2069}').contains(&character) =>
            {
                clean.push('\u{fffd}');
            }
            _ => clean.push(character),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, rows: &[[&str; 3]], expect: &str) {
        let mut table = Table::new(vec![
            Column::new("id", Align::Right),
            Column::new("level", Align::Left),
            Column::new("message", Align::Left),
        ]);
        for row in rows {
            table.push(row.iter().map(Cell::new).collect());
        }
        let text = table.text(&Screen::plain(width, true), "");
        assert_eq!(text, expect.trim_start_matches('\n'));
    }

    #[test]
    fn columns_align() {
        check(
            80,
            &[
                ["7", "INFO", "started"],
                ["12,000", "ERROR", "lost a block"],
            ],
            "
    id  level  message
     7  INFO   started
12,000  ERROR  lost a block
",
        );
    }

    #[test]
    fn the_widest_text_gives_way() {
        check(
            30,
            &[["7", "INFO", "a message that is longer than the screen"]],
            "
id  level  message
 7  INFO   a message that is …
",
        );
    }

    #[test]
    fn wide_characters_count_twice() {
        check(
            26,
            &[["7", "日本", "日本語のログ日本語のログ"], ["8", "b", "c"]],
            "
id  level  message
 7  日本   日本語のログ日…
 8  b      c
",
        );
    }

    #[test]
    fn nothing_in_a_cell_reaches_the_terminal() {
        check(
            80,
            &[["7", "\u{1b}[2J", "two\nlines"]],
            "
id  level  message
 7  \u{fffd}[2J   two lines
",
        );
    }

    #[test]
    fn a_line_without_columns_takes_the_whole_width() {
        let mut table = Table::new(vec![
            Column::new("a", Align::Left),
            Column::new("b", Align::Right),
        ]);
        table.push(vec![Cell::new("x"), Cell::new("1")]);
        table.push_line(Cell::new("longer than both columns are together"));
        let text = table.text(&Screen::plain(20, true), "");
        assert_eq!(text, "a  b\nx  1\nlonger than both co…\n");
    }

    #[test]
    fn a_table_that_cannot_fit_says_so() {
        let mut table = Table::new(vec![
            Column::new("a", Align::Whole),
            Column::new("b", Align::Left),
        ]);
        table.push(vec![Cell::new("x".repeat(40)), Cell::new("y".repeat(40))]);
        assert!(table.fitted(&Screen::plain(45, true), "").is_none());
        assert!(table.fitted(&Screen::plain(60, true), "").is_some());
    }
}
