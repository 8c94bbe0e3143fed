//! Buckets as a picture: the columns of a histogram, or the bars of terms; stacked if there are few
//! inner keys. Self-contained SVG, or a page with it and tables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::super::timeline::{Markup, cut, px, round_step, write_rect};
use super::asked::Asked;
use super::numbers;
use super::rows::{Row, Stack, buckets_of, push_rows};

const STYLE: &str = include_str!("chart.css");
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 16.0;
const TITLE_HEIGHT: f64 = 44.0;
const GAP: f64 = 24.0;
const PLOT_HEIGHT: f64 = 240.0;
/// Left edge of columns; bars have their labels here.
const COLUMNS_AT: f64 = 84.0;
const BARS_AT: f64 = 260.0;
const BARS_END: f64 = 860.0;
const BAR_HEIGHT: f64 = 22.0;
const MAX_BARS: usize = 100;
/// Maximum number of columns; more than pixels would show nothing.
const MAX_COLUMNS: usize = 800;
const NUM_TICKS: f64 = 5.0;
/// Maximum length of labels on the axis below columns, in characters.
const MAX_AXIS_CHARS: usize = 26;
const CHAR_WIDTH: f64 = 7.0;
const MAX_LABEL_CHARS: usize = 34;
const MAX_TITLE_CHARS: usize = 100;

/// A file for a picture of buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChartFile {
    path: PathBuf,
    is_page: bool,
}

impl FromStr for ChartFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let is_page = match extension.to_ascii_lowercase().as_str() {
            "svg" => false,
            "html" | "htm" => true,
            _ => {
                let what =
                    "a chart is written as a picture or as a page: end the name in .svg or .html";
                return Err(what.to_owned());
            }
        };
        Ok(Self { path, is_page })
    }
}

impl ChartFile {
    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Draws all aggregations that have buckets, and replaces the file.
    ///
    /// # Errors
    /// Names the aggregations, if none of them can be drawn.
    pub(crate) fn write(&self, title: &str, results: &Value, asked: &Value) -> Result<()> {
        let figures = figures(results, Asked::new(asked));
        if figures.is_empty() {
            let names = results.as_object().into_iter().flat_map(|all| all.keys());
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            bail!(
                "there is nothing to draw: {} has no buckets of one row; ask for terms or a histogram",
                names.join(", ")
            );
        }
        let text = match self.is_page {
            true => page(title, &figures),
            false => picture(title, &figures),
        };
        text.and_then(|text| fs::write(&self.path, text))
            .with_context(|| format!("cannot write the chart `{}`", self.path.display()))
    }
}

/// The buckets of one aggregation.
struct Figure {
    name: String,
    rows: Vec<Row>,
    /// Keys of the parts of each row, if they are stacked.
    keys: Vec<String>,
    is_histogram: bool,
}

fn figures(results: &Value, asked: Asked<'_>) -> Vec<Figure> {
    let results = results.as_object().into_iter().flatten();
    let figures = results.filter_map(|(name, result)| {
        let one = asked.of(name);
        let buckets = buckets_of(result, one).filter(|buckets| !buckets.is_empty())?;
        if one.kind == "composite" {
            return None;
        }
        let (rows, keys) = match Stack::of(&buckets, one.inside) {
            Some(stack) => (stack.rows(&buckets, one.inside), stack.keys),
            None => {
                let mut rows = Vec::new();
                push_rows(&mut rows, &buckets, one.inside, 0);
                rows.retain(|row| row.depth == 0);
                (rows, Vec::new())
            }
        };
        Some(Figure {
            name: name.clone(),
            is_histogram: one.kind.ends_with("histogram") && rows.len() <= MAX_COLUMNS,
            rows,
            keys,
        })
    });
    figures.collect()
}

impl Figure {
    fn height(&self) -> f64 {
        let plot = match self.is_histogram {
            true => PLOT_HEIGHT + 24.0,
            false => self.rows.len().min(MAX_BARS) as f64 * BAR_HEIGHT,
        };
        TITLE_HEIGHT + plot + GAP
    }

    fn most(&self) -> f64 {
        let counts = self.rows.iter().filter_map(|row| row.num_docs);
        counts.max().unwrap_or(0).max(1) as f64
    }

    /// Returns the parts of a row, each with its class; the other documents of the row have none of the keys.
    fn parts(&self, row: &Row) -> Vec<(String, u64)> {
        match self.keys.is_empty() {
            true => vec![("s0".to_owned(), row.num_docs.unwrap_or(0))],
            false => {
                let parts = row.parts.iter().enumerate();
                parts
                    .map(|(ord, part)| (format!("s{}", ord % 6), *part))
                    .collect()
            }
        }
    }

    fn write(&self, svg: &mut Markup, top: f64) -> io::Result<()> {
        let title = cut(&self.name, MAX_TITLE_CHARS);
        write_text(svg, "title", "start", [MARGIN, top + 14.0], &title)?;
        let mut x = COLUMNS_AT;
        for (ord, key) in self.keys.iter().enumerate() {
            let key = cut(key, MAX_LABEL_CHARS);
            write_rect(svg, &format!("s{}", ord % 6), [x, top + 22.0, 12.0, 12.0])?;
            write_text(svg, "faint", "start", [x + 17.0, top + 32.0], &key)?;
            x += 36.0 + key.chars().count() as f64 * CHAR_WIDTH;
        }
        match self.is_histogram {
            true => self.write_columns(svg, top + TITLE_HEIGHT),
            false => self.write_bars(svg, top + TITLE_HEIGHT),
        }
    }

    fn write_columns(&self, svg: &mut Markup, top: f64) -> io::Result<()> {
        let bottom = top + PLOT_HEIGHT;
        // Numbers of documents are integers.
        let step = round_step(self.most() / NUM_TICKS).max(1.0);
        let most = (self.most() / step).ceil() * step;
        let height = |count: f64| count / most * PLOT_HEIGHT;
        for tick in 0..=(most / step).round() as u32 {
            let count = f64::from(tick) * step;
            let y = bottom - height(count);
            write_rect(
                svg,
                "grid",
                [COLUMNS_AT, y, WIDTH - MARGIN - COLUMNS_AT, 1.0],
            )?;
            let place = [COLUMNS_AT - 8.0, y + 4.0];
            write_text(svg, "faint", "end", place, &numbers::real(count))?;
        }
        let width = (WIDTH - MARGIN - COLUMNS_AT) / self.rows.len() as f64;
        let lens = self.rows.iter().map(|row| row.label.chars().count());
        let len = lens.max().unwrap_or(0).min(MAX_AXIS_CHARS) as f64;
        // As many labels as fit, with two characters between them.
        let every = ((len + 2.0) * CHAR_WIDTH / width).ceil().max(1.0) as usize;
        let last_x = WIDTH - MARGIN - len * CHAR_WIDTH / 2.0;
        for (ord, row) in self.rows.iter().enumerate() {
            let x = COLUMNS_AT + ord as f64 * width;
            svg.element("g", &[], |group| {
                group.text("title", &[], &self.tooltip(row))?;
                let mut y = bottom;
                for (class, count) in self.parts(row) {
                    let part = height(count as f64);
                    y -= part;
                    let gap = (width * 0.15).min(3.0);
                    write_rect(group, &class, [x + gap / 2.0, y, width - gap, part])?;
                }
                Ok(())
            })?;
            if ord % every == 0 {
                let label = cut(&row.label, MAX_AXIS_CHARS);
                let middle = x + width / 2.0;
                if middle > last_x {
                    continue;
                }
                let place = [middle, bottom + 18.0];
                write_text(svg, "faint", "middle", place, &label)?;
            }
        }
        Ok(())
    }

    fn write_bars(&self, svg: &mut Markup, top: f64) -> io::Result<()> {
        for (ord, row) in self.rows.iter().take(MAX_BARS).enumerate() {
            let y = top + ord as f64 * BAR_HEIGHT;
            svg.element("g", &[], |group| {
                group.text("title", &[], &self.tooltip(row))?;
                let label = cut(&row.label, MAX_LABEL_CHARS);
                write_text(group, "", "end", [BARS_AT - 8.0, y + 15.0], &label)?;
                let mut x = BARS_AT;
                for (class, count) in self.parts(row) {
                    let width = count as f64 / self.most() * (BARS_END - BARS_AT);
                    write_rect(group, &class, [x, y + 3.0, width, BAR_HEIGHT - 6.0])?;
                    x += width;
                }
                let count = numbers::count(row.num_docs.unwrap_or(0));
                write_text(group, "faint", "start", [x + 8.0, y + 15.0], &count)
            })?;
        }
        Ok(())
    }

    fn tooltip(&self, row: &Row) -> String {
        let count = numbers::counted(row.num_docs.unwrap_or(0), "document");
        let parts = self.keys.iter().zip(&row.parts);
        let parts = parts.map(|(key, part)| format!("{key}: {}", numbers::count(*part)));
        let all: Vec<String> = [format!("{}: {count}", row.label)]
            .into_iter()
            .chain(parts)
            .collect();
        all.join("\n")
    }
}

fn picture(title: &str, figures: &[Figure]) -> io::Result<String> {
    let mut markup = Markup::new();
    write_picture(&mut markup, title, figures, true)?;
    Ok(markup.finish())
}

fn write_picture(
    markup: &mut Markup,
    title: &str,
    figures: &[Figure],
    is_alone: bool,
) -> io::Result<()> {
    let height = MARGIN + figures.iter().map(Figure::height).sum::<f64>();
    let (width, height) = (px(WIDTH), px(height));
    let view_box = format!("0 0 {width} {height}");
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("width", width.as_str()),
        ("height", height.as_str()),
        ("viewBox", view_box.as_str()),
        ("role", "img"),
        ("aria-labelledby", "chart-title chart-text"),
    ];
    markup.element("svg", &attributes, |svg| {
        svg.text(
            "title",
            &[("id", "chart-title")],
            &format!("Documents of {title}"),
        )?;
        let described = figures.iter().map(|figure| {
            let buckets = numbers::counted(figure.rows.len() as u64, "bucket");
            format!(
                "{}: {buckets}, at most {}.",
                figure.name,
                numbers::real(figure.most())
            )
        });
        let described: Vec<String> = described.collect();
        svg.text("desc", &[("id", "chart-text")], &described.join(" "))?;
        if is_alone {
            svg.text("style", &[], STYLE)?;
        }
        let all = [("class", "ground"), ("width", &width), ("height", &height)];
        svg.empty("rect", &all)?;
        let mut top = MARGIN;
        for figure in figures {
            figure.write(svg, top)?;
            top += figure.height();
        }
        Ok(())
    })
}

fn page(title: &str, figures: &[Figure]) -> io::Result<String> {
    let mut markup = Markup::new();
    markup.doctype()?;
    markup.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |head| {
            head.empty("meta", &[("charset", "utf-8")])?;
            let policy = [
                ("http-equiv", "Content-Security-Policy"),
                ("content", "default-src 'none'; style-src 'unsafe-inline'"),
            ];
            head.empty("meta", &policy)?;
            head.text("title", &[], title)?;
            head.text("style", &[], STYLE)
        })?;
        html.element("body", &[], |body| {
            body.text("h1", &[], title)?;
            write_picture(body, title, figures, false)?;
            figures
                .iter()
                .try_for_each(|figure| write_table(body, figure))
        })
    })?;
    Ok(markup.finish())
}

fn write_table(body: &mut Markup, figure: &Figure) -> io::Result<()> {
    body.text("h2", &[], &figure.name)?;
    body.element("table", &[], |table| {
        table.element("tr", &[], |row| {
            let titles = ["", "documents"].into_iter();
            let mut titles = titles.chain(figure.keys.iter().map(String::as_str));
            titles.try_for_each(|title| row.text("th", &[("scope", "col")], title))
        })?;
        figure.rows.iter().try_for_each(|row| {
            table.element("tr", &[], |tr| {
                tr.text("td", &[], &row.label)?;
                let counts = row.num_docs.iter().chain(&row.parts);
                let mut counts = counts.map(|count| numbers::count(*count));
                counts.try_for_each(|count| tr.text("td", &[], &count))
            })
        })
    })
}

fn write_text(
    svg: &mut Markup,
    class: &str,
    anchor: &str,
    [x, y]: [f64; 2],
    text: &str,
) -> io::Result<()> {
    let (x, y) = (px(x), px(y));
    let attributes = [
        ("class", class),
        ("x", x.as_str()),
        ("y", y.as_str()),
        ("text-anchor", anchor),
    ];
    svg.text("text", &attributes, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn drawn(asked: &Value, results: &Value) -> String {
        picture("a<b", &figures(results, Asked::new(asked))).unwrap()
    }

    #[test]
    fn a_histogram_has_a_column_for_each_part_of_each_bucket() {
        let asked = json!({"h": {"histogram": {}, "aggs": {"t": {"terms": {}}}}});
        let parts =
            |a: u64, b: u64| json!([{"key": "a", "doc_count": a}, {"key": "b", "doc_count": b}]);
        let results = json!({"h": {"buckets": [
            {"key": 0.0, "doc_count": 4, "t": {"buckets": parts(3, 1)}},
            {"key": 5.0, "doc_count": 2, "t": {"buckets": parts(1, 1)}}]}});
        let text = drawn(&asked, &results);
        // Two columns each, and the mark of the legend.
        assert_eq!(text.matches("class=\"s0\"").count(), 3);
        assert_eq!(text.matches("class=\"s1\"").count(), 3);
        assert!(
            text.contains("<title id=\"chart-title\">Documents of a&lt;b</title>"),
            "{text}"
        );
    }

    #[test]
    fn the_longest_bar_takes_all_the_room_and_the_others_their_share() {
        let results = json!({"t": {"buckets": [{"key": "x", "doc_count": 10}, {"key": "y", "doc_count": 5}]}});
        let text = drawn(&json!({"t": {"terms": {}}}), &results);
        assert!(
            text.contains("width=\"600\"") && text.contains("width=\"300\""),
            "{text}"
        );
    }

    #[test]
    fn what_has_no_buckets_is_refused_by_name() {
        let file: ChartFile = "nowhere/c.svg".parse().unwrap();
        let results = json!({"mean": {"value": 1.0}, "none": {"buckets": []}});
        let error = file.write("*", &results, &Value::Null).unwrap_err();
        assert!(error.to_string().contains("`mean`, `none`"), "{error}");
        assert!(
            "c.png"
                .parse::<ChartFile>()
                .unwrap_err()
                .contains(".svg or .html")
        );
    }
}
