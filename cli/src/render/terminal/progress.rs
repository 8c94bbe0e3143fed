//! Progress of an ingest: a bar on a terminal, occasional lines elsewhere. On stderr.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use canter_index_builder::{Counters, Phase, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::numbers;
use crate::exit::note;

/// Time between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Shows the progress of an ingest.
pub(crate) struct IngestProgress {
    started: Instant,
    total_docs: Option<u64>,
    bar: Option<ProgressBar>,
    last_line: Mutex<(Instant, Phase)>,
}

impl IngestProgress {
    /// `total_docs` is the number of documents if known; otherwise the bar uses the input's size in
    /// bytes, if known.
    pub(crate) fn on_stderr(total_docs: Option<u64>) -> IngestProgress {
        let started = Instant::now();
        let bar = console::user_attended_stderr().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            let bar = ProgressBar::with_draw_target(Some(0), target);
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        IngestProgress {
            started,
            total_docs,
            bar,
            last_line: Mutex::new((started, Phase::Indexing)),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn draw(&self, bar: &ProgressBar, counters: &Counters) {
        let (position, total) = match (self.total_docs, counters.total_stored_bytes) {
            (Some(total), _) => (counters.num_lines, total),
            (None, Some(total)) => (counters.num_stored_bytes, total),
            (None, None) => (0, 0),
        };
        if bar.length() != Some(total) || bar.position() == 0 {
            bar.set_style(style(total > 0));
            bar.set_length(total);
        }
        bar.set_position(position.min(total));
        bar.set_message(self.message(counters));
    }

    fn message(&self, counters: &Counters) -> String {
        let what = match counters.phase {
            Phase::Indexing => "",
            Phase::Finishing => "finishing: ",
            Phase::Publishing => "publishing: ",
            Phase::Done => "done: ",
        };
        let rejects = match counters.num_rejects {
            0 => String::new(),
            num => format!(", {} rejected", numbers::count(num)),
        };
        let inputs = match counters.total_inputs {
            0 | 1 => String::new(),
            total => format!(
                "{} of {}, ",
                numbers::count(counters.num_inputs),
                numbers::counted(total, "input")
            ),
        };
        let bytes = match counters.total_stored_bytes {
            Some(total) if !inputs.is_empty() => format!(
                "{} of {}, ",
                numbers::bytes(counters.num_stored_bytes),
                numbers::bytes(total)
            ),
            _ => String::new(),
        };
        format!(
            "{what}{inputs}{bytes}{}{rejects}, {}, {}",
            numbers::counted(counters.num_docs, "document"),
            numbers::rate(counters.num_docs, self.started.elapsed(), "documents"),
            numbers::counted(counters.num_splits_uploaded, "split"),
        )
    }
}

impl Progress for IngestProgress {
    fn update(&self, counters: &Counters) {
        if let Some(bar) = &self.bar {
            return self.draw(bar, counters);
        }
        let mut last = self
            .last_line
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Calls come from several threads, so an earlier phase may be reported later.
        let is_new_phase = rank(counters.phase) > rank(last.1) && counters.phase != Phase::Done;
        if is_new_phase || last.0.elapsed() >= PAUSE {
            let phase = match is_new_phase {
                true => counters.phase,
                false => last.1,
            };
            *last = (Instant::now(), phase);
            note(self.message(counters));
        }
    }
}

fn rank(phase: Phase) -> u8 {
    match phase {
        Phase::Indexing => 0,
        Phase::Finishing => 1,
        Phase::Publishing => 2,
        Phase::Done => 3,
    }
}

fn style(has_total: bool) -> ProgressStyle {
    let template = match has_total {
        true => "{spinner} {bar:24.cyan/dim} {percent:>3} % {wide_msg}",
        false => "{spinner} {wide_msg}",
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    match super::Screen::of_stdout(super::ColourChoice::Auto).has_unicode {
        true => style.progress_chars("━━─"),
        false => style.progress_chars("##.").tick_chars("|/-\\ "),
    }
}
