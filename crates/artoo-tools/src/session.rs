//! Environment variables of the user's desktop session; commands of models don't get them.

use std::ffi::OsString;

/// Names of environment variables with the addresses of the desktop session's D-Bus and display.
const VARIABLES: &str = "DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_CURRENT_DESKTOP \
    XDG_DATA_DIRS XDG_RUNTIME_DIR XDG_SESSION_TYPE";

/// The desktop session's variables that are set and not empty in artoo's own environment, with their values.
pub(crate) fn environment() -> Vec<(String, OsString)> {
    let set = VARIABLES.split(' ').filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)));
    set.filter(|(_, value)| !value.is_empty()).collect()
}
