//! Hosts, one small module for each, behind common traits.

mod canter_serve;
mod chromium;
mod client;
mod javascript;
mod lambda;
mod listening;
mod viceroy;
mod wasmtime;
mod wasmtime_run;
mod wasmtime_serve;

pub(crate) use listening::Listening;

use std::path::PathBuf;

use anyhow::Result;

use super::{Answer, Call, Machine, Site};

/// Way to run the search API.
pub trait Host {
    /// Returns the stable name, as in `--host` and in the table.
    fn name(&self) -> &'static str;

    /// Returns a description for people.
    fn title(&self) -> &'static str;

    /// Returns true if another host runs the same program, on another platform.
    fn shares_its_program(&self) -> bool {
        false
    }

    /// Returns our files that the host runs, whose sizes the table shows.
    ///
    /// # Errors
    /// This machine lacks a requirement; the message says how to get it.
    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String>;

    /// Starts the host with a site's indexes, ready for requests.
    ///
    /// # Errors
    /// The host does not start; the message contains its output.
    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>>;
}

/// True if a host caches its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// The host caches nothing.
    Off,
    /// The host uses the caches of its platform, initially empty.
    On,
}

/// Running host; dropping it stops the host.
pub trait Running {
    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// No HTTP answer arrives.
    fn send(&mut self, call: &Call) -> Result<Answer>;

    /// Returns whether the host can express a request. A command line has no paths and methods.
    fn carries(&self, call: &Call) -> bool {
        let _ = call;
        true
    }
}

/// Returns all hosts. The first one is the reference for the others.
pub fn all() -> Vec<Box<dyn Host>> {
    vec![
        Box::new(canter_serve::NATIVE),
        Box::new(canter_serve::RUNTIME),
        Box::new(wasmtime_run::WasmtimeRun),
        Box::new(wasmtime_serve::WasmtimeServe),
        Box::new(javascript::WORKERD),
        Box::new(viceroy::Viceroy),
        Box::new(lambda::Lambda),
        Box::new(javascript::DENO),
        Box::new(javascript::NODE),
        Box::new(chromium::Chromium),
    ]
}
