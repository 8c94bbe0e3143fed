//! Values of records, from random numbers.

use super::super::rng::Rng;

impl Rng {
    /// Returns true once in `n` times.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.modulo(n) == 0
    }

    pub(super) fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        let place = usize::try_from(self.modulo(of.len() as u64)).unwrap_or(0);
        of.get(place).copied().unwrap_or("")
    }

    pub(super) fn ip(&mut self) -> String {
        let mut part = |bound| self.modulo(bound);
        format!(
            "{}.{}.{}.{}",
            1 + part(223),
            part(256),
            part(256),
            1 + part(254)
        )
    }

    pub(super) fn hex(&mut self, len: usize) -> String {
        let mut text = String::new();
        while text.len() < len {
            text.push_str(&format!("{:016x}", self.next()));
        }
        text.truncate(len);
        text
    }

    /// Returns a day of May 2024 and a time of it: `(5, 17, "10:05:03")`.
    pub(super) fn may(&mut self, n: u64) -> (u64, String) {
        let second = (n * 37 + self.modulo(37)) % (31 * 86_400);
        let (day, second) = (second / 86_400, second % 86_400);
        let time = format!(
            "{:02}:{:02}:{:02}",
            second / 3_600,
            second / 60 % 60,
            second % 60
        );
        (day + 1, time)
    }
}

pub(super) const AGENTS: [&str; 5] = [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) Gecko/20100101 Firefox/125.0",
    "curl/8.7.1",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    "-",
];
pub(super) const PATHS: [&str; 6] = [
    "/",
    "/index.html",
    "/api/v1/orders/4711",
    "/static/app.js",
    "/über/uns.html",
    "/images/logo.png",
];
pub(super) const WORDS: [&str; 8] = [
    "connection",
    "reset",
    "by",
    "peer",
    "while",
    "reading",
    "upstream",
    "timeout",
];
