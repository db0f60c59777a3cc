//! Why a view can't be made on this machine, and which setting would allow it.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::{paths, texts};

/// Why a view could not be made: switched off, not supported, or a step that the kernel refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoView {
    /// The settings of the tools switch views off.
    #[error("views are switched off in the settings (views = false)")]
    Off,
    #[error("there is no data folder to keep changes in (data_dir)")]
    NoData,
    #[cfg(not(target_os = "linux"))]
    #[error("this system has no overlay file system")]
    System,
    /// The attempt at the start of this process failed.
    #[error("{0}")]
    Tried(String),
    /// No folder that was named can be overlaid.
    #[error("none of these folders can be changed in a view: {}", list(.0))]
    NoFolder(Vec<PathBuf>),
    /// More mounts lie below the folders than a view is made of.
    #[error(
        "{folders} folders would have to be overlaid one by one, since mounts lie below them; the limit is {limit}"
    )]
    TooMany { folders: usize, limit: usize },
    /// The kernel refused a step.
    #[error("{step} failed: {error}{}", remedy(*.step, .error))]
    Refused { step: Step, error: io::Error },
}

/// The steps of making a view, in order, to name the failed one in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Step {
    /// The folders in which changes are kept.
    #[error("making the folders of a view")]
    State,
    /// A process with namespaces of its own.
    #[error("making a user and mount namespace")]
    Namespaces,
    /// The user's number inside the user namespace.
    #[error("mapping the user into the namespace")]
    Users,
    /// Files that are passed to mounts.
    #[error("opening the folders of a view")]
    Open,
    /// No mount is shared with the rest of the machine.
    #[error("making the mounts private")]
    Private,
    /// A mount of a folder of ours that stays writable.
    #[error("mounting a folder that stays writable")]
    Bind,
    /// All mounts read-only.
    #[error("making all mounts read-only")]
    ReadOnly,
    /// The overlay file system.
    #[error("making an overlay")]
    Overlay,
    /// An overlay in its place.
    #[error("mounting an overlay")]
    Attach,
    /// A mount over a hidden place.
    #[error("hiding a path")]
    Cover,
    /// Files made, renamed and deleted in a view, to try it.
    #[error("testing a view")]
    Trial,
}

impl Step {
    /// A function that turns an I/O error into the error that this step of making a view failed.
    pub(crate) fn failed<E: Into<io::Error>>(self) -> impl Fn(E) -> NoView {
        move |error| NoView::Refused { step: self, error: error.into() }
    }
}

/// The setting that would make views possible, to be added to an error; empty if none is known.
fn remedy(step: Step, error: &io::Error) -> String {
    let remedy = match (step, Errno::from_io_error(error)) {
        (Step::Namespaces, Some(Errno::NOSPC)) => {
            "allow user namespaces: sysctl user.max_user_namespaces=15000 (and user.max_mnt_namespaces)"
        }
        (Step::Namespaces, Some(Errno::PERM)) => {
            "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, in a container a seccomp profile that \
             allows clone, unshare and mount"
        }
        (Step::Namespaces, Some(Errno::INVAL | Errno::NOSYS)) => "a kernel with CONFIG_USER_NS is needed",
        (Step::Users | Step::Private | Step::Bind | Step::ReadOnly, Some(Errno::PERM | Errno::ACCESS)) => {
            "an AppArmor profile with `userns,` for artoo is needed, or \
             sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        }
        (Step::Private | Step::ReadOnly, Some(Errno::NOSYS)) => "Linux 5.12 or later is needed",
        (Step::Overlay, Some(Errno::NODEV)) => "the kernel has no overlay file system: modprobe overlay",
        (Step::Overlay, Some(Errno::PERM)) => "Linux 5.11 or later is needed",
        (Step::Overlay, Some(Errno::INVAL | Errno::OPNOTSUPP)) => {
            "artoo's data folder must lie on a file system that takes an upper layer (ext4, xfs, btrfs, tmpfs since \
             Linux 6.6), not on an overlay, NFS or FAT"
        }
        (Step::Cover, Some(Errno::PERM | Errno::INVAL)) => {
            "the administrator of this container could read hidden places: run artoo as another user"
        }
        _ => return String::new(),
    };
    format!("; {remedy}")
}

/// The folders joined to a list for an error message.
fn list(folders: &[PathBuf]) -> String {
    texts::first(folders.iter().map(|path| paths::line(path)), texts::NAMED_MAX)
}
