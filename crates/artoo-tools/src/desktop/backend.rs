//! Which programs of a desktop are here, and what each act becomes with them.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::config::ToolConfig;
use crate::desktop::act::{Act, Action};
use crate::process::{Invocation, find_program};

/// The desktop of this machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desktop {
    /// `notify-send`
    notify: Option<PathBuf>,
    /// `systemd-run` and `xdg-open` or `gio open`
    open: Option<Vec<OsString>>,
    /// `wl-paste`, `xclip` or `xsel`
    read_clipboard: Option<Vec<OsString>>,
    /// `systemd-run` and `wl-copy`
    write_clipboard: Option<Vec<OsString>>,
    /// `gdbus`
    pub(super) bus: Option<PathBuf>,
    /// Variables that lead to the session.
    session: Vec<(String, OsString)>,
}

impl Desktop {
    /// Looks for the programs; `None` where no act has one, or nobody is logged in at a screen.
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        let has = |name: &str| config.session.iter().any(|(known, _)| known == name);
        let program = |name: &str| find_program(config, name);
        let command = |name: &str, arguments: &[&str]| {
            let first = program(name)?.into_os_string();
            Some([first].into_iter().chain(arguments.iter().map(OsString::from)).collect::<Vec<_>>())
        };
        let has_bus = has("DBUS_SESSION_BUS_ADDRESS") || has("XDG_RUNTIME_DIR");
        let has_screen = has("WAYLAND_DISPLAY") || has("DISPLAY");
        let apart = || outliving(program("systemd-run")?, &config.session);
        let when = |condition: bool| condition.then_some(());
        let paste = || match (has("WAYLAND_DISPLAY"), has("DISPLAY")) {
            (true, _) => command("wl-paste", &["--no-newline", "--type", "text"]),
            (false, true) => command("xclip", &["-selection", "clipboard", "-o"])
                .or_else(|| command("xsel", &["--clipboard", "--output"])),
            (false, false) => None,
        };
        let desktop = Self {
            notify: when(has_bus).and_then(|()| program("notify-send")),
            open: when(has_bus && has_screen).and_then(|()| {
                let opener = command("xdg-open", &[]).or_else(|| command("gio", &["open"]))?;
                Some([apart()?, opener].concat())
            }),
            read_clipboard: paste(),
            write_clipboard: when(has_bus && has("WAYLAND_DISPLAY")).and_then(|()| {
                let holder = command("wl-copy", &["--foreground", "--type", "text/plain", "--"])?;
                Some([apart()?, holder].concat())
            }),
            bus: when(has_bus).and_then(|()| program("gdbus")),
            session: config.session.clone(),
        };
        (!desktop.actions().is_empty()).then_some(desktop)
    }

    /// What can be done here.
    pub(super) fn actions(&self) -> Vec<Action> {
        let all = [
            (Action::Notify, self.notify.is_some()),
            (Action::Open, self.open.is_some()),
            (Action::ReadClipboard, self.read_clipboard.is_some()),
            (Action::WriteClipboard, self.write_clipboard.is_some()),
            (Action::Media, self.bus.is_some()),
        ];
        all.into_iter().filter(|(_, is_here)| *is_here).map(|(action, _)| action).collect()
    }

    /// The one program that does an act; `None` for what takes several steps, and where there is none.
    pub(super) fn invocation(&self, act: &Act) -> Option<Invocation> {
        match act {
            Act::Notify { title, text } => {
                // A notification's text may hold markup; this one's letters mean themselves.
                let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let arguments = ["--app-name=artoo", "--", title.as_str(), text.as_str()];
                Some(self.program(self.notify.clone()?, arguments.into_iter().map(OsString::from).collect()))
            }
            Act::Open { target } => self.command(self.open.as_ref()?, Some(target)),
            Act::ReadClipboard {} => self.command(self.read_clipboard.as_ref()?, None),
            Act::WriteClipboard { text } => self.command(self.write_clipboard.as_ref()?, Some(text)),
            Act::Media { .. } => None,
        }
    }

    fn command(&self, words: &[OsString], last: Option<&String>) -> Option<Invocation> {
        let (program, arguments) = words.split_first()?;
        let arguments = arguments.iter().cloned().chain(last.map(OsString::from)).collect();
        Some(self.program(PathBuf::from(program), arguments))
    }

    pub(super) fn program(&self, program: PathBuf, arguments: Vec<OsString>) -> Invocation {
        let name = program.file_name().unwrap_or_default().to_owned();
        Invocation { program, name, arguments, environment: self.session.clone() }
    }
}

/// A start by the person's own systemd: what runs there is none of ours and outlives the call. It ends when its last
/// process does.
fn outliving(systemd_run: PathBuf, session: &[(String, OsString)]) -> Option<Vec<OsString>> {
    let mut command: Vec<OsString> = vec![systemd_run.into_os_string()];
    command.extend(["--user", "--quiet", "--collect", "--property=ExitType=cgroup"].map(OsString::from));
    for (name, value) in session {
        command.push(format!("--setenv={name}={}", value.to_str()?).into());
    }
    command.push("--".into());
    Some(command)
}
