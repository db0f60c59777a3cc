//! `desktop` on Linux: a notification, a file or page opened, the clipboard, and whatever plays music.
//!
//! Programs of the desktop do it (`notify-send`, `xdg-open`, `wl-paste`, `gdbus` …) rather than a D-Bus library: they
//! are there wherever the thing itself is, and each action is offered only where its program is. What has to outlive
//! the call (an opened program, the holder of the clipboard) is started by the person's own systemd, since everything a
//! call starts ends with it.

mod act;
mod backend;
mod media;
mod tool;

pub(crate) use backend::Desktop;
