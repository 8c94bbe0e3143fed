//! Buffers: reuse, growth, splitting and reading.

use super::*;

/// Lock of tests that fill or inspect the shared pool.
static POOL: Mutex<()> = Mutex::new(());

#[test]
fn memory_is_used_again_when_its_last_bytes_are_gone() {
    let _alone = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    *IDLE.lock().unwrap() = Idle::new(MAX_IDLE_BYTES);
    // A length that no other test uses.
    let len = MIN_LEN * 7 + 3;
    let mut buffer = Buffer::with_capacity(len);
    buffer.extend_from_slice(b"some bytes");
    let place = buffer.as_ptr();
    let bytes = buffer.into_bytes();
    let part = bytes.slice(5..);
    drop(bytes);
    let other = Buffer::with_capacity(len);
    assert_ne!(other.as_ptr(), place, "somebody has them");
    assert_eq!(part, "bytes");
    drop(part);
    let again = Buffer::with_capacity(len - MIN_LEN);
    assert_eq!(again.as_ptr(), place);
    assert!(again.is_empty());
}

#[test]
fn short_ones_are_plain() {
    let mut buffer = Buffer::with_capacity(10);
    buffer.extend_from_slice(&[7]);
    assert_eq!(buffer.into_bytes(), &[7u8][..]);
    assert_eq!(Buffer::from(vec![1, 2]).into_bytes(), &[1u8, 2][..]);
}

#[test]
fn parts_are_joined_and_a_single_one_is_not_copied() {
    let only = Bytes::from(vec![3; 100]);
    let same = Buffer::joined(std::slice::from_ref(&only));
    assert_eq!(same.as_ptr(), only.as_ptr());
    let long = Bytes::from(vec![4; MIN_LEN]);
    let both = Buffer::joined(&[only.clone(), long.clone()]);
    assert_eq!((&both[..100], &both[100..]), (&only[..], &long[..]));
    assert!(Buffer::joined(&[]).is_empty());
}

#[test]
fn no_more_is_kept_than_may_be() {
    let mut idle = Idle::new(1000);
    for len in [100, 200, 250, 250, 240] {
        idle.keep(Memory::with_capacity(len));
    }
    // The first one was freed, and one that is too large is never pooled.
    assert_eq!(idle.num_bytes, 940);
    idle.keep(Memory::with_capacity(251));
    assert_eq!(idle.num_bytes, 940);
    assert!(idle.take(100).is_none(), "200 are more than a fourth more");
    assert_eq!(idle.take(235).unwrap().capacity(), 240);
    assert_eq!(idle.take(235).unwrap().capacity(), 250);
    assert_eq!(idle.take(200).unwrap().capacity(), 200);
    assert_eq!(idle.num_bytes, 250);
}

#[test]
fn what_is_long_stands_in_pages_of_its_own() {
    const HUGE_LEN: usize = 2 << 20;
    let is_in_pages = |len| matches!(Memory::with_capacity(len), Memory::Pages(_));
    let may_be = cfg!(target_os = "linux");
    assert_eq!(
        [HUGE_LEN / 2 - 1, HUGE_LEN / 2, HUGE_LEN * 3 + 7].map(is_in_pages),
        [false, may_be, may_be],
    );
}

/// Covers short and long buffers, in any order of operations.
#[test]
fn bytes_stay_what_they_are_while_a_buffer_grows_and_is_cut() {
    let _alone = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    for step in [1000, 70_000, 700_000, 3_000_000] {
        let step_bytes = |number: usize| -> Vec<u8> {
            (0..step).map(|at| (at * 7 + number * 13) as u8).collect()
        };
        let mut expected = Vec::new();
        let mut buffer = Buffer::default();
        for number in 0..6 {
            let more = step_bytes(number);
            expected.extend_from_slice(&more);
            match number % 2 {
                0 => buffer.extend_from_slice(&more),
                _ => {
                    let longer = [more.as_slice(), &[1, 2, 3]].concat();
                    let read = buffer.read_from(longer.as_slice(), step).unwrap();
                    assert_eq!(read, step);
                }
            }
            assert_eq!(buffer.len(), expected.len());
        }
        assert!(*buffer == *expected, "steps of {step}");
        // Fewer than were asked for.
        assert_eq!(buffer.read_from(&expected[..10], step).unwrap(), 10);
        let behind = buffer.split_off(step + 1);
        assert!(*buffer == expected[..step + 1], "steps of {step}");
        let all = [&expected[step + 1..], &expected[..10]].concat();
        assert!(*behind == *all, "steps of {step}");
        buffer.truncate(3);
        buffer.truncate(5);
        assert_eq!(buffer.into_bytes(), &expected[..3]);
        assert!(behind.into_bytes() == all, "steps of {step}");
    }
}

#[test]
fn what_was_read_before_an_error_is_there() {
    struct Breaks(usize);
    impl io::Read for Breaks {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                2 => Err(io::ErrorKind::Interrupted.into()),
                1 | 3 => {
                    into[..4].fill(self.0 as u8);
                    Ok(4)
                }
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }
    let _alone = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    for len in [100, 5_000_000] {
        let mut buffer = Buffer::with_capacity(len);
        let error = buffer.read_from(Breaks(0), len).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(*buffer, [1, 1, 1, 1, 3, 3, 3, 3]);
    }
}
