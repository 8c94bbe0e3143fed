//! A corpus as a stream: lines into a buffer, an iterator of strings, or a reader.

use std::io::{self, Read, Write};

/// A deterministic generator of NDJSON lines.
pub trait Corpus {
    /// Appends the next line, with its newline, to `line`; returns false at the end of the corpus.
    fn next_line(&mut self, line: &mut Vec<u8>) -> bool;

    /// Writes all remaining lines to `out` and returns the number of bytes.
    ///
    /// # Errors
    /// Errors of `out`.
    fn write_to(&mut self, out: &mut dyn Write) -> io::Result<u64>
    where
        Self: Sized,
    {
        io::copy(&mut CorpusReader::new(self), &mut { out })
    }

    /// Returns the remaining lines, without newlines, as strings.
    fn lines(self) -> Lines<Self>
    where
        Self: Sized,
    {
        Lines { corpus: self }
    }
}

impl<C: Corpus + ?Sized> Corpus for &mut C {
    fn next_line(&mut self, line: &mut Vec<u8>) -> bool {
        (**self).next_line(line)
    }
}

impl<C: Corpus + ?Sized> Corpus for Box<C> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> bool {
        (**self).next_line(line)
    }
}

/// The lines of a corpus as strings; see [`Corpus::lines`].
#[derive(Debug)]
pub struct Lines<C> {
    corpus: C,
}

impl<C: Corpus> Iterator for Lines<C> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::with_capacity(512);
        if !self.corpus.next_line(&mut line) {
            return None;
        }
        line.pop();
        // The generators only write ASCII.
        Some(String::from_utf8_lossy(&line).into_owned())
    }
}

/// Number of bytes that are generated at a time.
const BLOCK_LEN: usize = 64 * 1024;

/// A corpus as a [`Read`]er, so that it can be ingested without a file in between.
#[derive(Debug)]
pub struct CorpusReader<C> {
    corpus: C,
    block: Vec<u8>,
    position: usize,
}

impl<C: Corpus> CorpusReader<C> {
    /// Returns a reader of the remaining lines of `corpus`.
    pub fn new(corpus: C) -> CorpusReader<C> {
        CorpusReader {
            corpus,
            block: Vec::new(),
            position: 0,
        }
    }
}

impl<C: Corpus> Read for CorpusReader<C> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.position == self.block.len() {
            self.block.clear();
            self.position = 0;
            while self.block.len() < BLOCK_LEN && self.corpus.next_line(&mut self.block) {}
        }
        let rest = &self.block[self.position..];
        let len = rest.len().min(out.len());
        out[..len].copy_from_slice(&rest[..len]);
        self.position += len;
        Ok(len)
    }
}
