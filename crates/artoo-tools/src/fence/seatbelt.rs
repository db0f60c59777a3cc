//! The sandbox as a profile for macOS's `sandbox-exec`.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::Fence;
use crate::process::{Invocation, Order};

/// Path of `sandbox-exec`, which macOS installs; a program of that name elsewhere is not trusted.
const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// The path of `sandbox-exec`, if it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    let program = PathBuf::from(PROGRAM);
    program.is_file().then_some(program)
}

/// The order to run a program, changed to run it by `sandbox-exec` with this profile.
pub(crate) fn wrapped(program: &Path, order: Order, scratch: &Path) -> Order {
    let profile = profile(&order.fence, order.read_allowlist.hidden(), scratch);
    // `sandbox-exec` passes the path as `argv[0]`.
    let Invocation { program: sandboxed, arguments, environment, .. } = order.invocation;
    let arguments = [OsString::from("-p"), profile.into(), sandboxed.into_os_string()].into_iter().chain(arguments);
    let (program, name, arguments) = (program.to_path_buf(), "sandbox-exec".into(), arguments.collect());
    Order { invocation: Invocation { program, name, arguments, environment }, ..order }
}

/// The text of a `sandbox-exec` profile for this sandbox. The last rule that matches decides.
pub(crate) fn profile(fence: &Fence, hidden: &[PathBuf], scratch: &Path) -> String {
    let mut text = String::from(
        "(version 1)\n(allow default)\n(deny file-write*)\n(deny network*)\n(deny mach-lookup)\n(deny appleevent-send)\n\
         (deny signal (target others))\n(deny process-info* (target others))\n(deny file-link)\n(deny system-socket)\n",
    );
    // For looking up users, names and the time.
    for service in ["com.apple.system.opendirectoryd.libinfo", "com.apple.system.notification_center", "com.apple.logd"]
    {
        rule(&mut text, "allow mach-lookup", "global-name", service);
    }
    for device in ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"] {
        rule(&mut text, "allow file-write-data", "literal", device);
    }
    path_rule(&mut text, "allow file-write*", scratch);
    path_rule(&mut text, "allow file-link", scratch);
    if fence.reach.network {
        text.push_str(
            "(allow network-outbound (remote ip))\n(allow network-inbound (local ip))\n(allow system-socket)\n",
        );
        rule(&mut text, "allow network-outbound", "literal", "/private/var/run/mDNSResponder");
    }
    for socket in &fence.reach.sockets {
        text.push_str("(allow system-socket)\n");
        rule(&mut text, "allow network-outbound", "literal", &socket.to_string_lossy());
    }
    for path in hidden {
        path_rule(&mut text, "deny file-read-data file-write*", path);
    }
    for path in &fence.readable {
        path_rule(&mut text, "allow file-read-data", path);
    }
    for path in &fence.left_out {
        path_rule(&mut text, "deny file-read-data", path);
    }
    for path in &fence.granted {
        path_rule(&mut text, "allow file-write*", path);
    }
    for path in &fence.kept_back {
        path_rule(&mut text, "deny file-read-data file-write*", path);
    }
    // No set-id bits, whatever was approved.
    text.push_str("(deny file-write-setugid)\n");
    text
}

/// Adds to a `sandbox-exec` profile a rule for a path and everything below it.
fn path_rule(text: &mut String, action: &str, path: &Path) {
    rule(text, action, "subpath", &path.to_string_lossy());
}

/// Adds one rule to the text of a `sandbox-exec` profile: allow or deny, for a path or a service.
fn rule(text: &mut String, action: &str, kind: &str, name: &str) {
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a `String` does not fail.
    let _ = writeln!(text, "({action} ({kind} \"{escaped}\"))");
}

/// Tests of the text of a `sandbox-exec` profile.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::Reach;

    /// The `sandbox-exec` profile has exactly the expected rules and denies artoo's own data after all that it allows.
    #[test]
    fn profile_denies_own_data_last() {
        let fence = Fence {
            granted: vec!["/Users/ada/a \"quoted\"\\ name".into()],
            kept_back: vec!["/Users/ada/.artoo".into()],
            readable: vec!["/Users/ada/.zshrc".into()],
            left_out: vec!["/Users/ada/project/.env".into()],
            reach: Reach::default(),
            stops_at_denial: false,
        };
        let hidden = ["/Users/ada/.ssh".into(), "/Users/ada/.zshrc".into()];
        let expected = r#"(version 1)
(allow default)
(deny file-write*)
(deny network*)
(deny mach-lookup)
(deny appleevent-send)
(deny signal (target others))
(deny process-info* (target others))
(deny file-link)
(deny system-socket)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow mach-lookup (global-name "com.apple.system.notification_center"))
(allow mach-lookup (global-name "com.apple.logd"))
(allow file-write-data (literal "/dev/null"))
(allow file-write-data (literal "/dev/zero"))
(allow file-write-data (literal "/dev/random"))
(allow file-write-data (literal "/dev/urandom"))
(allow file-write* (subpath "/private/tmp/artoo-1"))
(allow file-link (subpath "/private/tmp/artoo-1"))
(deny file-read-data file-write* (subpath "/Users/ada/.ssh"))
(deny file-read-data file-write* (subpath "/Users/ada/.zshrc"))
(allow file-read-data (subpath "/Users/ada/.zshrc"))
(deny file-read-data (subpath "/Users/ada/project/.env"))
(allow file-write* (subpath "/Users/ada/a \"quoted\"\\ name"))
(deny file-read-data file-write* (subpath "/Users/ada/.artoo"))
(deny file-write-setugid)
"#;
        assert_eq!(profile(&fence, &hidden, Path::new("/private/tmp/artoo-1")), expected);
        let reach = Reach { network: true, sockets: vec!["/run/s".into()], ..Reach::default() };
        let open = profile(&Fence { reach, ..fence }, &hidden, Path::new("/private/tmp/artoo-1"));
        assert!(open.contains("(allow network-outbound (remote ip))"), "{open}");
        assert!(open.contains("(allow network-outbound (literal \"/run/s\"))"), "{open}");
    }
}
