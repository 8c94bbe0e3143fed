//! Two servers write documents with equal ids, and one of them is killed at a random moment, as by `kill -9`, and started
//! again. A model knows what each id may be then: what was acknowledged last, or what was sent after that without an answer.
//!
//! `CANTER_KILLS` (3) is the number of kills, and `CANTER_KILL_SEED` (1) determines their moments and the writes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::thread;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::{Answer, Server};
use crate::serve_managing::{put, status};

const NUM_IDS: u64 = 6;
/// Number of writes of a round at most, if the kill comes late.
const MAX_WRITES: u64 = 400;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What the documents may be: of each id the possible values, of which `None` is no document.
type Model = BTreeMap<String, BTreeSet<Option<u64>>>;

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn start(folder: &std::path::Path) -> Server {
    let args = [
        "--indexes-in",
        "all",
        "--writable",
        "--commit-interval",
        "20ms",
    ];
    Server::of(folder, &args)
}

/// Write of a document, and the value that its id has then.
struct Write {
    id: String,
    method: Method,
    path: String,
    body: Value,
    after: Option<u64>,
    /// Whether it is performed only if the id is free.
    creates: bool,
}

fn write(random: &mut Random, value: u64) -> Write {
    let id = format!("p{}", random.below(NUM_IDS));
    let refresh = ["", "?refresh=false", "?refresh=true"][random.below(3) as usize];
    let path = format!("/shop/_doc/{id}{refresh}");
    match random.below(5) {
        0 => Write {
            method: Method::DELETE,
            path,
            body: Value::Null,
            after: None,
            creates: false,
            id,
        },
        1 => Write {
            method: Method::PUT,
            path: format!("/shop/_create/{id}"),
            body: json!({"n": value}),
            after: Some(value),
            creates: true,
            id,
        },
        _ => Write {
            method: Method::PUT,
            path,
            body: json!({"n": value}),
            after: Some(value),
            creates: false,
            id,
        },
    }
}

/// Notes what an answer says about the id of a write, or that there was none.
fn note(possible: &mut BTreeSet<Option<u64>>, write: &Write, answer: Option<&Answer>) {
    match answer.map(|answer| answer.status) {
        Some(200 | 201) if write.creates => {
            assert!(possible.contains(&None), "{} was there", write.id);
            *possible = BTreeSet::from([write.after]);
        }
        Some(200 | 201) => *possible = BTreeSet::from([write.after]),
        Some(404) if write.after.is_none() => {
            assert!(possible.contains(&None), "{} was there", write.id);
            *possible = BTreeSet::from([None]);
        }
        Some(409) if write.creates => {
            possible.remove(&None);
            assert!(!possible.is_empty(), "{} was not there", write.id);
        }
        // What was not answered may have been performed.
        None | Some(503) => drop(possible.insert(write.after)),
        Some(_) => panic!(
            "{} {}",
            write.path,
            answer.map_or("", |answer| &answer.text)
        ),
    }
}

/// Checks that each id has one document at most, which is a possible one, and goes on from there.
fn check(server: &Server, model: &mut Model, round: u64) {
    let found = server.get("/shop/_search?size=1000").json();
    let mut now: BTreeMap<String, u64> = BTreeMap::new();
    for hit in found["hits"]["hits"].as_array().unwrap() {
        let id = hit["_id"].as_str().unwrap().to_owned();
        let before = now.insert(id.clone(), hit["_source"]["n"].as_u64().unwrap());
        assert_eq!(before, None, "kill {round}: {id} is live twice: {found}");
    }
    for (id, possible) in model.iter_mut() {
        let now = now.remove(id);
        assert!(
            possible.contains(&now),
            "kill {round}: {id} is {now:?}, and may be {possible:?}"
        );
        *possible = BTreeSet::from([now]);
    }
    assert_eq!(now, BTreeMap::new(), "kill {round}");
}

#[test]
fn killed_servers_leave_the_last_acknowledged_version_of_each_id() {
    let folder = tempfile::tempdir().unwrap();
    let num_kills = number("CANTER_KILLS", 3);
    let mut random = Random(number("CANTER_KILL_SEED", 1));
    let mut servers = [start(folder.path()), start(folder.path())];
    let made = put(&servers[0], "/shop", &json!({}));
    assert_eq!(made.status, 200, "{}", made.text);
    let ids = (0..NUM_IDS).map(|id| (format!("p{id}"), BTreeSet::from([None])));
    let mut model: Model = ids.collect();
    let (mut value, mut num_acknowledged) = (0, 0);
    for round in 0..num_kills {
        let victim = random.below(2) as usize;
        let process = servers[victim].id().to_string();
        let pause = Duration::from_millis(random.below(300));
        let killer = thread::spawn(move || {
            thread::sleep(pause);
            let killed = Command::new("kill").args(["-KILL", &process]).status();
            assert!(killed.unwrap().success());
        });
        for _ in 0..MAX_WRITES {
            value += 1;
            let write = write(&mut random, value);
            let server = random.below(2) as usize;
            let body = match &write.body {
                Value::Null => String::new(),
                body => body.to_string(),
            };
            let headers = [("content-type", "application/json")];
            let answer =
                servers[server].try_send(write.method.clone(), &write.path, &headers, body);
            num_acknowledged += u64::from(answer.is_some());
            note(model.get_mut(&write.id).unwrap(), &write, answer.as_ref());
            // What is only safe is in the order of the servers' clocks, in milliseconds.
            thread::sleep(Duration::from_millis(2));
            if answer.is_none() {
                assert_eq!(server, victim, "the other server does not answer");
                break;
            }
        }
        killer.join().unwrap();
        servers[victim] = start(folder.path());
        // The spool of both.
        for ord in [1 - victim, victim] {
            assert_eq!(status(&servers[ord], "POST", "/shop/_refresh"), 200);
        }
        check(&servers[victim], &mut model, round);
    }
    println!("{num_kills} kills, {num_acknowledged} of {value} writes acknowledged");
    assert!(num_acknowledged > num_kills, "{num_acknowledged}");
}
