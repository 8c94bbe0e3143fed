//! Tables in the formats of specific programs: Zeek, Postgres.

use serde_json::{Value, json};

use super::super::rng::Rng;
use super::values::WORDS;

type Made = (Vec<u8>, Vec<Value>);

/// Writes a log of connections: `https://docs.zeek.org/en/master/logs/conn.html`.
pub(super) fn zeek(rng: &mut Rng, num_docs: u64) -> Made {
    let names =
        "ts uid id.orig_h id.orig_p proto service duration local_orig history tunnel_parents";
    let types = "time string addr port enum string interval bool string set[string]";
    let mut text = format!(
        "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n\
         #open\t2024-05-01-00-00-00\n#fields\t{}\n#types\t{}\n",
        names.replace(' ', "\t"),
        types.replace(' ', "\t")
    );
    let mut docs = Vec::new();
    for n in 0..num_docs {
        // Days from the first of May 2024 on.
        let (day, time) = rng.may(n);
        let second = 1_714_521_600 + (day - 1) * 86_400 + seconds_of(&time);
        let micros = rng.modulo(1_000_000);
        let (uid, ip, port) = (format!("C{}", rng.hex(16)), rng.ip(), rng.modulo(65_536));
        let service = rng.pick(&["-", "dns", "http"]);
        let (duration, history) = (rng.modulo(90), rng.pick(&["ShADad", "a\\x09b", "(empty)"]));
        let is_local = rng.pick(&["T", "F"]);
        let parents = rng.pick(&["(empty)", "Ca,Cb", "Cc", "-"]);
        text.push_str(&format!(
            "{second}.{micros:06}\t{uid}\t{ip}\t{port}\ttcp\t{service}\t{duration}.5\t{is_local}\t{history}\t{parents}\n"
        ));
        let mut doc = json!({
            "_path": "conn", "ts": format!("2024-05-{day:02}T{time}.{micros:06}Z"), "uid": uid, "id.orig_h": ip,
            "id.orig_p": port, "proto": "tcp", "duration": duration as f64 + 0.5, "local_orig": is_local == "T",
            "history": match history { "(empty)" => "", "a\\x09b" => "a\tb", other => other },
        });
        if let Some(doc) = doc.as_object_mut() {
            if service != "-" {
                doc.insert("service".into(), json!(service));
            }
            let parents = match parents {
                "-" => None,
                "(empty)" => Some(json!([])),
                some => Some(some.split(',').collect()),
            };
            doc.extend(parents.map(|parents| ("tunnel_parents".to_owned(), parents)));
        }
        docs.push(doc);
    }
    text.push_str("#close\t2024-06-01-00-00-00\n");
    (text.into_bytes(), docs)
}

fn seconds_of(time: &str) -> u64 {
    time.split(':')
        .fold(0, |sum, part| sum * 60 + part.parse::<u64>().unwrap_or(0))
}

/// Writes logs of Postgres 14 and later:
/// `https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-CSVLOG`.
pub(super) fn postgres(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (day, time) = rng.may(n);
        let (pid, session) = (
            1 + rng.modulo(30_000),
            format!("66318{:03x}.{:x}", rng.modulo(4_096), n),
        );
        let level = rng.pick(&["LOG", "LOG", "WARNING", "ERROR", "FATAL"]);
        let message = match rng.modulo(4) {
            0 => format!("relation \"{}\" does not exist", rng.pick(&WORDS)),
            1 => format!("statement: SELECT 1,\n  {n}"),
            _ => format!("{} {n}", rng.pick(&WORDS)),
        };
        text.push_str(&format!(
            "2024-05-{day:02} {time}.123 UTC,\"app\",\"shop\",{pid},\"10.0.0.1:5000\",{session},{n},\"SELECT\",\
             2024-05-01 00:00:00 UTC,3/7,0,{level},00000,\"{}\",,,,,,,,,\"psql\",\"client backend\",,-77\n",
            message.replace('"', "\"\"")
        ));
        docs.push(json!({
            "timestamp": format!("2024-05-{day:02}T{time}.123Z"), "user_name": "app", "database_name": "shop",
            "process_id": pid, "connection_from": "10.0.0.1:5000", "session_id": session, "session_line_num": n,
            "command_tag": "SELECT", "session_start_time": "2024-05-01T00:00:00Z",
            "virtual_transaction_id": "3/7", "transaction_id": 0, "level": level, "sql_state_code": "00000",
            "message": message, "application_name": "psql", "backend_type": "client backend", "query_id": -77,
        }));
    }
    (text.into_bytes(), docs)
}
