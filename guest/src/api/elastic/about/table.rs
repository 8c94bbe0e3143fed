//! `_cat/indices` and `_cat/health`: tables, as JSON or for people.

use std::borrow::Cow;
use std::cmp::Ordering;

use canter_names::matches_pattern;
use canter_protocol::HttpResponse;
use canter_split_format::ManifestFile;
use serde_json::Value;

use super::cluster::{CLUSTER, text};
use crate::SearchError;
use crate::api::elastic::errors::elastic_response;
use crate::api::elastic::given::params::UrlParams;
use crate::api::indexes::amounts;
use crate::api::settings::ApiSettings;

/// A column: its name and aliases, separated by commas, and whether its cells are numbers.
type Column = (&'static str, bool);

/// The columns of indexes.
static INDICES: [Column; 10] = [
    ("health,h", false),
    ("status,s", false),
    ("index,i,idx", false),
    ("uuid,id", false),
    ("pri,p,shards.primary,shardsPrimary", true),
    ("rep,r,shards.replica,shardsReplica", true),
    ("docs.count,dc,docsCount", true),
    ("docs.deleted,dd,docsDeleted", true),
    ("store.size,ss,storeSize", true),
    ("pri.store.size", true),
];

/// The columns of the number of documents.
static COUNT: [Column; 3] = [
    ("epoch,t,time", true),
    ("timestamp,ts,hms,hhmmss", false),
    ("count,dc,docs.count,docsCount", true),
];

/// The columns of the cluster's health.
static HEALTH: [Column; 2] = [("cluster,cl", false), ("status,st", false)];

/// Units of bytes, each 1,024 times the one before.
const UNITS: [&str; 11] = ["b", "kb", "mb", "gb", "tb", "pb", "k", "m", "g", "t", "p"];

/// One cell for each column.
type Row = Vec<Value>;

/// Layout of a table.
#[derive(Debug)]
pub(crate) struct Table {
    columns: &'static [Column],
    is_json: bool,
    /// The positions of shown columns, and their titles, which are the names in the request.
    shown: Vec<(usize, String)>,
    has_header: bool,
    /// The positions of columns to sort by, and whether the largest comes first.
    sort: Vec<(usize, bool)>,
    /// Unit of sizes, in bytes.
    unit: Option<u64>,
    /// True if no index matches the requested state.
    is_empty: bool,
    /// True if the table has the number of documents of all indexes, and no row for each.
    is_count: bool,
}

fn names_of((names, _): &Column) -> impl Iterator<Item = &'static str> {
    names.split(',')
}

impl Table {
    /// Parses the layout of a table of indexes.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(in crate::api::elastic) fn of_indices(params: &mut UrlParams) -> Result<Self, SearchError> {
        let health = params.choice("health", &["green", "yellow", "red"])?;
        let is_empty = health.is_some_and(|health| health != "green");
        let unit = params.choice("bytes", &UNITS)?;
        let unit = unit.and_then(|unit| {
            let initials = "bkmgtp".chars();
            let mut powers = (0_u32..).zip(initials);
            let power = powers.find(|(_, initial)| unit.starts_with(*initial))?.0;
            Some(1_u64 << (10 * power))
        });
        Ok(Self {
            unit,
            is_empty,
            ..Self::of(params, &INDICES)?
        })
    }

    /// Parses the layout of the number of documents.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(in crate::api::elastic) fn of_count(params: &mut UrlParams) -> Result<Self, SearchError> {
        Ok(Self {
            is_count: true,
            ..Self::of(params, &COUNT)?
        })
    }

    /// Parses the layout of the cluster's health, which has no options.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(in crate::api::elastic) fn of_health(
        params: &mut UrlParams,
    ) -> Result<HttpResponse, SearchError> {
        let rows = vec![vec![CLUSTER.into(), "green".into()]];
        Ok(Self::of(params, &HEALTH)?.response(rows))
    }

    fn of(params: &mut UrlParams, columns: &'static [Column]) -> Result<Self, SearchError> {
        let mut shown: Vec<(usize, String)> = Vec::new();
        // Unknown names of columns are ignored, as in Elasticsearch.
        for wanted in params.names("h").unwrap_or_else(|| vec!["*".to_owned()]) {
            for (place, column) in columns.iter().enumerate() {
                if !names_of(column).any(|name| matches_pattern(&wanted, name)) {
                    continue;
                }
                let title = match wanted.contains('*') {
                    true => names_of(column).next().unwrap_or_default(),
                    false => wanted.as_str(),
                };
                // Each column once, even if it is named repeatedly.
                if !shown.iter().any(|(_, known)| known == title) {
                    shown.push((place, title.to_owned()));
                }
            }
        }
        let sort = params.names("s").unwrap_or_default().into_iter();
        let sort = sort.map(|key| {
            let (wanted, order) = key.split_once(':').unwrap_or((key.as_str(), "asc"));
            let mut all = columns.iter();
            let place = all.position(|column| names_of(column).any(|name| name == wanted));
            match (place, order) {
                (Some(place), "asc" | "desc") => Ok((place, order == "desc")),
                _ => {
                    let names = columns.iter().filter_map(|column| names_of(column).next());
                    let names: Vec<&str> = names.collect();
                    Err(SearchError::invalid(format!(
                        "Unable to sort by unknown sort key `{key}`: there are {}, each with :asc or :desc",
                        names.join(", ")
                    )))
                }
            }
        });
        Ok(Self {
            sort: sort.collect::<Result<_, _>>()?,
            columns,
            is_json: params.is_json()?,
            shown,
            has_header: params.flag("v")?.unwrap_or(false),
            unit: None,
            is_empty: false,
            is_count: false,
        })
    }

    /// Returns the table of these indexes.
    pub(in crate::api::elastic) fn of_these(
        &self,
        found: &[(String, ManifestFile)],
        settings: &ApiSettings,
    ) -> HttpResponse {
        if self.is_count {
            let counted = found.iter().map(|(_, file)| counts(file, settings));
            let counted = counted.map(|counts| counts.map(|(num_live, _, _)| num_live));
            return self.response(vec![count_row(counted.sum(), settings.now_ms)]);
        }
        let rows = found.iter().filter(|_| !self.is_empty);
        let rows = rows.map(|(name, file)| self.row(name, file, settings));
        self.response(rows.collect())
    }

    fn response(&self, mut rows: Vec<Row>) -> HttpResponse {
        canter_sorting::sort_by(&mut rows, |left, right| self.compare(left, right));
        if self.is_json {
            let rows = rows.iter().map(|row| {
                let cells = self.shown.iter();
                let cells = cells.filter_map(|(place, title)| {
                    let shown = self.shown_cell(row, *place).map(Value::from);
                    Some((title.clone(), shown.or_else(|| row.get(*place).cloned())?))
                });
                Value::Object(cells.collect())
            });
            return elastic_response(200, &rows.collect());
        }
        let mut lines: Vec<Vec<Cow<'_, str>>> = Vec::new();
        if self.has_header {
            let titles = self.shown.iter();
            lines.push(titles.map(|(_, title)| title.as_str().into()).collect());
        }
        for row in &rows {
            let cells = self.shown.iter();
            let cells = cells.map(|(place, _)| self.shown_cell(row, *place).unwrap_or("-".into()));
            lines.push(cells.collect());
        }
        text(aligned(&lines))
    }

    /// Returns a cell as people read it: a size in the largest unit of which it has at least one, unless the request
    /// names a unit.
    fn shown_cell<'r>(&self, row: &'r [Value], place: usize) -> Option<Cow<'r, str>> {
        let cell = cell(row, place)?;
        let column = self.columns.get(place)?;
        let is_size = names_of(column).any(|name| name.ends_with(".size"));
        let bytes = cell.strip_suffix('b').filter(|_| is_size);
        Some(match bytes.and_then(|bytes| bytes.parse().ok()) {
            Some(bytes) => readable(bytes).into(),
            None => cell.into(),
        })
    }

    fn row(&self, name: &str, file: &ManifestFile, settings: &ApiSettings) -> Row {
        let counts = counts(file, settings);
        let shown = |of: fn((u64, u64, u64)) -> u64| match counts {
            Some(counts) => Value::from(of(counts).to_string()),
            None => Value::Null,
        };
        let size = counts.map_or(Value::Null, |(_, _, bytes)| match self.unit {
            Some(unit) => (bytes / unit.max(1)).to_string().into(),
            None => format!("{bytes}b").into(),
        });
        vec![
            "green".into(),
            "open".into(),
            name.into(),
            name.into(),
            "1".into(),
            "0".into(),
            shown(|(num_live, _, _)| num_live),
            shown(|(_, num_deleted, _)| num_deleted),
            size.clone(),
            size,
        ]
    }

    fn compare(&self, left: &[Value], right: &[Value]) -> Ordering {
        for (place, is_descending) in &self.sort {
            let (left, right) = (cell(left, *place), cell(right, *place));
            let order = match self.columns.get(*place) {
                Some((_, true)) => number(left).cmp(&number(right)),
                _ => left.cmp(&right),
            };
            if order != Ordering::Equal {
                return match is_descending {
                    true => order.reverse(),
                    false => order,
                };
            }
        }
        Ordering::Equal
    }
}

/// Returns the row of a number of documents, at a time if the host says one.
fn count_row(num_docs: Option<u64>, now_ms: Option<i64>) -> Row {
    const DAY_SECS: i64 = 86_400;
    let secs = now_ms.unwrap_or(0).div_euclid(1_000);
    let of_day = secs.rem_euclid(DAY_SECS);
    let (hours, minutes) = (of_day / 3_600, of_day / 60 % 60);
    vec![
        secs.to_string().into(),
        format!("{hours:02}:{minutes:02}:{:02}", of_day % 60).into(),
        num_docs.map_or(Value::Null, |num_docs| num_docs.to_string().into()),
    ]
}

fn cell(row: &[Value], place: usize) -> Option<&str> {
    row.get(place).and_then(Value::as_str)
}

/// Returns the number in a cell, which may be followed by a unit.
fn number(cell: Option<&str>) -> Option<u64> {
    cell?.trim_end_matches('b').parse().ok()
}

/// Returns a size with at most one decimal, such as `386.2kb` or `12b`. Further decimals are cut off, as in Elasticsearch.
fn readable(bytes: u64) -> String {
    let mut units = UNITS.iter().take(6);
    let mut unit = units.next().copied().unwrap_or_default();
    let mut tenths = u128::from(bytes) * 10;
    for larger in units {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1_024;
        unit = larger;
    }
    match tenths % 10 {
        0 => format!("{}{unit}", tenths / 10),
        tenth => format!("{}.{tenth}{unit}", tenths / 10),
    }
}

/// Returns lines with aligned cells.
fn aligned(lines: &[Vec<Cow<'_, str>>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        widths.resize(line.len(), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut body = String::new();
    for line in lines {
        for (place, (cell, width)) in line.iter().zip(&widths).enumerate() {
            body.push_str(cell);
            if place + 1 < line.len() {
                let missing = width.saturating_sub(cell.chars().count());
                body.push_str(&" ".repeat(missing + 1));
            }
        }
        body.push('\n');
    }
    body
}

/// Returns the numbers of documents and bytes of an index; `None` for a caller with a forced filter.
pub(in crate::api::elastic) fn counts(
    file: &ManifestFile,
    settings: &ApiSettings,
) -> Option<(u64, u64, u64)> {
    settings.forced_filter.is_none().then(|| amounts(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(query: &str) -> UrlParams {
        UrlParams::of(query).unwrap()
    }

    fn body(response: HttpResponse) -> String {
        String::from_utf8(response.body).unwrap()
    }

    /// Returns a table of indexes with these names, numbers of documents and sizes; without numbers where they are
    /// hidden.
    fn shown(query: &str, indexes: &[(&str, Option<(u64, u64)>)]) -> String {
        let rows = indexes.iter().map(|(name, told)| {
            let mut row: Row = ["green", "open", *name, *name, "1", "0"]
                .map(Value::from)
                .into();
            let (num_docs, size) = match told {
                Some((docs, bytes)) => (docs.to_string().into(), format!("{bytes}b").into()),
                None => (Value::Null, Value::Null),
            };
            row.extend([num_docs, "0".into(), size.clone(), size]);
            row
        });
        let table = Table::of_indices(&mut params(query)).unwrap();
        body(table.response(rows.collect()))
    }

    #[test]
    fn sizes_are_shown_as_people_read_them() {
        for (bytes, expected) in [
            (0, "0b"),
            (1_023, "1023b"),
            (1_024, "1kb"),
            (1_536, "1.5kb"),
            (395_516, "386.2kb"),
            (1_048_575, "1023.9kb"),
            (2 << 30, "2gb"),
            (u64::MAX, "16383.9pb"),
        ] {
            assert_eq!(readable(bytes), expected, "{bytes}");
        }
        let told = [("5b", Some((1, 2_048)))];
        assert_eq!(shown("h=index,store.size", &told), "5b 2kb\n");
        assert_eq!(shown("h=index,store.size&bytes=b", &told[..0]), "");
    }

    #[test]
    fn numbers_are_sorted_as_numbers_and_names_as_text() {
        let indexes = [
            ("9", Some((10, 5))),
            ("a", Some((9, 1_000))),
            ("hidden", None),
            ("10", Some((100, 20))),
            ("9b", Some((9, 30))),
            ("b", Some((9, 4))),
        ];
        for (query, expect) in [
            ("h=i&s=index", "10\n9\n9b\na\nb\nhidden\n"),
            ("h=i&s=i:desc", "hidden\nb\na\n9b\n9\n10\n"),
            ("h=i&s=dc,idx", "hidden\n9b\na\nb\n9\n10\n"),
            ("h=i&s=docs.count:desc,i", "10\n9\n9b\na\nb\nhidden\n"),
            ("h=i&s=ss", "hidden\nb\n9\n10\n9b\na\n"),
        ] {
            assert_eq!(shown(query, &indexes), expect, "{query}");
        }
    }

    #[test]
    fn the_number_of_documents_has_the_time_of_day() {
        let table = |query| Table::of_count(&mut params(query)).unwrap();
        let row = || vec![count_row(Some(7), Some(1_714_557_661_500))];
        let lines = "epoch      timestamp count\n1714557661 10:01:01  7\n";
        assert_eq!(body(table("v").response(row())), lines);
        assert_eq!(body(table("h=dc").response(row())), "7\n");
        let hidden = vec![count_row(None, None)];
        assert_eq!(body(table("").response(hidden)), "0 00:00:00 -\n");
    }

    #[test]
    fn columns_have_short_names_under_which_they_are_shown() {
        let indexes = [("logs", Some((7, 90)))];
        for (query, expect) in [
            ("v&h=i,dc,ss", "i    dc ss\nlogs 7  90b\n"),
            ("v&h=index,i,i,nothing", "index i\nlogs  logs\n"),
            (
                "v&h=p,r,d*",
                "p r docs.count docs.deleted\n1 0 7          0\n",
            ),
            (
                "format=json&h=h,s,id,docsCount",
                "[{\"h\":\"green\",\"s\":\"open\",\"id\":\"logs\",\"docsCount\":\"7\"}]",
            ),
        ] {
            assert_eq!(shown(query, &indexes), expect, "{query}");
        }
        let unknown = Table::of_indices(&mut params("s=sss")).unwrap_err();
        assert!(
            unknown.message.contains("unknown sort key `sss`"),
            "{unknown}"
        );
    }

    #[test]
    fn the_health_is_a_table_as_well() {
        for (query, expect) in [
            ("", "canter green\n"),
            ("v", "cluster status\ncanter  green\n"),
            ("v&h=st,cl&s=cl:desc", "st    cl\ngreen canter\n"),
            (
                "format=json",
                "[{\"cluster\":\"canter\",\"status\":\"green\"}]",
            ),
            ("format=json&h=cl", "[{\"cl\":\"canter\"}]"),
        ] {
            let response = Table::of_health(&mut params(query)).unwrap();
            assert_eq!(body(response), expect, "{query}");
        }
        let unknown = Table::of_health(&mut params("s=index")).unwrap_err();
        assert!(
            unknown.message.contains("there are cluster, status"),
            "{unknown}"
        );
    }
}
