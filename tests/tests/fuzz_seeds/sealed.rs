//! Damaged splits with valid checksums, as generated inputs of the fuzz target `sealed_split`.
//! Findings are panics, caught or not, aborts, more memory than a small process has, and searches
//! that do not end.
//!
//! `CANTER_DAMAGES` is the number of damages (200 by default), `CANTER_DAMAGE_SEED` the first seed
//! (0 by default). Inputs are examined in separate processes: when one of them aborts, the others
//! continue. `CANTER_PANIC_TRACE` shows the origin of each panic.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::targets;

/// Variable with the damages that a process examines and the path of its log.
const OF_CHILD: &str = "CANTER_DAMAGES_OF_CHILD";

/// Address space of such a process in KiB. The program alone maps several hundred megabytes.
const MEMORY_KB: u64 = 2 << 20;

/// Time after which a damage counts as endless.
const PATIENCE: Duration = Duration::from_secs(120);

fn number(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().unwrap())
}

fn input(seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

#[test]
fn the_sound_index_is_answered_whole() {
    let _alone = super::HOOK.lock();
    targets::answer_sound_index();
}

#[test]
fn damage_behind_right_checksums_does_no_harm() {
    if let Ok(child) = std::env::var(OF_CHILD) {
        return examine(&child);
    }
    let first = number("CANTER_DAMAGE_SEED", 0);
    let num = number("CANTER_DAMAGES", 200);
    let folder = tempfile::tempdir().unwrap();
    let num_processes =
        std::thread::available_parallelism().map_or(2, |num| num.get().min(8)) as u64;
    let share = num.div_ceil(num_processes).max(1);
    let mut parts = Vec::new();
    for nth in 0..num_processes {
        let from = first + (nth * share).min(num);
        let seeds = from..(from + share).min(first + num);
        let log = folder.path().join(nth.to_string());
        parts.push(std::thread::spawn(move || run(seeds, &log)));
    }
    let mut found = Found::default();
    for part in parts {
        found.add(part.join().unwrap());
    }
    println!("{num} damages\n{found}");
    assert!(found.num_to_mend == 0, "damages that did harm\n{found}");
}

/// Findings by place.
#[derive(Default)]
struct Found {
    /// Number of occurrences and first seed of each place.
    places: BTreeMap<String, (u64, u64)>,
    num_to_mend: u64,
}

impl Found {
    fn note(&mut self, place: String, seed: u64, num: u64) {
        let (total, first) = self.places.entry(place).or_insert((0, seed));
        *total += num;
        *first = seed.min(*first);
    }

    fn add(&mut self, other: Self) {
        for (place, (num, seed)) in other.places {
            self.note(place, seed, num);
        }
        self.num_to_mend += other.num_to_mend;
    }

    /// Reads the log of a process, and returns the damage that it examined last.
    fn read(&mut self, log: &str) -> Option<u64> {
        let mut current = None;
        for line in log.lines() {
            match line.split_once(' ') {
                Some(("seed", seed)) => current = seed.parse().ok(),
                Some((how, place)) => {
                    self.num_to_mend += u64::from(how != "contained");
                    self.note(format!("{how} {place}"), current.unwrap_or_default(), 1);
                }
                None => {}
            }
        }
        current
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_by_key(|(_, (num, _))| std::cmp::Reverse(*num));
        for (place, (num, seed)) in places {
            writeln!(formatter, "{num:6}  {place}  (seed {seed})")?;
        }
        Ok(())
    }
}

/// Examines damages in processes, with a new process after each one that ended early.
fn run(mut seeds: Range<u64>, log: &Path) -> Found {
    let mut found = Found::default();
    while !seeds.is_empty() {
        File::create(log).unwrap();
        let mut child = start(&seeds, log);
        let end = wait(&mut child, log);
        let text = std::fs::read_to_string(log).unwrap();
        let last = found.read(&text);
        if end.is_none() {
            return found;
        }
        let last = last.expect("a process examines something before it ends");
        found.num_to_mend += 1;
        found.note(end.unwrap_or_default(), last, 1);
        seeds.start = last + 1;
    }
    found
}

fn start(seeds: &Range<u64>, log: &Path) -> Child {
    let name = format!(
        "{}::damage_behind_right_checksums_does_no_harm",
        module_path!()
    );
    let name = name
        .split_once("::")
        .map_or(name.as_str(), |(_, name)| name);
    let exe = std::env::current_exe().unwrap();
    let mut command = match cfg!(target_os = "linux") {
        true => {
            let mut shell = Command::new("sh");
            let script = format!("ulimit -v {MEMORY_KB}; exec \"$0\" \"$@\"");
            shell.arg("-c").arg(script).arg(exe);
            shell
        }
        false => Command::new(exe),
    };
    let told = format!("{} {} {}", seeds.start, seeds.end, log.display());
    command.args(["--exact", name, "--nocapture"]);
    command
        .env(OF_CHILD, told)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(log.with_extension("err")).unwrap());
    command.spawn().unwrap()
}

/// Waits for a process, and returns how it ended if it did not examine all of its damages.
fn wait(child: &mut Child, log: &Path) -> Option<String> {
    let len = || std::fs::metadata(log).map_or(0, |log| log.len());
    let (mut known, mut since) = (len(), Instant::now());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let said = std::fs::read_to_string(log.with_extension("err")).unwrap_or_default();
            let why = said
                .lines()
                .find(|line| line.starts_with("memory allocation"));
            let why = why.or_else(|| said.lines().rfind(|line| !line.trim().is_empty()));
            let why = why.unwrap_or_default();
            return (!status.success()).then(|| format!("abort {status}: {why}"));
        }
        if len() != known {
            (known, since) = (len(), Instant::now());
        }
        if since.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return Some("no end".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Examines damages in this process, and logs each finding at once.
fn examine(told: &str) {
    let mut told = told.splitn(3, ' ');
    let mut next = || told.next().unwrap();
    let (start, end): (u64, u64) = (next().parse().unwrap(), next().parse().unwrap());
    let mut log = OpenOptions::new().append(true).open(next()).unwrap();
    for seed in start..end {
        log.write_all(format!("seed {seed}\n").as_bytes()).unwrap();
        let findings = targets::examine(&input(seed));
        let mut lines = String::new();
        for panic in &findings.panics {
            let how = match (panic.is_contained(), panic.has_escaped) {
                (true, _) => "contained",
                (false, true) => "escaped",
                (false, false) => "caught",
            };
            let message: String = panic.message.chars().take(120).collect();
            let message = message.replace(|digit: char| digit.is_ascii_digit(), "0");
            writeln!(
                lines,
                "{how} {}: {}",
                panic.place,
                message.replace('\n', " ")
            )
            .unwrap();
        }
        for defect in &findings.defects {
            writeln!(lines, "defect {}", defect.replace('\n', " ")).unwrap();
        }
        log.write_all(lines.as_bytes()).unwrap();
    }
}
