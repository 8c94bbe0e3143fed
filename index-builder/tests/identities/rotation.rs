//! Logs that are rotated while they are ingested: each line is in the index once, regardless of the name of its file.

use std::fs;

use super::feeding::{Fed, gzipped};

/// Way to rotate `app.log`.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// `app.log` → `app.log.1`, and the number of each older file grows by one; `.gz` from the second on.
    Numbers,
    /// `app.log` → `app.log-20240501`, compressed at once.
    Days,
    /// The name of the current file contains the day.
    DayInName,
    /// The file is copied and then emptied.
    CopyTruncate,
}

const WAYS: [Way; 4] = [Way::Numbers, Way::Days, Way::DayInName, Way::CopyTruncate];

impl Way {
    fn live(self, day: usize) -> String {
        match self {
            Way::DayInName => format!("app-2024-05-{day:02}.log"),
            _ => "app.log".to_owned(),
        }
    }

    /// Rotates, and calls `between` after each step.
    fn rotate(self, fed: &Fed, day: usize, between: &mut dyn FnMut(&Fed)) {
        match self {
            Way::Numbers => {
                for number in (1..9).rev() {
                    let shift = |from: &str, to: &str| {
                        if fed.path(from).is_file() {
                            fed.rename(from, to);
                        }
                    };
                    let next = number + 1;
                    shift(
                        &format!("app.log.{number}.gz"),
                        &format!("app.log.{next}.gz"),
                    );
                    shift(&format!("app.log.{number}"), &format!("app.log.{next}"));
                }
                between(fed);
                fed.rename("app.log", "app.log.1");
                between(fed);
                if fed.path("app.log.2").is_file() {
                    compress(fed, "app.log.2", between);
                }
            }
            Way::Days => {
                let to = format!("app.log-202405{day:02}");
                fed.rename("app.log", &to);
                between(fed);
                compress(fed, &to, between);
            }
            Way::DayInName => compress(fed, &self.live(day), between),
            Way::CopyTruncate => {
                let to = format!("app.log.2024-05-{day:02}");
                let text = fs::read_to_string(fed.path("app.log")).unwrap();
                fed.write(&to, &text[..text.len() / 2]);
                between(fed);
                fed.write(&to, &text);
                between(fed);
                fed.write("app.log", "");
            }
        }
        between(fed);
    }
}

/// Compresses a file and then removes it; for a while, only half of the compressed file exists.
fn compress(fed: &Fed, name: &str, between: &mut dyn FnMut(&Fed)) {
    let packed = gzipped(&fs::read(fed.path(name)).unwrap());
    let to = format!("{name}.gz");
    fed.write(&to, &packed[..packed.len() / 2]);
    between(fed);
    fed.write(&to, &packed);
    between(fed);
    fed.remove(name);
    between(fed);
}

#[test]
fn twenty_lines_over_four_days_are_twenty_documents() {
    for way in WAYS {
        let fed = Fed::new();
        let mut expected = Vec::new();
        for day in 1..=4 {
            for number in 1..=5 {
                let line = format!("line {day}.{number}");
                fed.append(
                    &way.live(day),
                    &format!("2024-05-0{day} 10:00:0{number} INFO {line}\n"),
                );
                expected.push(line);
                if number != 4 {
                    fed.ingest_all();
                }
            }
            way.rotate(&fed, day, &mut |fed| drop(fed.ingest_all()));
        }
        fed.check(&expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// Program that writes lines, and the rotation of its log.
struct Writer {
    fed: Fed,
    rng: u64,
    way: Way,
    kind: Kind,
    day: usize,
    num_lines: usize,
    /// Rest of the last line that is not written yet.
    rest: String,
    expected: Vec<String>,
    num_ingests: usize,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Lines,
    Ndjson,
    Csv,
    Log,
}

const KINDS: [Kind; 4] = [Kind::Lines, Kind::Ndjson, Kind::Csv, Kind::Log];
/// With more ingests, splits would move into pages, which have no tags.
const MAX_INGESTS: usize = 40;

impl Writer {
    fn new(seed: u64) -> Writer {
        let seed_of = |number: u64| usize::try_from((seed / number) % 4).unwrap();
        Writer {
            fed: Fed::new(),
            rng: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            way: WAYS[seed_of(1)],
            kind: KINDS[seed_of(4)],
            day: 1,
            num_lines: 0,
            rest: String::new(),
            expected: Vec::new(),
            num_ingests: 0,
        }
    }

    fn below(&mut self, max: u64) -> u64 {
        self.rng ^= self.rng << 13;
        self.rng ^= self.rng >> 7;
        self.rng ^= self.rng << 17;
        self.rng % max
    }

    fn ingest(&mut self) {
        if self.num_ingests < MAX_INGESTS {
            self.num_ingests += 1;
            self.fed.ingest_all();
        }
    }

    /// Returns the text of a new record, after the header if the file is new.
    fn record(&mut self) -> String {
        self.num_lines += 1;
        let number = self.num_lines;
        // The quotation mark keeps any part of the message from being recognized as a logger.
        let line = format!("'line {number}'");
        let path = self.fed.path(&self.way.live(self.day));
        let is_new = fs::metadata(path).map_or(0, |meta| meta.len()) == 0;
        let text = match self.kind {
            Kind::Lines => format!("{line}\n"),
            Kind::Ndjson => format!("{{\"message\":\"{line}\"}}\n"),
            Kind::Csv if is_new => format!("message,size\n{line},12345\n"),
            Kind::Csv => format!("{line},12345\n"),
            Kind::Log => {
                let mut text = format!(
                    "2024-05-01 10:{:02}:{:02} INFO {line}\n",
                    number / 60,
                    number % 60
                );
                for trace in 0..self.below(3) {
                    let trace = format!("\t'at line {number} {trace}'");
                    text.push_str(&format!("{trace}\n"));
                    self.expected.push(trace);
                }
                text
            }
        };
        self.expected.push(line);
        text
    }

    fn append(&mut self, text: &str) {
        self.fed.append(&self.way.live(self.day), text);
    }

    fn end_line(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.append(&rest);
    }

    fn step(&mut self) {
        match self.below(12) {
            0..=3 => {
                self.end_line();
                let text = self.record();
                self.append(&text);
            }
            4 | 5 => {
                self.end_line();
                let text = self.record();
                let cut = usize::try_from(self.below(text.len() as u64)).unwrap();
                self.append(&text[..cut]);
                text[cut..].clone_into(&mut self.rest);
            }
            6 => {
                self.end_line();
                // The log must exist to be rotated.
                let text = self.record();
                self.append(&text);
                let (way, day) = (self.way, self.day);
                let mut num_ingests = self.num_ingests;
                let asks = self.below(1 << 16);
                let mut place = 0;
                way.rotate(&self.fed, day, &mut |fed| {
                    place += 1;
                    if asks >> place & 1 == 1 && num_ingests < MAX_INGESTS {
                        num_ingests += 1;
                        fed.ingest_all();
                    }
                });
                self.num_ingests = num_ingests;
                self.day += 1;
            }
            7 => {
                // Unread lines would be lost with their file, so they are ingested before.
                self.end_line();
                if self.num_ingests < MAX_INGESTS {
                    self.ingest();
                    let live = self.way.live(self.day);
                    match self.below(2) {
                        0 => self.fed.write(&live, ""),
                        _ => {
                            self.fed.write("new", "");
                            self.fed.rename("new", &live);
                        }
                    }
                }
            }
            _ => self.ingest(),
        }
    }
}

#[test]
fn every_line_is_there_once_in_every_schedule() {
    let seeds = std::env::var("CANTER_FEEDING_SEEDS").ok();
    let seeds: u64 = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(16);
    for seed in 0..seeds {
        let mut writer = Writer::new(seed);
        for _ in 0..60 {
            writer.step();
        }
        writer.end_line();
        let (way, kind) = (writer.way, writer.kind);
        let mut expected = std::mem::take(&mut writer.expected);
        expected.sort();
        writer.fed.finish();
        let again = writer.fed.finish();
        assert_eq!(again.num_ingested_docs, 0, "seed {seed}: {way:?} {kind:?}");
        let lines = writer.fed.lines();
        let found: Vec<String> = lines
            .iter()
            .flat_map(|(line, num)| (0..*num).map(move |_| line.clone()))
            .collect();
        let missing: Vec<&String> = expected
            .iter()
            .filter(|line| !found.contains(line))
            .collect();
        assert_eq!(
            found, expected,
            "seed {seed}: {way:?} {kind:?}, missing {missing:?}"
        );
    }
}
