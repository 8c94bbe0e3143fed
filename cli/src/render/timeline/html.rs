//! The timeline as a page: the picture, and the same in figures. It loads nothing.

use std::io;

use super::super::numbers;
use super::chart::{Chart, Row, What};
use super::markup::Markup;
use super::svg::{MAX_ROWS, STYLE, write_picture};
use super::words::{class_name, outcome, remarks};

const PAGE_STYLE: &str = include_str!("style/page.css");
const COLUMNS: [(&str, &str); 9] = [
    ("wave", ""),
    ("object", ""),
    ("holds", ""),
    ("from byte", "right"),
    ("bytes", "right"),
    ("start", "right"),
    ("end", "right"),
    ("took", "right"),
    ("remarks", ""),
];

/// The charts as one page.
pub(super) fn page(title: &str, charts: &[Chart]) -> io::Result<String> {
    let mut markup = Markup::new();
    markup.doctype()?;
    markup.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |head| write_head(head, title))?;
        html.element("body", &[], |body| {
            body.text("h1", &[], title)?;
            write_picture(body, title, charts, false)?;
            let mut left = MAX_ROWS;
            for chart in charts {
                write_chart(body, chart, &mut left)?;
            }
            Ok(())
        })
    })?;
    Ok(markup.finish())
}

fn write_head(head: &mut Markup, title: &str) -> io::Result<()> {
    head.empty("meta", &[("charset", "utf-8")])?;
    let viewport = "width=device-width, initial-scale=1";
    head.empty("meta", &[("name", "viewport"), ("content", viewport)])?;
    let policy = [
        ("http-equiv", "Content-Security-Policy"),
        ("content", "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    head.empty("meta", &policy)?;
    head.text("title", &[], title)?;
    head.text("style", &[], STYLE)?;
    head.text("style", &[], PAGE_STYLE)
}

fn write_chart(body: &mut Markup, chart: &Chart, left: &mut usize) -> io::Result<()> {
    body.text("h2", &[], &chart.title)?;
    for fact in &chart.facts {
        body.text("p", &[], fact)?;
    }
    if chart.waves.is_empty() {
        return body.text("p", &[], "No request was needed.");
    }
    let num_shown = chart.rows.len().min(*left);
    *left -= num_shown;
    body.element("div", &[("class", "scroll")], |div| {
        div.element("table", &[], |table| {
            table.element("thead", &[], write_titles)?;
            table.element("tbody", &[], |rows| {
                let shown = chart.rows.iter().take(num_shown);
                shown
                    .into_iter()
                    .try_for_each(|row| write_row(rows, chart, row))
            })
        })
    })?;
    match chart.num_requests_after(num_shown) {
        0 => Ok(()),
        num => {
            let rest = format!("and {}", numbers::counted(num, "more request"));
            body.text("p", &[], &rest)
        }
    }
}

fn write_titles(head: &mut Markup) -> io::Result<()> {
    head.element("tr", &[], |row| {
        COLUMNS.iter().try_for_each(|(name, class)| {
            row.text("th", &[("scope", "col"), ("class", class)], name)
        })
    })
}

fn write_row(rows: &mut Markup, chart: &Chart, row: &Row) -> io::Result<()> {
    let wave = row
        .wave_ord
        .and_then(|ord| {
            Some(format!(
                "{} {}",
                ord + 1,
                chart.waves.get(ord)?.phase.name()
            ))
        })
        .unwrap_or_default();
    let (object, holds, offset, remark) = match &row.what {
        What::Cpu => (
            String::new(),
            "no request under way".to_owned(),
            String::new(),
            String::new(),
        ),
        What::Attempt(class, attempt) => (
            String::new(),
            class_name(*class),
            String::new(),
            attempt.kind.name(),
        ),
        What::Request(request) => (
            request.object.clone(),
            class_name(request.class),
            numbers::count(request.offset),
            remarks(request).join("; "),
        ),
    };
    let cells = [
        wave,
        object,
        holds,
        offset,
        outcome(&row.what).unwrap_or_default(),
        numbers::micros(row.bar.start_us),
        numbers::micros(row.bar.end_us),
        numbers::micros(row.bar.took_us()),
        remark,
    ];
    rows.element("tr", &[], |tr| {
        let cells = COLUMNS.iter().zip(&cells);
        cells
            .into_iter()
            .try_for_each(|((_, class), cell)| tr.text("td", &[("class", class)], cell))
    })
}
