//! Guests that misbehave on purpose, and the storage of their compiled form.

use std::time::{Duration, Instant};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::{CodeOrigin, WasmEngine, WasmOptions};
use crate::engine::{Engine, InstanceLimits};
use crate::session::{HostReport, HttpRequest, SessionRequest, Supply};
use crate::{ErrorKind, Interrupt, SearchError};

/// Returns a component with the right interface whose `http` runs `body`. Its other functions
/// trap.
fn guest(body: &str) -> Vec<u8> {
    let prefix = "canter:search/engine@0.1.0#";
    let module = format!(
        r#"(module
            (memory (export "memory") 1)
            (global $calls (mut i32) (i32.const 0))
            (func $recurse (param i32) (result i32)
                (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (local.get 0)))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 16))
            (func (export "{prefix}[static]session.leaf") (param i32 i32) (result i32) unreachable)
            (func (export "{prefix}[static]session.root") (param i32 i32 i32 i32) (result i32)
                unreachable)
            (func (export "{prefix}[static]session.http")
                (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                {body} unreachable)
            (func (export "{prefix}[method]session.budget") (param i32) (result i32) unreachable)
            (func (export "{prefix}[method]session.step")
                (param i32 i32 i32 i64 i32 i32 i32 i32) (result i32) unreachable)
            (func (export "{prefix}http-error") (param i32 i32 i32 i32 i32) (result i32) unreachable)
            (func (export "{prefix}version") (result i32) unreachable))"#
    );
    let mut module = wat::parse_str(module).unwrap();
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path("../wit").unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let encoder = ComponentEncoder::default().module(&module).unwrap();
    encoder.validate(true).encode().unwrap()
}

fn options() -> WasmOptions {
    WasmOptions {
        max_instances: 2,
        max_memory_bytes: 1 << 20,
        ..WasmOptions::default()
    }
}

fn interrupt(time_limit: Duration) -> Interrupt {
    Interrupt::after(Instant::now(), time_limit)
}

/// Returns the error of a search in a guest whose `http` runs `body`.
fn search(body: &str, interrupt: impl Fn() -> Interrupt + Sync) -> SearchError {
    let engine = WasmEngine::from_component(&guest(body), options()).unwrap();
    search_in(&engine, interrupt)
}

/// Runs a search. `interrupt` is created after the guest was compiled, and again if a busy machine
/// lets it fire before the guest has begun, because this tests how a running guest stops.
fn search_in(engine: &WasmEngine, interrupt: impl Fn() -> Interrupt + Sync) -> SearchError {
    let request = || SessionRequest::Http {
        request: HttpRequest::default(),
        settings: "{}".to_owned(),
        max_leaves: 1,
    };
    // Runs on a separate thread like a worker, since the stack of a test is too small for the
    // deepest guest.
    std::thread::scope(|scope| {
        let run = || {
            let mut instance = loop {
                let limits = InstanceLimits {
                    interrupt: interrupt(),
                    max_memory_bytes: None,
                };
                match engine.start(&limits) {
                    Ok(instance) => break instance,
                    Err(error) => assert_eq!(error.kind, ErrorKind::Limit, "{error}"),
                }
            };
            let error = instance.open(request()).unwrap_err();
            // A broken instance always returns an error, and never calls the guest again.
            assert!(instance.open(request()).is_err());
            assert!(
                instance
                    .step(Vec::<Supply>::new(), HostReport::default())
                    .is_err()
            );
            error
        };
        let thread = std::thread::Builder::new().stack_size(4 << 20);
        thread.spawn_scoped(scope, run).unwrap().join().unwrap()
    })
}

#[test]
fn a_trap_is_an_internal_error() {
    let error = search("", || interrupt(Duration::MAX));
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(error.message.contains("please report it"), "{error}");
    // The message reveals nothing of the guest's internals.
    for inside in ["wasm", "backtrace", "0x", "unreachable"] {
        assert!(!error.message.contains(inside), "{error}");
    }
}

#[test]
fn an_endless_loop_ends_at_the_deadline() {
    let started = Instant::now();
    let error = search("(loop $l (br $l))", || {
        interrupt(Duration::from_millis(100))
    });
    assert_eq!(error.kind, ErrorKind::Limit);
    assert!(error.message.contains("100 ms"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn an_endless_loop_ends_when_it_is_cancelled() {
    let cancelled_soon = || {
        let interrupt = interrupt(Duration::MAX);
        let theirs = interrupt.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            theirs.cancel();
        });
        interrupt
    };
    let error = search("(loop $l (br $l))", cancelled_soon);
    assert!(error.message.contains("cancelled"), "{error}");
}

/// Compilers remove redundant reads, but each loop must stop, even those that write nothing.
#[test]
fn loops_within_and_behind_loops_end_at_the_deadline() {
    for body in [
        "(loop $a (loop $b (br $b)))",
        "(loop $a (loop $b (br_if $b (global.get $calls))) (br $a))",
        "(loop $a (br_if $a (global.get $calls))) (loop $b (br $b))",
        "(loop $a (loop $b (loop $c (br_if $c (i32.load (i32.const 70))) (br $b))))",
        "(loop $a (i32.store (i32.const 80) (i32.const 1)) (loop $b (br $b)))",
        "(loop $a (drop (memory.grow (i32.const 0))) (br $a))",
        "(loop $a (memory.fill (i32.const 8192) (i32.const 1) (i32.const 8192)) (br $a))",
    ] {
        let engine = WasmEngine::from_component(&guest(body), options()).unwrap();
        let error = search_in(&engine, || interrupt(Duration::from_millis(200)));
        assert_eq!(error.kind, ErrorKind::Limit, "{body}");
        assert!(error.message.contains("200 ms"), "{body}: {error}");
    }
}

/// Stopping one instance does not affect concurrent ones.
#[test]
fn instances_are_stopped_one_by_one() {
    let body = "(loop $l (br $l))";
    let engine = WasmEngine::from_component(&guest(body), options()).unwrap();
    std::thread::scope(|scope| {
        let started = Instant::now();
        let times = [200, 900, 400, 600].map(|millis| {
            let engine = &engine;
            scope.spawn(move || {
                let error = search_in(engine, || interrupt(Duration::from_millis(millis)));
                assert!(error.message.contains(&format!("{millis} ms")), "{error}");
                started.elapsed() >= Duration::from_millis(millis)
            })
        });
        for is_late_enough in times {
            assert!(is_late_enough.join().unwrap());
        }
    });
}

#[test]
fn memory_above_the_cap_is_a_limit() {
    let grow = "(br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))";
    let error = search(&format!("(loop {grow})"), || interrupt(Duration::MAX));
    assert_eq!(error.kind, ErrorKind::Limit);
    assert!(error.message.contains("1 MiB"), "{error}");
}

#[test]
fn endless_recursion_is_a_limit() {
    let error = search("(drop (call $recurse (i32.const 0)))", || {
        interrupt(Duration::MAX)
    });
    assert_eq!(error.kind, ErrorKind::Limit);
    assert!(error.message.contains("nested"), "{error}");
}

#[test]
fn every_instance_is_fresh_and_gives_its_place_back() {
    // The first call in an instance traps immediately; a second one would never return.
    let body =
        "(if (global.get $calls) (then (loop $l (br $l)))) (global.set $calls (i32.const 1))";
    let engine = WasmEngine::from_component(&guest(body), options()).unwrap();
    for _ in 0..10 {
        let error = search_in(&engine, || interrupt(Duration::from_secs(20)));
        assert_eq!(error.kind, ErrorKind::Internal);
    }
}

#[test]
fn memory_is_counted_while_instances_live() {
    let engine = WasmEngine::from_component(&guest(""), options()).unwrap();
    assert_eq!(engine.memory_bytes(), Some(0));
    let limits = InstanceLimits {
        interrupt: interrupt(Duration::from_secs(60)),
        max_memory_bytes: None,
    };
    let (one, two) = (engine.start(&limits), engine.start(&limits));
    assert_eq!(engine.clone().memory_bytes(), Some(2 * 64 * 1024));
    drop((one, two));
    assert_eq!(engine.memory_bytes(), Some(0));
}

#[test]
fn what_is_no_guest_is_refused() {
    let importing = "(component (import \"clock\" (func)))";
    for component in [importing, "(component)", "(module)"] {
        let component = wat::parse_str(component).unwrap();
        let error = WasmEngine::from_component(&component, options())
            .err()
            .unwrap();
        assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    }
}

#[test]
fn a_damaged_file_in_the_cache_folder_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let options = WasmOptions {
        cache_dir: Some(folder.path().join("not/yet/there")),
        ..options()
    };
    let component = guest("");
    let start = || WasmEngine::from_component(&component, options.clone()).unwrap();
    assert_eq!(start().origin(), CodeOrigin::Compiled);
    assert_eq!(start().origin(), CodeOrigin::Kept);
    let cache_dir = options.cache_dir.as_ref().unwrap();
    let files: Vec<_> = cache_dir
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let whole = std::fs::read(&files[0]).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&whole[..100], &flipped, b""] {
        std::fs::write(&files[0], damaged).unwrap();
        assert_eq!(start().origin(), CodeOrigin::Compiled);
        assert_eq!(std::fs::read(&files[0]).unwrap(), whole);
        assert_eq!(start().warning(), None);
    }
}

/// Returns whether executable pages of a file below `folder` are mapped.
#[cfg(target_os = "linux")]
fn runs_code_of(folder: &std::path::Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let folder = folder.to_str().unwrap();
    maps.lines()
        .any(|line| line.contains(" r-xp ") && line.contains(folder))
}

#[cfg(target_os = "linux")]
#[test]
fn kept_code_is_run_in_its_file_until_the_last_instance_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let options = WasmOptions {
        cache_dir: Some(folder.path().join("compiled")),
        ..options()
    };
    let component = guest("");
    let start = || WasmEngine::from_component(&component, options.clone()).unwrap();
    assert_eq!(start().origin(), CodeOrigin::Compiled);
    assert!(!runs_code_of(folder.path()));
    let engine = start();
    assert_eq!(engine.origin(), CodeOrigin::Kept);
    assert!(runs_code_of(folder.path()));
    let error = search_in(&engine, || interrupt(Duration::MAX));
    assert_eq!(error.kind, ErrorKind::Internal);
    let limits = InstanceLimits {
        interrupt: interrupt(Duration::from_secs(60)),
        max_memory_bytes: None,
    };
    let instance = engine.start(&limits).unwrap();
    drop(engine);
    assert!(runs_code_of(folder.path()));
    drop(instance);
    // The thread of the ticker keeps the engine a little longer.
    let gone = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !runs_code_of(folder.path())
    });
    assert!(gone);
}

/// Files that another user could have written are never executed.
#[cfg(unix)]
#[test]
fn code_in_a_folder_that_others_may_write_to_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let cache_dir = folder.path().join("shared");
    let options = WasmOptions {
        cache_dir: Some(cache_dir.clone()),
        ..options()
    };
    let component = guest("");
    let start = || WasmEngine::from_component(&component, options.clone()).unwrap();
    start();
    let shared = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&cache_dir, shared).unwrap();
    let engine = start();
    assert_eq!(engine.origin(), CodeOrigin::Compiled);
    let warning = engine.warning().unwrap();
    assert!(warning.contains("others may write to it"), "{warning}");
    assert!(warning.contains("compiled in memory"), "{warning}");
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&cache_dir, private).unwrap();
    assert_eq!(start().origin(), CodeOrigin::Kept);
}

#[test]
#[allow(unsafe_code, reason = "loads what this test has precompiled")]
fn a_precompiled_form_that_does_not_fit_is_compiled_anew() {
    let (ours, other) = (guest(""), guest("nop"));
    let precompiled = WasmEngine::precompile(&ours).unwrap();
    for (form, is_current) in [
        (&precompiled[..], true),
        (&precompiled[..200], false),
        (b"", false),
    ] {
        // SAFETY: the bytes come from `precompile`, complete or truncated.
        let current = unsafe { WasmEngine::is_current(&ours, form) };
        assert_eq!(current, is_current);
        // SAFETY: as above.
        let engine = unsafe { WasmEngine::from_either(&ours, form, options()) }.unwrap();
        assert_eq!(
            search_in(&engine, || interrupt(Duration::MAX)).kind,
            ErrorKind::Internal
        );
    }
    // SAFETY: as above.
    assert!(!unsafe { WasmEngine::is_current(&other, &precompiled) });
    // SAFETY: as above.
    assert!(unsafe { WasmEngine::from_precompiled(&precompiled, options()) }.is_ok());
}
