//! Checks whether answers to range requests are correct.

use bytes::Bytes;
use canter_stores::{Answer, AskedRange, Misbehaviour, StoreFault, check_answer, past_the_end};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE};

use super::advice;
use super::probe::{Probe, Seen};
use super::report::Check;

/// Length of a range whose content does not matter.
const NUM_BYTES: u64 = 1024;

/// Checks an answer and its body by the rules of the fetchers.
pub(super) fn judge(asked: AskedRange, seen: &Seen) -> Result<Answer, Misbehaviour> {
    let status = match seen.status {
        StatusCode::RANGE_NOT_SATISFIABLE => return Err(past_the_end(&seen.headers)),
        StatusCode::OK | StatusCode::PARTIAL_CONTENT => seen.status,
        other => {
            let what = format!("the server answered {other}");
            return Err(Misbehaviour::new(StoreFault::WrongContentRange, what));
        }
    };
    let answer = check_answer(Some(asked), status, &seen.headers)?;
    let expected = answer.body_len.unwrap_or_default();
    let num_bytes = seen.body.len() as u64;
    if seen.has_more || num_bytes > expected {
        let what = format!("more bytes came than the {expected} that were announced");
        return Err(Misbehaviour::new(StoreFault::LongBody, what));
    }
    if num_bytes < expected {
        let what = format!("only {num_bytes} of {expected} bytes came");
        return Err(Misbehaviour::new(StoreFault::ShortBody, what));
    }
    Ok(answer)
}

/// Range of `len` bytes in one of the request forms.
struct Wanted {
    name: &'static str,
    header: String,
    asked: AskedRange,
    len: u64,
}

impl Wanted {
    fn bounded(name: &'static str, first: u64, len: u64) -> Self {
        let last = first + len - 1;
        Self {
            name,
            header: format!("bytes={first}-{last}"),
            asked: AskedRange {
                first,
                len: Some(len),
            },
            len,
        }
    }
}

/// Results of the range checks that other checks need.
pub(super) struct Ranges {
    pub(super) checks: Vec<Check>,
    /// True if the check of a bounded range in the middle succeeded.
    pub(super) works: bool,
}

/// Runs the checks; `first` is the answer to `bytes=0-…` (see [`first_range`]).
pub(super) async fn check(probe: &mut Probe, first: &Seen, object_len: Option<u64>) -> Ranges {
    let asked = first_range(object_len);
    let mut checks = vec![verdict(
        "range_first",
        &asked.header,
        judge(asked.asked, first),
    )];
    let mut works = checks[0].change.is_none();
    match object_len {
        Some(len) if len > 0 => {
            let (middle, bytes) = fetch(probe, &middle(len, 0)).await;
            works &= middle.change.is_none();
            checks.push(middle);
            checks.push(same_bytes(probe, len, bytes).await);
            checks.push(open_ended(probe, len).await);
            checks.push(suffix(probe, len).await);
            checks.push(past_end(probe, len).await);
        }
        _ => {
            let why = "the length of the object is not known, or it is empty";
            let names = ["range_middle", "range_bytes", "range_open_ended"];
            let names = names.into_iter().chain(["range_suffix", "range_past_end"]);
            checks.extend(names.map(|name| Check::skipped(name, why)));
        }
    }
    checks.push(content_range(first, object_len));
    checks.push(content_length(first));
    checks.push(content_encoding(first));
    Ranges { checks, works }
}

fn first_range(object_len: Option<u64>) -> Wanted {
    let len = object_len.map_or(NUM_BYTES, |len| len.clamp(1, NUM_BYTES));
    Wanted::bounded("range_first", 0, len)
}

/// Sends the first request, when the length of the object is still unknown.
pub(super) async fn ask_first(probe: &mut Probe) -> Result<Seen, super::probe::Unseen> {
    probe.range(&first_range(None).header, NUM_BYTES).await
}

/// Returns a range in the middle, extended by `around` bytes on both sides within the object.
fn middle(object_len: u64, around: u64) -> Wanted {
    let first = object_len / 2;
    let end = (first + NUM_BYTES).min(object_len);
    let first_around = first.saturating_sub(around);
    let end_around = (end + around).min(object_len);
    Wanted::bounded("range_middle", first_around, end_around - first_around)
}

fn verdict(name: &'static str, header: &str, judged: Result<Answer, Misbehaviour>) -> Check {
    match judged {
        Ok(answer) => {
            let len = answer.body_len.unwrap_or_default();
            Check::ok(name, format!("{header}: status 206, {len} bytes"))
        }
        Err(fault) => Check::failed(
            name,
            format!("{}: {}", fault.fault, fault.seen),
            fault.fault.remedy(),
        ),
    }
}

async fn fetch(probe: &mut Probe, wanted: &Wanted) -> (Check, Option<Bytes>) {
    match probe.range(&wanted.header, wanted.len).await {
        Ok(seen) => {
            let judged = judge(wanted.asked, &seen);
            let bytes = judged.is_ok().then(|| seen.body.clone());
            (verdict(wanted.name, &wanted.header, judged), bytes)
        }
        Err(unseen) => (Check::skipped(wanted.name, unseen.into_text()), None),
    }
}

/// Checks that a longer range contains the same bytes.
async fn same_bytes(probe: &mut Probe, len: u64, bytes: Option<Bytes>) -> Check {
    const NAME: &str = "range_bytes";
    let Some(bytes) = bytes else {
        return Check::skipped(NAME, "the range in the middle did not come");
    };
    let inner = middle(len, 0);
    let outer = middle(len, 300);
    let (check, around) = fetch(
        probe,
        &Wanted {
            name: NAME,
            ..middle(len, 300)
        },
    )
    .await;
    let Some(around) = around else {
        return check;
    };
    let at = usize::try_from(inner.asked.first - outer.asked.first).unwrap_or(usize::MAX);
    match around
        .get(at..)
        .is_some_and(|rest| rest.starts_with(&bytes))
    {
        true => Check::ok(NAME, "two ranges that overlap have the same bytes"),
        false => Check::failed(
            NAME,
            "two ranges that overlap have different bytes",
            "look for a cache or proxy that mixes up ranges, or servers with different copies",
        ),
    }
}

async fn open_ended(probe: &mut Probe, object_len: u64) -> Check {
    let len = object_len.min(NUM_BYTES);
    let first = object_len - len;
    let wanted = Wanted {
        name: "range_open_ended",
        header: format!("bytes={first}-"),
        asked: AskedRange { first, len: None },
        len,
    };
    fetch(probe, &wanted).await.0
}

/// Checks a suffix range, which Canter does not use, but other readers of the same files may.
async fn suffix(probe: &mut Probe, object_len: u64) -> Check {
    const NAME: &str = "range_suffix";
    let len = object_len.min(NUM_BYTES);
    let header = format!("bytes=-{len}");
    let asked = AskedRange {
        first: object_len - len,
        len: None,
    };
    match probe.range(&header, len).await {
        Err(unseen) => Check::skipped(NAME, unseen.into_text()),
        Ok(seen) => match judge(asked, &seen) {
            Ok(_) => Check::ok(NAME, format!("{header}: status 206, {len} bytes")),
            Err(fault) => Check::warning(
                NAME,
                format!("{}: {}", fault.fault, fault.seen),
                "nothing for Canter, which asks for no suffixes; other tools may",
            ),
        },
    }
}

async fn past_end(probe: &mut Probe, object_len: u64) -> Check {
    let wanted = Wanted::bounded("range_past_end", object_len + 1000, 10);
    let seen = match probe.range(&wanted.header, wanted.len).await {
        Err(unseen) => return Check::skipped(wanted.name, unseen.into_text()),
        Ok(seen) => seen,
    };
    if seen.status == StatusCode::RANGE_NOT_SATISFIABLE {
        return Check::ok(wanted.name, "status 416 for a range behind the end");
    }
    let status = seen.status;
    // Canter does not accept any of these answers as bytes, so an unexpected range is harmless.
    let what = match judge(wanted.asked, &seen) {
        Err(fault) => format!("status {status}: {}", fault.seen),
        Ok(_) => format!("status {status}, with bytes that the object does not have"),
    };
    let change = "answer 416 Range Not Satisfiable with `Content-Range: bytes */LENGTH`";
    match status {
        StatusCode::PARTIAL_CONTENT => Check::failed(wanted.name, what, change),
        _ => Check::warning(wanted.name, what, change),
    }
}

fn content_range(first: &Seen, object_len: Option<u64>) -> Check {
    const NAME: &str = "content_range";
    let change = "send `Content-Range: bytes FIRST-LAST/LENGTH` with status 206";
    match (first.header(CONTENT_RANGE), object_len) {
        (None, _) => Check::failed(NAME, "none", change),
        (Some(header), Some(_)) => Check::ok(NAME, header),
        (Some(header), None) => Check::warning(NAME, header, change),
    }
}

fn content_length(first: &Seen) -> Check {
    const NAME: &str = "content_length";
    match first.header(CONTENT_LENGTH) {
        Some(len) => Check::ok(NAME, format!("{len} bytes")),
        None => Check::warning(
            NAME,
            "none: the body comes in chunks",
            "nothing for Canter, which counts; browsers and caches do better with a Content-Length",
        ),
    }
}

fn content_encoding(first: &Seen) -> Check {
    const NAME: &str = "content_encoding";
    match judge_encoding(first) {
        None => Check::ok(NAME, "none, as asked for (Accept-Encoding: identity)"),
        Some(fault) => Check::failed(NAME, fault.seen, fault.fault.remedy())
            .with_example(advice::no_compression(&first.headers)),
    }
}

fn judge_encoding(first: &Seen) -> Option<Misbehaviour> {
    first.headers.get(CONTENT_ENCODING)?;
    check_answer(None, StatusCode::OK, &first.headers).err()
}
