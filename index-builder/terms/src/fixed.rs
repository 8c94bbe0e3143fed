//! Documents of the fixed words of shapes.

use crate::field::FieldTerms;
use crate::seal::Place;

/// Sets of documents with less than one in this many are sorted; others are bits.
const SPARSE: usize = 64;

/// The fixed words of a field's shapes.
#[derive(Default)]
pub(crate) struct Fixed {
    /// By rank of the term.
    words: Vec<FixedWord>,
    /// Positions of each word in each shape, each as the difference to the one before.
    deltas: Vec<u32>,
    /// Documents of each shape.
    docs: Vec<Vec<u32>>,
    /// Shape of each document + 1.
    shapes: Vec<u16>,
    /// Index of the first word that was not asked for.
    next: usize,
    /// For each shape, the range of the current word's differences.
    current: Vec<(u32, u32)>,
    bits: Vec<u64>,
    sorted: Vec<u32>,
}

struct FixedWord {
    rank: u32,
    shape: u32,
    start: u32,
    end: u32,
}

impl Fixed {
    pub(crate) fn new(field: &FieldTerms, ranks: &[u32], num_docs: u32) -> Self {
        let shapes = &field.shapes;
        let num_shapes = shapes.len() as u32;
        if num_shapes == 0 {
            return Self::default();
        }
        let mut fixed = Self {
            shapes: vec![0; num_docs as usize],
            current: vec![(0, 0); shapes.len()],
            bits: vec![0; num_docs as usize / 64 + 1],
            ..Self::default()
        };
        let mut words: Vec<(u32, u32)> = Vec::new();
        for shape in 0..num_shapes {
            let num = shapes.num_docs(shape) as usize;
            fixed.docs.push(Vec::with_capacity(num));
            words.clear();
            let of_shape = shapes.fixed(shape).iter();
            words.extend(of_shape.map(|(term, position)| (ranks[*term as usize], *position)));
            words.sort_unstable();
            for word in words.chunk_by(|(one, _), (other, _)| one == other) {
                let start = fixed.deltas.len() as u32;
                let mut last = 0;
                for (_, position) in word {
                    fixed.deltas.push(position - last);
                    last = *position;
                }
                fixed.words.push(FixedWord {
                    rank: word[0].0,
                    shape,
                    start,
                    end: fixed.deltas.len() as u32,
                });
            }
        }
        fixed.words.sort_by_key(|word| word.rank);
        field.log.for_each_shape(shapes, |doc, shape| {
            fixed.docs[shape as usize].push(doc);
            fixed.shapes[doc as usize] = shape as u16 + 1;
        });
        fixed
    }

    /// Returns the documents of a term in shapes; terms are asked for in order.
    pub(crate) fn of_term(&mut self, rank: u32) -> InShapes<'_> {
        let start = self.next;
        let words = self.words[start..].iter();
        let num = words.take_while(|word| word.rank == rank).count();
        self.next += num;
        InShapes {
            words: start..start + num,
            fixed: self,
        }
    }
}

/// Documents that have a term because of their shapes.
pub(crate) struct InShapes<'f> {
    words: std::ops::Range<usize>,
    fixed: &'f mut Fixed,
}

impl InShapes<'_> {
    /// Returns the number of these documents.
    pub(crate) fn num_docs(&self) -> u32 {
        let words = self.fixed.words[self.words.clone()].iter();
        words
            .map(|word| self.fixed.docs[word.shape as usize].len() as u32)
            .sum()
    }

    /// Passes on these documents and those of `places` in order, with the differences of positions in their shapes, or
    /// `None` for those of `places`. No document is both.
    pub(crate) fn for_each_doc(self, places: &[Place], mut take: impl FnMut(u32, Option<&[u32]>)) {
        let num_docs = self.num_docs() as usize;
        let Self { words, fixed } = self;
        let words = &fixed.words[words];
        let deltas = |(start, end): (u32, u32)| &fixed.deltas[start as usize..end as usize];
        match words {
            [] => {
                for doc in places.chunk_by(|one, other| one.doc == other.doc) {
                    take(doc[0].doc, None);
                }
                return;
            }
            [only] if places.is_empty() => {
                let deltas = deltas((only.start, only.end));
                for doc in &fixed.docs[only.shape as usize] {
                    take(*doc, Some(deltas));
                }
                return;
            }
            _ => {}
        }
        for word in words {
            fixed.current[word.shape as usize] = (word.start, word.end);
        }
        let mut explicit = places.iter().map(|place| place.doc).peekable();
        let (shapes, current) = (&fixed.shapes, &fixed.current);
        let mut pass_on = |doc: u32| {
            if explicit.peek() == Some(&doc) {
                while explicit.next_if_eq(&doc).is_some() {}
                return take(doc, None);
            }
            let shape = usize::from(shapes[doc as usize]) - 1;
            take(doc, Some(deltas(current[shape])));
        };
        let of_shapes = words.iter().map(|word| &fixed.docs[word.shape as usize]);
        let all = of_shapes.flatten().copied();
        let all = all.chain(places.iter().map(|place| place.doc));
        if (num_docs + places.len()) * SPARSE < shapes.len() {
            fixed.sorted.clear();
            fixed.sorted.extend(all);
            fixed.sorted.sort_unstable();
            fixed.sorted.dedup();
            fixed.sorted.iter().for_each(|doc| pass_on(*doc));
            return;
        }
        fixed.bits.fill(0);
        for doc in all {
            fixed.bits[doc as usize / 64] |= 1 << (doc % 64);
        }
        for (word, first) in fixed.bits.iter().zip((0..).step_by(64)) {
            let mut left = *word;
            while left != 0 {
                pass_on(first + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }
}
