//! Shapes: texts that say the same but for their words with digits.
//!
//! Programs write logs, and each of their statements writes texts of one shape: the same words in the same places, with
//! numbers, addresses and names between them. A document with a known shape costs the hash of its shape and the words in its
//! slots. Shapes are a shortcut alone: which ones are known decides no byte of a segment.

use xxhash_rust::xxh3::xxh3_64;

use crate::cut::Cut;

/// Maximum number of shapes of a field.
const MAX_SHAPES: usize = u16::MAX as usize;
/// Maximum number of bytes of their forms.
const MAX_FORM_BYTES: usize = 16 << 20;
/// Maximum number of words of a shape.
pub(crate) const MAX_WORDS: usize = 256;
/// Sizes of the table of hashes that were met once.
const MIN_MET: usize = 1 << 8;
const MAX_MET: usize = 1 << 15;

/// Bytes that no text has.
const AFTER_WORD: u8 = 0xff;
const SLOT: u8 = 0xfe;

#[derive(Default)]
pub(crate) struct Shapes {
    /// Hash of a form, and its shape + 1.
    table: Vec<(u64, u32)>,
    shapes: Vec<Shape>,
    forms: Vec<u8>,
    /// Terms of fixed words with their positions, and positions of slots.
    fixed: Vec<(u32, u32)>,
    slots: Vec<u32>,
    /// Hashes of forms that were met once, each in its place until another takes it.
    met: Vec<u64>,
    num_met: usize,
}

/// Ends of the parts of a shape, which begin where those of the shape before end.
#[derive(Clone, Copy, Default)]
struct Shape {
    form_end: usize,
    fixed_end: usize,
    slots_end: usize,
    num_docs: u32,
}

impl Shapes {
    /// Returns the number of bytes in memory.
    pub(crate) fn num_bytes(&self) -> usize {
        16 * self.table.len()
            + size_of::<Shape>() * self.shapes.len()
            + self.forms.len()
            + 8 * self.fixed.len()
            + 4 * self.slots.len()
            + 8 * self.met.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.shapes.len()
    }

    fn before(&self, shape: u32) -> Shape {
        let before = (shape as usize).checked_sub(1);
        before.map_or(Shape::default(), |before| self.shapes[before])
    }

    /// Returns the fixed words of a shape: terms and positions.
    pub(crate) fn fixed(&self, shape: u32) -> &[(u32, u32)] {
        &self.fixed[self.before(shape).fixed_end..self.shapes[shape as usize].fixed_end]
    }

    /// Returns the positions of a shape's slots.
    #[inline]
    pub(crate) fn slots(&self, shape: u32) -> &[u32] {
        &self.slots[self.before(shape).slots_end..self.shapes[shape as usize].slots_end]
    }

    pub(crate) fn num_docs(&self, shape: u32) -> u32 {
        self.shapes[shape as usize].num_docs
    }

    #[inline]
    pub(crate) fn count(&mut self, shape: u32) {
        self.shapes[shape as usize].num_docs += 1;
    }

    /// Returns the shape with this form.
    #[inline]
    pub(crate) fn find(&self, form: &Form) -> Option<u32> {
        let mask = self.table.len().checked_sub(1)?;
        let mut at = form.hash as usize & mask;
        loop {
            let (hash, shape) = self.table[at];
            let shape = shape.checked_sub(1)?;
            if hash == form.hash {
                let start = self.before(shape).form_end;
                if self.forms[start..self.shapes[shape as usize].form_end] == form.bytes {
                    return Some(shape);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns whether a form without a shape was met before, and is worth a shape.
    pub(crate) fn is_met(&mut self, form: &Form) -> bool {
        if self.shapes.len() >= MAX_SHAPES || self.forms.len() + form.bytes.len() > MAX_FORM_BYTES {
            return false;
        }
        if self.num_met >= self.met.len() && self.met.len() < MAX_MET {
            self.met = vec![0; (4 * self.met.len()).max(MIN_MET)];
            self.num_met = 0;
        }
        let at = form.hash as usize & (self.met.len() - 1);
        let is_met = self.met[at] == form.hash;
        self.num_met += usize::from(!is_met);
        self.met[at] = form.hash;
        is_met
    }

    /// Adds a shape with the words of a text; `terms` are those of the fixed ones, in order.
    pub(crate) fn add(&mut self, form: &Form, cut: &Cut, terms: impl Iterator<Item = u32>) -> u32 {
        let (fixed, slots) = (&mut self.fixed, &mut self.slots);
        let words = cut.words.iter();
        fixed.extend(
            terms
                .zip(words.clone().filter(|word| !word.is_slot))
                .map(|(term, word)| (term, word.position)),
        );
        slots.extend(words.filter(|word| word.is_slot).map(|word| word.position));
        self.forms.extend_from_slice(&form.bytes);
        let shape = u32::try_from(self.shapes.len()).unwrap_or(u32::MAX);
        self.shapes.push(Shape {
            form_end: self.forms.len(),
            fixed_end: self.fixed.len(),
            slots_end: self.slots.len(),
            num_docs: 0,
        });
        if 2 * self.shapes.len() > self.table.len() {
            let len = (4 * self.table.len()).max(64);
            let old = std::mem::replace(&mut self.table, vec![(0, 0); len]);
            for (hash, shape) in old.into_iter().filter(|(_, shape)| *shape != 0) {
                self.put(hash, shape);
            }
        }
        self.put(form.hash, shape + 1);
        shape
    }

    fn put(&mut self, hash: u64, shape: u32) {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = (hash, shape);
    }

    /// Frees what only finding shapes needs.
    pub(crate) fn close(&mut self) {
        (self.table, self.forms, self.met) = (Vec::new(), Vec::new(), Vec::new());
    }
}

/// The words of a text without its words with digits, as bytes.
#[derive(Default)]
pub(crate) struct Form {
    bytes: Vec<u8>,
    hash: u64,
}

impl Form {
    /// Becomes the form of a text.
    #[inline]
    pub(crate) fn set(&mut self, cut: &Cut) {
        self.bytes.clear();
        for word in &cut.words {
            match word.is_slot {
                true => self.bytes.push(SLOT),
                false => {
                    self.bytes.extend_from_slice(cut.bytes(word));
                    self.bytes.push(AFTER_WORD);
                }
            }
        }
        self.hash = xxh3_64(&self.bytes);
    }
}
