//! Java of the machine. CI installs Debian's if it is missing.

use std::env;

use anyhow::{Result, ensure};

use super::{find, install_debian};

/// Makes sure that Java is available.
pub(crate) fn java() -> Result<()> {
    if find(&["java"]).is_some() || env::var_os("JAVA_HOME").is_some() {
        return Ok(());
    }
    ensure!(
        env::var_os("CI").is_some() && find(&["apt-get"]).is_some(),
        "there is no java on the path, and JAVA_HOME is not set"
    );
    install_debian("default-jre-headless")
}
