//! Chromium from the system's package manager: only as root, on Debian and its derivatives, and in
//! CI or on request.

use std::env;

use anyhow::{Result, ensure};

use super::{find, install_debian, is_named_by};
use crate::workspace::Workspace;

pub(super) fn install(_: &Workspace) -> Result<()> {
    if is_named_by("CANTER_CHROMIUM")
        || find(&["chromium", "chromium-browser", "google-chrome"]).is_some()
    {
        return Ok(());
    }
    let may_install = env::var_os("CI").is_some() || is_named_by("CANTER_INSTALL_CHROMIUM");
    ensure!(
        may_install && find(&["apt-get"]).is_some(),
        "there is none on the path; install it, name it in CANTER_CHROMIUM, or (as root, on Debian) set \
         CANTER_INSTALL_CHROMIUM=1"
    );
    install_debian("chromium")
}
