//! Access logs of a busy web site.

use super::super::rng::{Rng, mix};
use super::line::LineExt;
use super::rhythm::Rhythm;
use super::stream::Corpus;

/// 1998-05-01T00:00:00Z: the month before a world cup.
const DEFAULT_START: u64 = 893_980_800;
const DEFAULT_SPAN_SECS: u64 = 30 * 24 * 3_600;
const NUM_REQUESTS: u64 = 30_000;
/// The weight of the most frequent request; that of rank `r` has `1 / r` of it.
const ZIPF_UNIT: u64 = 1 << 32;

/// Answers other than 200, in thousandths of all.
const STATUSES: &[(u64, u64)] = &[
    (304, 72),
    (206, 6),
    (302, 5),
    (404, 14),
    (403, 2),
    (400, 1),
    (500, 2),
    (503, 1),
];

/// Lines of an access log:
///
/// ```json
/// {"@timestamp":893980801,"clientip":"40.135.0.0","request":"GET /images/hm_bg.jpg HTTP/1.0","status":200,"size":24736}
/// ```
///
/// 30,000 distinct requests with a Zipf distribution (exponent 1), nine statuses, sizes that depend
/// on the request, recurring visitors; a daily rhythm over 30 days, a second or two out of order.
#[derive(Clone, Debug)]
pub struct HttpLogs {
    num_docs: u64,
    seed: u64,
    start: u64,
    rng: Rng,
    rhythm: Rhythm,
    requests: Vec<Request>,
    /// Cumulative weights of the requests.
    cumulative: Vec<u64>,
    next_doc: u64,
}

#[derive(Clone, Debug)]
struct Request {
    text: String,
    size: u64,
}

impl HttpLogs {
    /// Creates `num_docs` lines over 30 days from 1998-05-01.
    #[must_use]
    pub fn new(num_docs: u64, seed: u64) -> HttpLogs {
        HttpLogs::over(num_docs, seed, DEFAULT_START, DEFAULT_SPAN_SECS)
    }

    /// Sets the time range: `span_secs` from `start` (unix seconds).
    #[must_use]
    pub fn with_time_range(self, start: u64, span_secs: u64) -> HttpLogs {
        HttpLogs::over(self.num_docs, self.seed, start, span_secs)
    }

    fn over(num_docs: u64, seed: u64, start: u64, span_secs: u64) -> HttpLogs {
        let mut total = 0;
        let cumulative = (1..=NUM_REQUESTS).map(|rank| {
            total += ZIPF_UNIT / rank;
            total
        });
        HttpLogs {
            num_docs,
            seed,
            start,
            rng: Rng::new(seed),
            rhythm: Rhythm::new(start, span_secs, num_docs, seed),
            cumulative: cumulative.collect(),
            requests: (0..NUM_REQUESTS)
                .map(|rank| Request::of_rank(rank, seed))
                .collect(),
            next_doc: 0,
        }
    }

    fn request(&mut self) -> &Request {
        let total = self.cumulative[self.cumulative.len() - 1];
        let draw = self.rng.below(total);
        let rank = self.cumulative.partition_point(|sum| *sum <= draw);
        &self.requests[rank]
    }

    fn status(&mut self) -> u64 {
        let mut draw = self.rng.below(1_000);
        for (status, weight) in STATUSES {
            if draw < *weight {
                return *status;
            }
            draw -= weight;
        }
        200
    }
}

impl Request {
    /// Returns the request of a rank: frequent ones are the site's decoration, the long tail its articles and pictures.
    fn of_rank(rank: u64, seed: u64) -> Request {
        let draw = mix(seed ^ mix(rank + 1));
        let language = ["english", "french"][(draw & 1) as usize];
        let team = draw >> 8 & 31;
        let (path, low, high) = match rank {
            0 => ("/".to_string(), 8_000, 12_000),
            1..200 => (format!("/images/hm_{rank}.gif"), 90, 4_000),
            _ => match draw >> 40 & 7 {
                0..3 => (format!("/{language}/news/{rank:05}.htm"), 3_000, 30_000),
                3..5 => (
                    format!("/{language}/images/teams/{team:02}/player_{rank}.jpg"),
                    9_000,
                    90_000,
                ),
                5 => (
                    format!("/{language}/playing/rules/{team}/{rank}.html"),
                    1_500,
                    15_000,
                ),
                6 => (
                    format!("/cgi-bin/search.pl?team={team}&page={rank}"),
                    400,
                    9_000,
                ),
                _ => (
                    format!("/{language}/history/past_cups/images/{rank}.gif"),
                    700,
                    250_000,
                ),
            },
        };
        let version = if rank % 16 == 9 { "1.1" } else { "1.0" };
        let size = low + mix(draw) % (high - low);
        Request {
            text: format!("GET {path} HTTP/{version}"),
            size,
        }
    }
}

impl Corpus for HttpLogs {
    fn next_line(&mut self, line: &mut Vec<u8>) -> bool {
        if self.next_doc == self.num_docs {
            return false;
        }
        let (time, _) = self.rhythm.time_of(self.next_doc);
        let timestamp = time.saturating_sub(self.rng.below(3)).max(self.start);
        // The product of two uniform draws: few visitors make most of the visits.
        let visitor = (self.rng.below(1 << 16) * self.rng.below(1 << 16)) >> 16;
        let status = self.status();
        let error_size = self.rng.between(180, 420);
        let part = self.rng.between(1, 99);
        let request = self.request();
        let size = match status {
            200 => request.size,
            206 => request.size * part / 100,
            304 => 0,
            _ => error_size,
        };
        line.text("{\"@timestamp\":")
            .num(timestamp)
            .text(",\"clientip\":\"");
        line.num(1 + (mix(visitor) & 127))
            .text(".")
            .num(visitor >> 16 & 255)
            .text(".");
        line.num(visitor >> 8 & 255).text(".").num(visitor & 255);
        line.text("\",\"request\":\"")
            .text(&request.text)
            .text("\",\"status\":")
            .num(status);
        line.text(",\"size\":").num(size).text("}\n");
        self.next_doc += 1;
        true
    }
}
