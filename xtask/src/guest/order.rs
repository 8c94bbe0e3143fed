//! Order of functions that places similar ones close together.
//!
//! Deflate looks back 32 KiB. A compiler generates the same few hundred bytes for many types, and a
//! linker places them megabytes apart, beyond that window. Functions are therefore ordered
//! greedily: next comes the one with the largest part already in the window.

use std::collections::VecDeque;

/// Length of deflate's window in bytes.
const WINDOW_LEN: usize = 32 << 10;

/// Length in bytes of the pieces by which similarity is measured.
const PIECE_LEN: usize = 6;

/// Maximum number of functions that may share a piece; more frequent pieces are ignored.
const MAX_OWNERS: usize = 100;

/// Constant added to the number of a function's pieces, so that very short functions, which always
/// resemble something, do not come first.
const SHORT: u32 = 20;

/// Returns the indices of `bodies` in the new order, which depends on the bodies only.
pub(super) fn by_likeness(bodies: &[&[u8]]) -> Vec<usize> {
    Order::new(bodies).run()
}

struct Order<'a> {
    bodies: &'a [&'a [u8]],
    /// For each function: the pieces that it shares with others.
    pieces: Vec<Vec<u32>>,
    /// For each function: the number of its distinct pieces.
    num_pieces: Vec<u32>,
    /// For each piece: the functions that contain it.
    owners: Vec<Vec<u32>>,
    /// For each piece: the number of functions in the window that contain it.
    num_in_window: Vec<u32>,
    /// For each function: the number of its pieces in the window.
    num_seen: Vec<u32>,
}

impl<'a> Order<'a> {
    fn new(bodies: &'a [&'a [u8]]) -> Self {
        let mut all: Vec<(u64, u32)> = Vec::new();
        for (function, body) in (0..).zip(bodies) {
            let numbers = body.windows(PIECE_LEN).map(number);
            all.extend(numbers.map(|number| (number, function)));
        }
        all.sort_unstable();
        all.dedup();
        let mut order = Self {
            bodies,
            pieces: vec![Vec::new(); bodies.len()],
            num_pieces: vec![0; bodies.len()],
            owners: Vec::new(),
            num_in_window: Vec::new(),
            num_seen: vec![0; bodies.len()],
        };
        for owners in all.chunk_by(|one, other| one.0 == other.0) {
            let owners: Vec<u32> = owners.iter().map(|&(_, function)| function).collect();
            for &owner in &owners {
                order.num_pieces[owner as usize] += 1;
            }
            if (2..=MAX_OWNERS).contains(&owners.len()) {
                for &owner in &owners {
                    order.pieces[owner as usize].push(order.owners.len() as u32);
                }
                order.owners.push(owners);
            }
        }
        order.num_in_window = vec![0; order.owners.len()];
        order
    }

    fn run(mut self) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.bodies.len()).collect();
        let mut ordered = Vec::with_capacity(left.len());
        let mut window = VecDeque::new();
        let mut window_len = 0;
        while let Some(place) = self.best(&left) {
            let function = left.remove(place);
            ordered.push(function);
            window.push_back(function);
            window_len += self.bodies[function].len();
            self.enter(function);
            while window_len > WINDOW_LEN
                && let Some(oldest) = window.pop_front()
            {
                window_len -= self.bodies[oldest].len();
                self.leave(oldest);
            }
        }
        ordered
    }

    /// Returns the position in `left` of the function with the largest part in the window; the
    /// first of equals, which is the linker's neighbour.
    fn best(&self, left: &[usize]) -> Option<usize> {
        let part = |function: usize| {
            let seen = u64::from(self.num_seen[function]);
            (seen << 20) / u64::from(self.num_pieces[function] + SHORT)
        };
        let best = left.iter().map(|&function| part(function)).max()?;
        left.iter().position(|&function| part(function) == best)
    }

    fn enter(&mut self, function: usize) {
        for &piece in &self.pieces[function] {
            let count = &mut self.num_in_window[piece as usize];
            *count += 1;
            if *count == 1 {
                for &owner in &self.owners[piece as usize] {
                    self.num_seen[owner as usize] += 1;
                }
            }
        }
    }

    fn leave(&mut self, function: usize) {
        for &piece in &self.pieces[function] {
            let count = &mut self.num_in_window[piece as usize];
            *count -= 1;
            if *count == 0 {
                for &owner in &self.owners[piece as usize] {
                    self.num_seen[owner as usize] -= 1;
                }
            }
        }
    }
}

fn number(piece: &[u8]) -> u64 {
    let shift = |number: u64, &byte: &u8| (number << 8) | u64::from(byte);
    piece.iter().fold(0, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_functions_stand_together_and_none_is_lost() {
        // Two families that differ in all bytes, alternating; members differ in their last byte.
        let family =
            |first: u8, member: u8| -> Vec<u8> { (first..first + 100).chain([member]).collect() };
        let bodies: Vec<Vec<u8>> = (0..10)
            .map(|member| family(if member % 2 == 0 { 0 } else { 100 }, member))
            .collect();
        let bodies: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
        let order = by_likeness(&bodies);
        assert_eq!(order, [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
    }

    #[test]
    fn without_likeness_the_order_stays() {
        let bodies: [&[u8]; 4] = [b"", b"short", b"other bytes", b""];
        assert_eq!(by_likeness(&bodies), [0, 1, 2, 3]);
        assert!(by_likeness(&[]).is_empty());
    }
}
