//! Texts that are no logs: none is taken for one.

use std::fmt::Write;

use crate::log_line::learn_from;

const KINDS: usize = 20;

/// A text of a kind: whatever the seed, no log.
fn text(kind: usize, seed: u64) -> String {
    let mut out = String::new();
    for n in 0..60_u64 {
        let x = (n + 1).wrapping_mul(seed.wrapping_mul(2_654_435_761) | 1) % 99_991;
        let (day, month, year) = (1 + x % 28, 1 + x % 12, 1950 + x % 70);
        let (hour, minute, second) = (x % 24, x % 60, x / 7 % 60);
        let _ = match kind {
            0 => writeln!(
                out,
                "It was in {year} that the {x} ships of the fleet left at {hour}:{minute:02}, and few came back."
            ),
            1 => writeln!(
                out,
                "    let x{n} = f({x}); // since {year}-{month:02}-{day:02}\n}}"
            ),
            2 => writeln!(
                out,
                "{x},name {n},{year}-{month:02}-{day:02},{hour:02}:{minute:02}:{second:02}"
            ),
            3 => writeln!(
                out,
                "{}",
                "aGVsbG8gd29ybGQgMTcxNDU1NzYwMA"
                    .chars()
                    .cycle()
                    .skip((x % 30) as usize)
                    .take(76)
                    .collect::<String>()
            ),
            4 => writeln!(
                out,
                "## {n}. Part of {year}\n\n- one [link]({x})\n- two, at {hour}:{minute:02}\n"
            ),
            5 => writeln!(out, "@@ -{n},{x} +{n},{x} @@\n-old {x}\n+new {x}\n context"),
            6 => writeln!(
                out,
                "INSERT INTO t VALUES ({x}, '{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}', 'a');"
            ),
            7 => writeln!(
                out,
                "{n}\n00:{minute:02}:{second:02},000 --> 00:{minute:02}:{second:02},900\nWhat did you say?\n"
            ),
            8 => writeln!(
                out,
                "alice: see you at {hour}:{minute:02}\nbob: on {day}.{month}.? fine"
            ),
            9 => writeln!(
                out,
                "10.0.{}.{} host{n}.example.com alias{x}",
                x % 256,
                n % 256
            ),
            10 => writeln!(out, "{}{:010}", 2 + x % 8, x * 7_919_999),
            11 => writeln!(
                out,
                "tag v{x}\nTagger: A <a@example.com>\nDate:   Wed May {day} {hour:02}:{minute:02}:{second:02} {year} +0000\n\n    Mend {x}\n"
            ),
            12 => writeln!(
                out,
                "<tr><td>{x}</td><td>{year}-{month:02}-{day:02}</td></tr>"
            ),
            13 => writeln!(out, "key_{n} = \"{x}\"\n[section.{n}]"),
            14 => writeln!(
                out,
                "-rw-r--r-- 1 root root {x} May {day:2} {hour:02}:{minute:02} file{n}.txt"
            ),
            15 => writeln!(
                out,
                "{:.3} {:.3} {:.3}",
                x as f64 / 7.0,
                n as f64,
                x as f64 * 1.5
            ),
            16 => writeln!(
                out,
                "Dear {n},\nwe met on {day} May {year}. Call +49 {x} after {hour}:{minute:02}.\n"
            ),
            17 => writeln!(
                out,
                "error: cannot find `x{n}`\n --> src/main.rs:{x}:{day}\n  |\n{x} |     f();"
            ),
            18 => writeln!(
                out,
                "BEGIN:VEVENT\nDTSTART:{year}{month:02}{day:02}T{hour:02}{minute:02}00Z\nSUMMARY:Meeting {x}\nEND:VEVENT"
            ),
            _ => writeln!(out, "1.{n}.{x}  - fixes\n2.{month}.{day} release of {year}"),
        };
    }
    out
}

#[test]
fn at_most_one_in_a_hundred_texts_that_are_no_logs_is_taken_for_one() {
    let (mut num, mut taken) = (0, Vec::new());
    for kind in 0..KINDS {
        for seed in 1..=50 {
            num += 1;
            let lines: Vec<String> = text(kind, seed)
                .lines()
                .filter(|line| !line.trim().is_empty())
                .map(str::to_string)
                .collect();
            for len in [lines.len(), 3] {
                if learn_from(&lines[..len]).is_some() {
                    taken.push((kind, seed, lines[0].clone()));
                }
            }
        }
    }
    assert!(
        taken.len() * 100 <= num,
        "{} of {num}: {:?}",
        taken.len(),
        &taken[..taken.len().min(9)]
    );
}
