//! Actions of a program that the sandbox denied.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::texts;

/// Maximum number of denials recorded of one run; later ones are not recorded.
#[cfg(target_os = "linux")]
pub(crate) const DENIALS_MAX: usize = 1000;

/// Maximum number of paths, and of other denials, in the message about denials; only further paths are counted in it.
const NAMED_MAX: usize = 5;

/// An action of a program that the sandbox denied: a write, a connection, a signal, or another system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// Creating, changing, renaming or removing this path.
    Write(PathBuf),
    /// Setting its mode, owner, times or attributes.
    Metadata(PathBuf),
    /// Connecting to an address, or sending to it.
    Connection(SocketAddr),
    /// Using an internet socket without naming an address: by listening, or with raw packets.
    Network,
    /// Connecting to a socket of this machine: its path, or `@` and the abstract name.
    UnixSocket(PathBuf),
    /// Sending a signal to a process of another program; -1 means all of them.
    Signal { pid: i32, program: String },
    /// Another system call, by name.
    Call(&'static str),
}

impl Denial {
    /// Whether an approval can grant what was denied as access beyond files: the network, a socket with a path, or a
    /// signal.
    pub(crate) fn is_reach(&self) -> bool {
        match self {
            Self::Connection(_) | Self::Network => true,
            Self::UnixSocket(path) => path.is_absolute(),
            Self::Signal { pid, .. } => *pid > 0,
            Self::Write(_) | Self::Metadata(_) | Self::Call(_) => false,
        }
    }

    /// The path of a denied write or change of metadata; `None` for other denials.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Write(path) | Self::Metadata(path) => Some(path),
            Self::Connection(_) | Self::Network | Self::UnixSocket(_) | Self::Signal { .. } | Self::Call(_) => None,
        }
    }
}

/// Completes the sentence "it was not allowed to".
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = crate::paths::line;
        match self {
            Self::Write(path) => write!(f, "change {}", line(path)),
            Self::Metadata(path) => write!(f, "set the mode, owner, times or attributes of {}", line(path)),
            Self::Connection(address) => write!(f, "connect to {address}"),
            Self::Network => f.write_str("reach the network (any host)"),
            Self::UnixSocket(path) => write!(f, "connect to the socket {}", line(path)),
            Self::Signal { pid: -1, .. } => f.write_str("send a signal to all processes"),
            Self::Signal { pid, program } => {
                write!(f, "send a signal to process {pid} ({})", line(Path::new(program)))
            }
            Self::Call(name) => write!(f, "make the system call {name}"),
        }
    }
}

/// A message that explains why a command may have failed; `None` if nothing was denied.
pub(crate) fn remark(denials: &[Denial]) -> Option<String> {
    let paths: Vec<&Path> = denials.iter().filter_map(Denial::path).collect();
    let named = texts::first(paths.iter().map(|path| crate::paths::line(path)), NAMED_MAX);
    let changes = (!named.is_empty()).then(|| format!("it was not allowed to change {named}"));
    let others = denials.iter().filter(|denial| denial.path().is_none()).take(NAMED_MAX);
    let others = others.map(|denial| format!("it was not allowed to {denial}"));
    let remarks: Vec<String> = changes.into_iter().chain(others).collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// Tests of the messages about denied actions.
#[cfg(test)]
mod tests {
    use super::{Denial, remark};

    /// The message about denials names five of seven paths, the network and a signal, all on one line; without denials
    /// there is none.
    #[test]
    fn messages_name_five_paths_and_every_kind() {
        let write = |name: u32| Denial::Write(format!("/f{name}").into());
        let signal = Denial::Signal { pid: 7, program: "a\nb".to_owned() };
        let denials: Vec<Denial> = (0..7).map(write).chain([Denial::Network, signal]).collect();
        let expected = "it was not allowed to change /f0, /f1, /f2, /f3, /f4 and 2 more; it was not allowed to reach the \
                        network (any host); it was not allowed to send a signal to process 7 (";
        let said = remark(&denials).unwrap();
        assert!(said.starts_with(expected) && !said.contains('\n'), "{said}");
        assert_eq!(remark(&[]), None);
        assert_eq!(remark(&denials[8..9]).map(|said| said.lines().count()), Some(1));
    }
}
