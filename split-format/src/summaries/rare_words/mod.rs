//! Rare words: words with digits that few documents contain, without a dictionary.
//!
//! Log lines name requests, blocks and sessions, each in a few lines. In a dictionary, such a word
//! costs all of its characters and two posting lists. Here it costs what tells it apart from its
//! neighbours in the order of all rare words (its **stub**), some bits of a hash of the whole word,
//! and its document ids.
//!
//! ```text
//!   words                  stubs        look-up of 1608999687919862906
//!   1608987012345678901    160898
//!   1608999687919862906    16089996     the only stub with which it begins; the hash decides whether
//!   1608999712345678901    16089997     its documents are candidates
//! ```
//!
//! Stubs are in the order of the words. The words of a prefix or of a range are therefore in a few
//! blocks, and an automaton walks over stubs like over terms. A table by hash would serve single words
//! only.
//!
//! What stubs leave out is known by its classes of bytes, block by block: where only digits follow, no word ends in `timeout`.
//!
//! Documents that are found here are **candidates**: only the stored document says whether it contains
//! the word.

mod block;
mod classes;
mod index;
mod stubs;
mod writer;

pub use block::{RareWord, RareWords};
pub use classes::ByteClasses;
pub use index::{RareBlock, RareWordsIndex};
pub use stubs::RareStubs;
pub use writer::{RareWordsWriter, WrittenRareWords, may_be_rare};

#[cfg(test)]
mod tests;
