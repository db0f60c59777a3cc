//! What a desktop program needs to find the person's session; no command of a model's gets it.

use std::ffi::OsString;

/// Variables that lead to the session's bus and screen.
const VARIABLES: [&str; 8] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CURRENT_DESKTOP",
    "XDG_DATA_DIRS",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
];

/// Those that are set.
pub(crate) fn environment() -> Vec<(String, OsString)> {
    let set = VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)));
    set.filter(|(_, value)| !value.is_empty()).collect()
}
