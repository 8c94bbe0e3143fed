//! The beginning, the middle and the end of a long file of lines, as if they were one file: reading everything would
//! take too long.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Number of bytes that are read at each place.
const PLACE_NUM_BYTES: u64 = 4 << 20;
/// Number of places after the beginning, the last at the end of the file.
const NUM_PLACES: u64 = 4;
/// Number of bytes that are examined to decide whether a file is text.
const HEAD_NUM_BYTES: usize = 8 << 10;

/// Returns the excerpt of a file, if it is text and longer than that. Every place begins and ends at a line boundary.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn excerpt(path: &Path) -> io::Result<Option<Box<dyn Read + Send>>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let len = metadata.len();
    if !metadata.is_file() || len < PLACE_NUM_BYTES * (NUM_PLACES + 2) || !is_text(&mut file)? {
        return Ok(None);
    }
    let mut excerpt: Box<dyn Read + Send> = Box::new(io::empty());
    for place in 0..=NUM_PLACES {
        // The last place ends where the file does.
        let start = (len - PLACE_NUM_BYTES).saturating_mul(place) / NUM_PLACES;
        excerpt = Box::new(excerpt.chain(Cursor::new(lines_at(&mut file, start)?)));
    }
    Ok(Some(excerpt))
}

/// Returns whole lines from the first that begins at `start` or after it, up to the limit.
fn lines_at(file: &mut File, start: u64) -> io::Result<Vec<u8>> {
    // The line that ends right before `start` belongs to the previous place.
    let before = start.saturating_sub(1);
    file.seek(SeekFrom::Start(before))?;
    let mut reader = BufReader::new(file).take(start - before + PLACE_NUM_BYTES);
    if start > 0 {
        reader.skip_until(b'\n')?;
    }
    let mut lines = Vec::new();
    reader.read_to_end(&mut lines)?;
    let end = memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1);
    lines.truncate(end);
    Ok(lines)
}

/// Returns whether a file begins with text: it is neither compressed nor Parquet.
fn is_text(file: &mut File) -> io::Result<bool> {
    let mut head = vec![0; HEAD_NUM_BYTES];
    file.read_exact(&mut head)?;
    let text = match std::str::from_utf8(&head) {
        Ok(_) => &head[..],
        // A character that the end cuts.
        Err(error) if error.valid_up_to() + 4 > head.len() => &head[..error.valid_up_to()],
        Err(_) => return Ok(false),
    };
    Ok(!text.contains(&0) && text.contains(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn an_excerpt_has_whole_lines_of_all_parts_of_a_file() {
        let mut text = String::new();
        while (text.len() as u64) < PLACE_NUM_BYTES * (NUM_PLACES + 3) {
            let num = text.len();
            writeln!(text, "line {num} é").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.log");
        std::fs::write(&path, &text).unwrap();
        let mut read = String::new();
        let mut reader = excerpt(&path).unwrap().unwrap();
        reader.read_to_string(&mut read).unwrap();
        assert!(read.starts_with("line 0 é\n") && read.ends_with(" é\n"));
        let last = text.lines().next_back().unwrap();
        assert_eq!(read.lines().next_back(), Some(last));
        let places: Vec<usize> = read
            .lines()
            .map(|line| {
                let number = line.strip_prefix("line ").unwrap();
                number.strip_suffix(" é").unwrap().parse().unwrap()
            })
            .collect();
        assert!(places.is_sorted_by(|left, right| left < right));
        for quarter in 0..4 {
            let all = text.len() / 4 * quarter..text.len() / 4 * (quarter + 1);
            assert!(places.iter().any(|place| all.contains(place)), "{quarter}");
        }
        for (name, bytes) in [
            ("short", &text.as_bytes()[..100]),
            ("other", &[0xff; 30 << 20]),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            assert!(excerpt(&path).unwrap().is_none(), "{name}");
        }
    }
}
