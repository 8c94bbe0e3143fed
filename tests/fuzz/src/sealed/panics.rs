//! Recorder of panics, caught or not, with their locations.

use std::backtrace::Backtrace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Recorded panic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Panic {
    /// File and line, relative to the parent of the crate's folder.
    pub place: String,
    /// Message of the panic.
    pub message: String,
    /// True if the panic reached the caller.
    pub has_escaped: bool,
}

/// Runs `work`, and returns its panics.
pub(super) fn watched(work: impl FnOnce()) -> Vec<Panic> {
    static HOOK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = HOOK.lock();
    let noted = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&noted);
    // libFuzzer's hook ends the process at any panic.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|at| {
            let file = at.file();
            // From the crate's folder on.
            let of_crate = file.rsplit_once("/registry/src/");
            let of_crate = of_crate.and_then(|(_, file)| file.split_once('/'));
            let file = of_crate.map_or(file, |(_, file)| file);
            format!("{file}:{}", at.line())
        });
        let payload = info.payload();
        let message = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied());
        if std::env::var_os("CANTER_PANIC_TRACE").is_some() {
            eprintln!("{info}\n{}", Backtrace::force_capture());
        }
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(Panic {
            place: place.unwrap_or_default(),
            message: message.unwrap_or_default().to_owned(),
            has_escaped: false,
        });
    }));
    let end = catch_unwind(AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    let mut panics = std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner));
    if let (Err(_), Some(last)) = (end, panics.last_mut()) {
        last.has_escaped = true;
    }
    panics
}
