//! The server: what it is made of, the router in front of that, and its life.

mod router;
mod server;
mod state;

pub use server::Server;
