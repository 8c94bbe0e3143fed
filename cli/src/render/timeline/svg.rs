//! The timeline as a picture: self-contained SVG.
//!
//! ```text
//!   ├ wave ┼─ label ──────┼─ bars ───────────────────────┼─ figures ─────┤
//!   1 plan   manifest      ░░░░░░░░█                       273 KB  31 ms
//! ```

use std::io;

use canter_lab::AttemptEnd;
use canter_runtime::session::ByteClass;

use super::super::numbers;
use super::chart::{Chart, Part, Row, What};
use super::markup::Markup;
use super::scale::Scale;
use super::words::{class_name, outcome, shortest_name, tooltip};

/// Colours and type, shared with the page.
const STYLE: &str = include_str!("style/picture.css");
/// Maximum number of rows in all charts together; the rest are counted.
const MAX_ROWS: usize = 2_000;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 16.0;
const LABELS_AT: f64 = 104.0;
const BARS_AT: f64 = 268.0;
const BARS_END: f64 = 808.0;
const BYTES_END: f64 = 876.0;
const TOOK_END: f64 = WIDTH - MARGIN;
const TITLE_HEIGHT: f64 = 20.0;
const FACT_HEIGHT: f64 = 17.0;
const AXIS_HEIGHT: f64 = 26.0;
const GAP: f64 = 26.0;
const LEGEND_HEIGHT: f64 = 30.0;
/// Maximum numbers of characters that fit into the widths above, at the sizes used.
const MAX_TITLE_CHARS: usize = 100;
const MAX_FACT_CHARS: usize = 140;
const MAX_LABEL_CHARS: usize = 24;
const NUM_TICKS: usize = 8;

/// Draws the charts one below the other, on one scale.
pub(super) fn picture(title: &str, charts: &[Chart]) -> io::Result<String> {
    let mut markup = Markup::new();
    write_picture(&mut markup, title, charts)?;
    Ok(markup.finish())
}

/// Writes the `svg` element, with its style.
fn write_picture(markup: &mut Markup, title: &str, charts: &[Chart]) -> io::Result<()> {
    let picture = Picture::new(charts);
    let (width, height) = (px(WIDTH), px(picture.height));
    let view_box = format!("0 0 {width} {height}");
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("width", width.as_str()),
        ("height", height.as_str()),
        ("viewBox", view_box.as_str()),
        ("role", "img"),
        ("aria-labelledby", "timeline-title timeline-text"),
    ];
    markup.element("svg", &attributes, |svg| {
        svg.text("title", &[("id", "timeline-title")], title)?;
        svg.text("desc", &[("id", "timeline-text")], &described(charts))?;
        svg.text("style", &[], STYLE)?;
        let all = [
            ("class", "ground"),
            ("width", width.as_str()),
            ("height", height.as_str()),
        ];
        svg.empty("rect", &all)?;
        picture.write(svg)
    })
}

/// Describes everything in words, for readers who do not see the picture.
fn described(charts: &[Chart]) -> String {
    let mut text = String::new();
    for chart in charts {
        text.push_str(&format!("{}. {}\n", chart.title, chart.facts.join(". ")));
        for (ord, wave) in chart.waves.iter().enumerate() {
            let is_of_it =
                |row: &&Row| row.wave_ord == Some(ord) && matches!(row.what, What::Request(_));
            let num = chart.rows.iter().filter(is_of_it).count() as u64;
            text.push_str(&format!(
                "Wave {} ({}): {}, {} to {}.\n",
                ord + 1,
                wave.phase.name(),
                numbers::counted(num, "request"),
                numbers::micros(wave.start_us),
                numbers::micros(wave.end_us),
            ));
        }
    }
    text
}

struct Picture<'a> {
    charts: &'a [Chart],
    scale: Scale,
    row_height: f64,
    /// Number of drawn rows of each chart.
    num_rows: Vec<usize>,
    height: f64,
}

impl<'a> Picture<'a> {
    fn new(charts: &'a [Chart]) -> Self {
        let total_us = charts.iter().map(|chart| chart.total_us).max();
        let mut left = MAX_ROWS;
        let num_rows: Vec<usize> = charts
            .iter()
            .map(|chart| {
                let num = chart.rows.len().min(left);
                left -= num;
                num
            })
            .collect();
        let row_height = match num_rows.iter().max() {
            Some(..=24) | None => 20.0,
            Some(25..=80) => 16.0,
            Some(_) => 13.0,
        };
        let mut picture = Self {
            charts,
            scale: Scale::new(total_us.unwrap_or(0)),
            row_height,
            num_rows,
            height: 0.0,
        };
        picture.height = MARGIN
            + LEGEND_HEIGHT
            + (0..charts.len())
                .map(|ord| picture.chart_height(ord) + GAP)
                .sum::<f64>();
        picture
    }

    fn chart_height(&self, ord: usize) -> f64 {
        let num_facts = self.charts[ord].facts.len() as f64;
        TITLE_HEIGHT + num_facts * FACT_HEIGHT + AXIS_HEIGHT + self.rows_height(ord)
    }

    /// Returns the height of the rows, and of another line if there is a note below them.
    fn rows_height(&self, ord: usize) -> f64 {
        let num_notes = usize::from(self.note_of(ord).is_some());
        (self.num_rows[ord].max(1) + num_notes) as f64 * self.row_height
    }

    fn note_of(&self, ord: usize) -> Option<String> {
        let chart = &self.charts[ord];
        if chart.waves.is_empty() {
            return Some("no request was needed".to_owned());
        }
        match chart.num_requests_after(self.num_rows[ord]) {
            0 => None,
            num => Some(format!("and {}", numbers::counted(num, "more request"))),
        }
    }

    fn write(&self, svg: &mut Markup) -> io::Result<()> {
        let mut top = MARGIN;
        for (ord, chart) in self.charts.iter().enumerate() {
            self.write_chart(svg, ord, chart, top)?;
            top += self.chart_height(ord) + GAP;
        }
        self.write_legend(svg, top)
    }

    fn write_chart(&self, svg: &mut Markup, ord: usize, chart: &Chart, top: f64) -> io::Result<()> {
        let title = cut(&chart.title, MAX_TITLE_CHARS);
        let mut y = top + TITLE_HEIGHT - 6.0;
        write_text(svg, "title", MARGIN, y, &title)?;
        for fact in &chart.facts {
            y += FACT_HEIGHT;
            write_text(svg, "faint", MARGIN, y, &cut(fact, MAX_FACT_CHARS))?;
        }
        let rows_top = top + self.chart_height(ord) - self.rows_height(ord);
        let bottom = rows_top + self.rows_height(ord);
        self.write_waves(svg, ord, chart, rows_top)?;
        self.write_axis(svg, rows_top, bottom)?;
        for (row_ord, row) in chart.rows.iter().take(self.num_rows[ord]).enumerate() {
            let y = rows_top + row_ord as f64 * self.row_height;
            self.write_row(svg, chart, row, y)?;
        }
        match self.note_of(ord) {
            Some(note) => write_text(svg, "faint", BARS_AT, bottom - 5.0, &note),
            None => Ok(()),
        }
    }

    /// Draws a field behind the rows of each wave, as long as the wave took.
    fn write_waves(&self, svg: &mut Markup, ord: usize, chart: &Chart, top: f64) -> io::Result<()> {
        for (wave_ord, wave) in chart.waves.iter().enumerate() {
            let drawn = chart.rows.iter().take(self.num_rows[ord]).enumerate();
            let mut of_wave = drawn.filter(|(_, row)| row.wave_ord == Some(wave_ord));
            let Some((first, _)) = of_wave.next() else {
                continue;
            };
            let last = of_wave.next_back().map_or(first, |(last, _)| last);
            let height = (last - first + 1) as f64 * self.row_height;
            let (x, width) = self.span(wave.start_us, wave.end_us);
            let y = top + first as f64 * self.row_height;
            write_rect(svg, "wave", [x, y, width, height])?;
        }
        Ok(())
    }

    fn write_axis(&self, svg: &mut Markup, top: f64, bottom: f64) -> io::Result<()> {
        for tick in self.scale.ticks(NUM_TICKS) {
            let x = px(BARS_AT + tick.place * (BARS_END - BARS_AT));
            let (y1, y2) = (px(top - 4.0), px(bottom));
            let line = [
                ("class", "grid"),
                ("x1", x.as_str()),
                ("x2", x.as_str()),
                ("y1", y1.as_str()),
                ("y2", y2.as_str()),
            ];
            svg.empty("line", &line)?;
            let label = match tick.place == 0.0 {
                true => tick.number,
                false => format!("{} {}", tick.number, self.scale.unit()),
            };
            let y = px(top - 9.0);
            let attributes = [
                ("class", "faint small number"),
                ("x", x.as_str()),
                ("y", y.as_str()),
                ("text-anchor", "middle"),
            ];
            svg.text("text", &attributes, &label)?;
        }
        Ok(())
    }

    fn write_row(&self, svg: &mut Markup, chart: &Chart, row: &Row, y: f64) -> io::Result<()> {
        svg.element("g", &[], |group| {
            group.text("title", &[], &tooltip(row))?;
            let baseline = y + self.row_height / 2.0 + 4.0;
            let wave = row.wave_ord.filter(|_| row.begins_wave);
            if let Some((ord, wave)) = wave.and_then(|ord| Some((ord, chart.waves.get(ord)?))) {
                let name = format!("{} {}", ord + 1, wave.phase.name());
                write_text(group, "", MARGIN, baseline, &name)?;
            }
            let (indent, class) = match row.what {
                What::Request(_) => (0.0, ""),
                What::Attempt(..) => (12.0, "faint"),
                What::Cpu => (0.0, "faint"),
            };
            let label = cut(&label_of(&row.what), MAX_LABEL_CHARS);
            write_text(group, class, LABELS_AT + indent, baseline, &label)?;
            self.write_bar(group, row, y)?;
            if let Some(bytes) = outcome(&row.what) {
                write_right(group, BYTES_END, baseline, &bytes)?;
            }
            let took = numbers::micros(row.bar.took_us());
            write_right(group, TOOK_END, baseline, &took)
        })
    }

    fn write_bar(&self, svg: &mut Markup, row: &Row, y: f64) -> io::Result<()> {
        let thickness = match row.what {
            What::Request(_) => self.row_height - 6.0,
            _ => self.row_height - 10.0,
        };
        let class = class_of(&row.what);
        let middle = y + self.row_height / 2.0;
        for (part, start_us, end_us) in row.bar.parts() {
            let (x, width) = self.span(start_us, end_us);
            let (suffix, thickness) = match part {
                Part::Queued => (" queued", 2.0),
                Part::Waiting => (" waiting", thickness),
                Part::Busy => ("", thickness),
            };
            let place = [x, middle - thickness / 2.0, width, thickness];
            write_rect(svg, &format!("{class}{suffix}"), place)?;
        }
        if let What::Request(request) = &row.what
            && let Some(hedged_us) = request.hedged_us
        {
            let place = [self.x(hedged_us) - 1.0, y + 1.0, 2.0, self.row_height - 2.0];
            write_rect(svg, "mark", place)?;
        }
        Ok(())
    }

    fn x(&self, time_us: u64) -> f64 {
        BARS_AT + self.scale.place(time_us) * (BARS_END - BARS_AT)
    }

    /// Returns the position and width of a part: wide enough to be visible.
    fn span(&self, start_us: u64, end_us: u64) -> (f64, f64) {
        let x = self.x(start_us).min(BARS_END - 1.5);
        (x, (self.x(end_us) - x).max(1.5))
    }

    fn write_legend(&self, svg: &mut Markup, top: f64) -> io::Result<()> {
        let mut x = MARGIN;
        for (class, name) in self.legend() {
            let (width, height) = match class.as_str() {
                "mark" => (2.0, 14.0),
                class if class.ends_with("queued") => (16.0, 2.0),
                _ => (16.0, 12.0),
            };
            let place = [
                x + 8.0 - width / 2.0,
                top + 6.0 - height / 2.0,
                width,
                height,
            ];
            write_rect(svg, &class, place)?;
            write_text(svg, "faint", x + 22.0, top + 10.0, &name)?;
            x += 44.0 + name.chars().count() as f64 * 6.6;
        }
        Ok(())
    }

    /// Returns the classes of bars that occur, with their meanings.
    fn legend(&self) -> Vec<(String, String)> {
        let is_used = |class: &ByteClass| {
            let mut charts = self.charts.iter();
            charts.any(|chart| chart.classes().contains(class))
        };
        let has = |part: Part| self.charts.iter().any(|chart| chart.has_part(part));
        let mut items: Vec<(String, String)> = ByteClass::ALL
            .into_iter()
            .filter(is_used)
            .map(|class| (class.as_str().to_owned(), class_name(class)))
            .collect();
        if has(Part::Queued) {
            items.push(("manifest queued".to_owned(), "queued".to_owned()));
        }
        if has(Part::Waiting) {
            let meaning = "pale: until the first byte";
            items.push(("manifest waiting".to_owned(), meaning.to_owned()));
        }
        if self.charts.iter().any(Chart::has_hedge) {
            items.push(("mark".to_owned(), "second request sent".to_owned()));
        }
        if self.charts.iter().any(Chart::has_cpu) {
            items.push(("cpu".to_owned(), "no request under way".to_owned()));
        }
        items
    }
}

/// Returns the label of a bar.
fn label_of(what: &What) -> String {
    match what {
        What::Cpu => "cpu".to_owned(),
        What::Attempt(_, attempt) => attempt.kind.name(),
        What::Request(request) if request.class == ByteClass::Manifest => "manifest".to_owned(),
        What::Request(request) => {
            let object = shortest_name(&request.object);
            format!("{} {}", cut(&object, 12), class_name(request.class))
        }
    }
}

/// Returns the style class of a bar, which determines its colour.
fn class_of(what: &What) -> &'static str {
    match what {
        What::Cpu => "cpu",
        What::Request(request) if request.error.is_some() => "failed",
        What::Request(request) => request.class.as_str(),
        What::Attempt(_, attempt) if attempt.end == AttemptEnd::Failed => "failed",
        What::Attempt(class, _) => class.as_str(),
    }
}

pub(in crate::render) fn write_rect(
    svg: &mut Markup,
    class: &str,
    [x, y, width, height]: [f64; 4],
) -> io::Result<()> {
    let [x, y, width, height] = [x, y, width, height].map(px);
    let attributes = [
        ("class", class),
        ("x", x.as_str()),
        ("y", y.as_str()),
        ("width", width.as_str()),
        ("height", height.as_str()),
    ];
    svg.empty("rect", &attributes)
}

fn write_text(svg: &mut Markup, class: &str, x: f64, y: f64, text: &str) -> io::Result<()> {
    let (x, y) = (px(x), px(y));
    let attributes = [("class", class), ("x", x.as_str()), ("y", y.as_str())];
    let from = usize::from(class.is_empty());
    svg.text("text", &attributes[from..], text)
}

fn write_right(svg: &mut Markup, x: f64, y: f64, text: &str) -> io::Result<()> {
    let (x, y) = (px(x), px(y));
    let attributes = [
        ("class", "faint number"),
        ("x", x.as_str()),
        ("y", y.as_str()),
        ("text-anchor", "end"),
    ];
    svg.text("text", &attributes, text)
}

/// Cuts a text to `max_chars` characters, the last of which marks the cut.
pub(in crate::render) fn cut(text: &str, max_chars: usize) -> String {
    match text.chars().count() > max_chars {
        true => text.chars().take(max_chars - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Formats a coordinate: a hundredth of a pixel is precise enough, and the same on every machine.
pub(in crate::render) fn px(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
