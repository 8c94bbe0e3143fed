//! The server: its state, the router in front of it, and its life cycle.

mod router;
mod server;
mod state;

pub use server::Server;
