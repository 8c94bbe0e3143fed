//! Bounds of the histograms, from the latency of memory to the default time limit of a search.

/// Upper bounds in seconds, 1 ms to 30 s, about three for each power of ten.
pub(super) const SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];
