//! The parts of a line's head: words, and groups in brackets.
//!
//! ```text
//! [main] o.a.X$Y: text          1234#5678: *90
//! └group┘└─word─┘└ its tail     └─number──┘└ tail
//! ```

mod class;
mod compound;
mod cuts;
mod part;
mod whole;

pub(super) use class::{
    Class, class, is_id, is_letter, is_letter_in_brackets, is_level, is_mark, is_number,
    is_small_letter, is_source, is_word,
};
pub(super) use compound::{
    is_name_and_process, level_and_id, logcat, logcat_parts, named_level, thread_and_name,
    topic_level,
};
pub(super) use cuts::opens_before_date;
pub(super) use part::{Element, after_space, element, quoted};
pub(crate) use whole::goes_on;
pub(super) use whole::{is_of_trace, is_preamble};
