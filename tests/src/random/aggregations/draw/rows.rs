//! Histograms and ranges.

use rand::{Rng, RngExt};
use serde_json::{Value, json};

use super::super::expect::scalar;
use super::super::zones::FORMATS;
use super::{is_column, is_date, is_number};
use crate::random::asked::generate::Generator;
use crate::random::dates;
use crate::random::documents::one_of;
use crate::random::schema::Kind;
use crate::random::truth::table::{Scalar, literal};

impl<R: Rng> Generator<'_, R> {
    pub(super) fn histogram(&mut self) -> Option<Value> {
        let path = self.path(|field| is_number(field) && field.is_small)?;
        let interval = *one_of(&mut self.rng, &[0.5, 1.0, 2.5, 10.0, 0.1, 3.0]);
        let mut body = json!({ "field": path, "interval": interval });
        if self.flip(0.3) {
            body["offset"] = json!(interval * *one_of(&mut self.rng, &[0.25, -0.5, 3.0, 0.7]));
        }
        if self.flip(0.2) {
            body["missing"] = one_of(
                &mut self.rng,
                &[json!(0), json!(-7), json!(2.5), json!(100)],
            )
            .clone();
        }
        let middle = f64::from(self.rng.random_range(-12..12)) / 2.0;
        if self.flip(0.2) {
            body["hard_bounds"] = json!({ "min": middle - 6.0, "max": middle + 6.0 });
        }
        if self.flip(0.2) {
            body["extended_bounds"] = json!({ "min": middle - 5.5, "max": middle + 5.0 });
        } else if self.flip(0.6) {
            body["min_doc_count"] = json!(self.rng.random_range(0..4));
        }
        self.row(&mut body);
        Some(body)
    }

    pub(super) fn row(&mut self, body: &mut Value) {
        if self.flip(0.2) {
            body["keyed"] = json!(self.flip(0.8));
        }
        if self.flip(0.3) {
            let by = *one_of(&mut self.rng, &["_key", "_count"]);
            body["order"] = json!({ by: self.asc() });
        }
    }

    pub(super) fn date(&mut self, path: &str) -> Value {
        let nanos = match self.value_of(path) {
            Some(Scalar::Date(nanos)) => nanos,
            _ => crate::random::documents::date(&mut self.rng),
        };
        let nanos = nanos.div_euclid(dates::MILLISECOND) * dates::MILLISECOND;
        match self.flip(0.5) {
            true => json!(dates::write(nanos)),
            false => json!(nanos / dates::MILLISECOND),
        }
    }

    pub(super) fn zone(&mut self, body: &mut Value) {
        if self.flip(0.5) {
            let zones = [
                "Europe/Berlin",
                "America/New_York",
                "Australia/Lord_Howe",
                "Asia/Kathmandu",
                "+05:30",
                "-02:00",
                "America/Sao_Paulo",
                "Africa/Cairo",
            ];
            body["time_zone"] = json!(one_of(&mut self.rng, &zones));
        }
    }

    /// Draws interval, zone, offset and format; returns whether there may be very many buckets.
    pub(super) fn interval(&mut self, body: &mut Value) -> bool {
        let (name, text, is_short) = *one_of(
            &mut self.rng,
            &[
                ("fixed_interval", "1ms", true),
                ("fixed_interval", "250ms", true),
                ("fixed_interval", "7s", true),
                ("fixed_interval", "30m", true),
                ("fixed_interval", "5h", true),
                ("fixed_interval", "1d", true),
                ("fixed_interval", "45d", false),
                ("fixed_interval", "3650d", false),
                ("calendar_interval", "1s", true),
                ("calendar_interval", "minute", true),
                ("calendar_interval", "1h", true),
                ("calendar_interval", "day", true),
                ("calendar_interval", "1w", true),
                ("calendar_interval", "month", false),
                ("calendar_interval", "1q", false),
                ("calendar_interval", "year", false),
                ("calendar_interval", "1y", false),
            ],
        );
        body[name] = json!(text);
        self.zone(body);
        if self.flip(0.3) {
            body["offset"] = json!(one_of(&mut self.rng, &["6h", "-1d", "30m", "-90s", "1ms"]));
        }
        is_short
    }

    pub(super) fn date_histogram(&mut self, depth: usize) -> Option<Value> {
        let path = self.path(is_date)?;
        let mut body = json!({ "field": path });
        let is_short = self.interval(&mut body);
        if self.flip(0.3) {
            body["format"] = json!(one_of(&mut self.rng, &FORMATS));
        }
        let can_read = !body["format"].is_string();
        if self.flip(0.2) && can_read {
            body["missing"] = self.date(&path);
        }
        if self.flip(0.2) && can_read {
            let mut ends = [self.date(&path), self.date(&path)];
            ends.sort_by_key(nanos_of);
            let [min, max] = ends;
            body["hard_bounds"] = json!({ "min": min, "max": max });
        }
        if !is_short && depth == 1 && self.flip(0.3) && can_read && body["hard_bounds"].is_null() {
            let mut ends = [self.date(&path), self.date(&path)];
            ends.sort_by_key(nanos_of);
            let [min, max] = ends;
            body["extended_bounds"] = json!({ "min": min, "max": max });
        } else if is_short || depth > 1 || self.flip(0.5) {
            body["min_doc_count"] = json!(self.rng.random_range(1..4));
        }
        self.row(&mut body);
        // Names must be distinct.
        if body["format"].is_string() {
            body["keyed"] = json!(false);
        }
        Some(body)
    }

    pub(super) fn auto_date_histogram(&mut self) -> Option<Value> {
        let path = self.path(|field| is_date(field) && !field.multi)?;
        let mut body = json!({ "field": path });
        if self.flip(0.7) {
            body["buckets"] = json!(self.rng.random_range(1..20));
        }
        if self.flip(0.3) {
            let units = ["second", "minute", "hour", "day", "month", "year"];
            body["minimum_interval"] = json!(one_of(&mut self.rng, &units));
        }
        if self.flip(0.2) {
            body["missing"] = self.date(&path);
        } else if self.flip(0.3) {
            body["format"] = json!(one_of(&mut self.rng, &FORMATS));
        }
        self.zone(&mut body);
        Some(body)
    }

    pub(super) fn ranges(&mut self) -> Option<(&'static str, Value)> {
        let kind = *one_of(&mut self.rng, &["range", "date_range", "ip_range", "range"]);
        let path = match kind {
            "range" => self.path(is_number),
            "date_range" => self.path(is_date),
            _ => self.path(|field| is_column(field) && field.kind == Kind::Ip),
        }?;
        let mut body = json!({ "field": path });
        let mut ranges = Vec::new();
        for nth in 0..self.rng.random_range(1..5) {
            let mut ends = [self.end(kind, &path), self.end(kind, &path)];
            ends.sort_by_key(|end| order_of(kind, end));
            let [from, to] = ends;
            let mut range = json!({ "key": format!("r{nth}") });
            let is_empty = order_of(kind, &from) == order_of(kind, &to);
            match self.rng.random_range(0..4) {
                0 => range["from"] = from,
                1 => range["to"] = to,
                _ if is_empty => range["from"] = from,
                _ => (range["from"], range["to"]) = (from, to),
            }
            if kind == "ip_range" && self.flip(0.3) {
                let masks = ["10.0.0.0/24", "10.0.1.4/30", "2001:db8::/32"];
                range = json!({ "mask": one_of(&mut self.rng, &masks) });
                if nth > 0 {
                    range["key"] = json!(format!("r{nth}"));
                }
            } else if self.flip(0.4)
                && ranges.is_empty()
                && let Some(range) = range.as_object_mut()
            {
                range.remove("key");
            }
            ranges.push(range);
        }
        body["ranges"] = json!(ranges);
        if self.flip(0.3) {
            body["keyed"] = json!(true);
        }
        if self.flip(0.2) {
            body["missing"] = self.end(kind, &path);
        }
        if kind == "date_range" {
            self.zone(&mut body);
        }
        Some((kind, body))
    }

    pub(super) fn end(&mut self, kind: &str, path: &str) -> Value {
        match kind {
            "range" => match self.value_of(path).and_then(|value| value.as_f64()) {
                Some(number) if self.flip(0.5) => json!(number),
                _ => json!(f64::from(self.rng.random_range(-20..20)) / 2.0),
            },
            "date_range" => self.date(path),
            _ => {
                let value = self.value_of(path);
                let fallback = crate::random::documents::ip(&mut self.rng);
                value.map_or(json!(fallback), |value| json!(literal(&value)))
            }
        }
    }
}

fn nanos_of(date: &Value) -> i64 {
    match date.as_str() {
        Some(text) => dates::read(text).unwrap(),
        None => date.as_i64().unwrap() * dates::MILLISECOND,
    }
}

/// Returns a sort key of bounds: addresses as such, and numbers by their bits.
fn order_of(kind: &str, end: &Value) -> (i128, u128) {
    match kind {
        "date_range" => (nanos_of(end).into(), 0),
        "range" => {
            let bits = scalar(end).and_then(|end| end.as_f64()).unwrap_or_default() + 0.0;
            let bits = i128::from(bits.to_bits().cast_signed());
            (
                if bits < 0 {
                    -(bits & i128::from(i64::MAX))
                } else {
                    bits
                },
                0,
            )
        }
        _ => (
            0,
            crate::random::truth::table::ip(end.as_str().unwrap()).unwrap(),
        ),
    }
}
