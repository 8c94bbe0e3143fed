//! Java, as the machine has it. Where there is none, CI installs what Debian has.

use std::env;

use anyhow::{Result, ensure};

use super::{find, install_debian};

/// Makes sure that there is a Java.
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
