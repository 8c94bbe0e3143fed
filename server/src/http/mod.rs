//! Layers of every request and answer: bodies, hosts, origins, ids, media types, refusals; and the files of the search
//! page.

mod body;
mod following;
mod hosts;
mod identity;
mod inflate;
mod media;
mod origins;
pub(crate) mod page;
mod refusal;

pub(crate) use body::{Bodies, HeldBody, Share};
pub(crate) use following::follow;
pub use hosts::parse_allowed_host;
pub(crate) use hosts::{AllowedHosts, check_host};
pub use identity::FollowTrace;
pub(crate) use identity::identify;
pub(crate) use media::speak_as_asked;
pub use origins::Origins;
pub(crate) use refusal::{Api, RETRY_AFTER_SECONDS, Refuse};
