//! Time axes: round moments, and their labels.

/// A time axis from 0 to `total_us`.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    total_us: u64,
    unit: Unit,
}

#[derive(Clone, Copy, Debug)]
struct Unit {
    name: &'static str,
    len_us: f64,
}

/// A round moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Position on the axis: 0 is its beginning, 1 its end.
    pub(super) place: f64,
    /// Its number, without the unit.
    pub(super) number: String,
}

impl Scale {
    pub(super) fn new(total_us: u64) -> Self {
        let total_us = total_us.max(1);
        let (name, len_us) = match total_us {
            ..1_000 => ("µs", 1.0),
            1_000..10_000_000 => ("ms", 1e3),
            _ => ("s", 1e6),
        };
        let unit = Unit { name, len_us };
        Self { total_us, unit }
    }

    pub(super) fn unit(&self) -> &'static str {
        self.unit.name
    }

    /// Returns the position of a moment: 0 is the beginning of the axis, 1 its end.
    pub(super) fn place(&self, time_us: u64) -> f64 {
        (time_us as f64 / self.total_us as f64).min(1.0)
    }

    /// Returns round moments at equal distances from 0 on, at most `max_num` of them besides 0.
    pub(super) fn ticks(&self, max_num: usize) -> Vec<Tick> {
        let total = self.total_us as f64 / self.unit.len_us;
        let step = round_step(total / max_num.max(1) as f64);
        // Less than half a step is lost at the end to rounding errors of the division.
        let num_steps = (total / step + 1e-9) as usize;
        let places = if step < 1.0 {
            (-step.log10() - 1e-9).ceil() as usize
        } else {
            0
        };
        (0..=num_steps)
            .map(|ord| {
                let value = step * ord as f64;
                Tick {
                    place: (value / total).min(1.0),
                    number: match ord {
                        0 => "0".to_owned(),
                        _ => format!("{value:.places$}"),
                    },
                }
            })
            .collect()
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, 50, … (and 0.5, 0.2, …) that is at least `min`.
pub(in crate::render) fn round_step(min: f64) -> f64 {
    let power = 10f64.powi(min.max(1e-9).log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| *step >= min * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_fit() {
        let check = |total_us: u64, max_num: usize, expect: &str| {
            let scale = Scale::new(total_us);
            let ticks = scale.ticks(max_num);
            let numbers: Vec<&str> = ticks.iter().map(|tick| tick.number.as_str()).collect();
            assert_eq!(
                format!("{} {}", numbers.join(" "), scale.unit()),
                expect,
                "{total_us} µs"
            );
            assert!(ticks.len() <= max_num + 1);
            assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place)));
        };
        check(0, 4, "0 0.5 1.0 µs");
        check(1, 4, "0 0.5 1.0 µs");
        check(640, 4, "0 200 400 600 µs");
        check(10_500, 4, "0 5 10 ms");
        check(62_300, 4, "0 20 40 60 ms");
        check(100_000, 4, "0 50 100 ms");
        check(1_230_000, 6, "0 500 1000 ms");
        check(12_300_000, 6, "0 5 10 s");
        check(2_500, 5, "0 0.5 1.0 1.5 2.0 2.5 ms");
        check(100, 1, "0 100 µs");
    }
}
