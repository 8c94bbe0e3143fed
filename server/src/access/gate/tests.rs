//! Guessing secrets locks nobody out, and the time of a refusal reveals nothing.

use canter_access::{AccessSettings, Source};
use tokio::task::JoinSet;

use super::*;

/// Keys of the tests of `canter-access`.
const KEYS: &str = include_str!("../../../../access/src/tests/table/keys.toml");

fn gate() -> Arc<Gate> {
    let keys = Source::Setting {
        name: "keys".to_owned(),
        text: KEYS.to_owned(),
    };
    let settings = AccessSettings {
        keys: Some(keys),
        jwt: None,
    };
    Arc::new(Gate::new(Access::open(settings).unwrap()))
}

/// Returns the name of the token's key, or the status of the refusal.
async fn ask(gate: &Gate, token: &str) -> Result<String, u16> {
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    headers.insert(AUTHORIZATION, value);
    let asked = gate.reader(&headers).await;
    asked
        .map(|grant| grant.name)
        .map_err(|shut| shut.answer(Api::Quickwit, &headers).status().as_u16())
}

/// Sends `num` requests, which are all waiting when this returns.
async fn flood(
    gate: &Arc<Gate>,
    num: usize,
    token: fn(usize) -> String,
) -> JoinSet<Result<String, u16>> {
    let mut asking = JoinSet::new();
    for ord in 0..num {
        let gate = Arc::clone(gate);
        asking.spawn(async move { ask(&gate, &token(ord)).await });
    }
    // A tokio thread runs its own maintenance every few dozen tasks.
    for _ in 0..num {
        tokio::task::yield_now().await;
    }
    asking
}

/// Returns the number of these answers.
fn num_of(answers: &[Result<String, u16>], answer: Result<&str, u16>) -> usize {
    let answers = answers
        .iter()
        .map(|given| given.as_deref().map_err(|status| *status));
    answers.filter(|given| *given == answer).count()
}

const NUM_PLACES: usize = MAX_SECRETS_PER_KEY as usize;

#[tokio::test]
async fn who_guesses_at_one_key_keeps_no_other_out() {
    let gate = gate();
    let guessing = flood(&gate, 500, |ord| format!("all.guess-{ord}")).await;
    let other = ask(&gate, "tenant-7.secret-of-tenant-7").await;
    assert_eq!(other, Ok("tenant-7".to_owned()));
    let refused = guessing.join_all().await;
    assert_eq!(num_of(&refused, Err(401)), NUM_PLACES);
    assert_eq!(num_of(&refused, Err(429)), 500 - NUM_PLACES);
    // They have released everything they held.
    let holder = ask(&gate, "all.secret-of-all").await;
    assert_eq!(holder, Ok("all".to_owned()));
}

#[tokio::test]
async fn who_guesses_at_names_keeps_nobody_out() {
    let gate = gate();
    let guessing = flood(&gate, 500, |ord| format!("nobody-{ord}.x")).await;
    let holder = ask(&gate, "all.secret-of-all").await;
    assert_eq!(holder, Ok("all".to_owned()));
    let refused = guessing.join_all().await;
    assert_eq!(num_of(&refused, Err(401)), 500);
}

#[tokio::test]
async fn requests_with_one_secret_take_one_place_and_one_check() {
    let gate = gate();
    let asking = flood(&gate, 500, |_| "all.secret-of-all".to_owned()).await;
    assert_eq!(num_of(&asking.join_all().await, Ok("all")), 500);
    let guessing = flood(&gate, 500, |_| "all.guessed".to_owned()).await;
    assert_eq!(num_of(&guessing.join_all().await, Err(401)), 500);
}

#[tokio::test]
async fn who_hangs_up_cannot_have_more_hashed_at_once() {
    let gate = gate();
    // A hash takes some milliseconds; it may be done before the check, but not every time.
    let mut is_held = false;
    for _ in 0..100 {
        let mut asking = flood(&gate, 1, |_| "all.guessed".to_owned()).await;
        asking.shutdown().await;
        is_held = gate.checks.available_permits() < MAX_CHECKS;
        if is_held {
            break;
        }
    }
    assert!(is_held);
    // Everything that was held is released.
    let holder = ask(&gate, "all.secret-of-all").await;
    assert_eq!(holder, Ok("all".to_owned()));
}

#[tokio::test]
async fn a_name_that_there_is_not_is_refused_as_one_that_there_is() {
    for name in ["all", "nobody"] {
        let gate = gate();
        let asked_at = Instant::now();
        let refused = ask(&gate, &format!("{name}.guessed")).await;
        assert_eq!(refused, Err(401), "{name}");
        assert!(asked_at.elapsed() >= REFUSAL_DELAY, "{name}");
        let token: fn(usize) -> String = match name {
            "all" => |ord| format!("all.{ord}"),
            _ => |ord| format!("nobody.{ord}"),
        };
        let answers = flood(&gate, 20, token).await.join_all().await;
        assert_eq!(num_of(&answers, Err(429)), 20 - NUM_PLACES, "{name}");
    }
    // An accepted request does not wait: if it did, each would, however busy the machine is.
    let gate = gate();
    let mut is_prompt = false;
    for _ in 0..20 {
        let asked_at = Instant::now();
        ask(&gate, "all.secret-of-all").await.unwrap();
        is_prompt |= asked_at.elapsed() < REFUSAL_DELAY;
    }
    assert!(is_prompt);
}

/// Holders of a key may get its new secret before the server has read it, and retry until it is accepted.
#[tokio::test]
async fn a_new_secret_is_right_once_the_keys_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    std::fs::write(&path, KEYS).unwrap();
    let settings = AccessSettings {
        keys: Some(Source::File(path.clone())),
        jwt: None,
    };
    let gate = Arc::new(Gate::new(Access::open(settings).unwrap()));
    let (old, new) = ("all.secret-of-all", "all.secret-of-tenant-7");
    assert_eq!(ask(&gate, old).await, Ok("all".to_owned()));
    let asking = flood(&gate, 3, |_| "all.secret-of-tenant-7".to_owned()).await;
    // A client that sends requests continuously.
    let held = gate.line.place("all", "secret-of-tenant-7", 0).unwrap();
    while held.outcome.get().is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut hashes = KEYS.lines().filter_map(|line| line.strip_prefix("hash = "));
    let (of_all, of_tenant) = (hashes.next().unwrap(), hashes.next().unwrap());
    std::fs::write(&path, KEYS.replace(of_all, of_tenant)).unwrap();
    assert_eq!(gate.access.reload(), Ok(true));
    assert_eq!(ask(&gate, new).await, Ok("all".to_owned()));
    assert_eq!(ask(&gate, old).await, Err(401));
    drop(held);
    assert_eq!(num_of(&asking.join_all().await, Err(401)), 3);
}

/// A busy server may have no thread available for a while.
#[test]
fn a_refusal_does_not_take_longer_because_a_hash_had_to_wait() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build();
    runtime.unwrap().block_on(async {
        let gate = gate();
        // So long that the maximum number of waiting secrets would take the maximum delay.
        let busy = MAX_REFUSAL_DELAY / MAX_SECRETS_PER_KEY;
        tokio::task::spawn_blocking(move || std::thread::sleep(busy));
        assert_eq!(ask(&gate, "all.guessed").await, Err(401));
        assert!(gate.refusal_delay() < MAX_REFUSAL_DELAY);
    });
}
