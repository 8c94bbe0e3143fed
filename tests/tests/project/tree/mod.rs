//! The tree itself: circles of files, and the sizes of folders, files and functions. Remaining exceptions are listed in
//! `exceptions.rs`, which can only become shorter.

mod circles;
mod exceptions;
mod functions;
mod imports;
mod sizes;
mod source;
