//! Records with headers of their own, and free text below.

pub(super) mod git;
pub(super) mod mbox;
