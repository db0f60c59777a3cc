//! Runs artoo in a pseudo-terminal, types keys, and reads the emulated screen.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Number of rows of the pseudo-terminal: so many that no test's output scrolls.
const ROWS: u16 = 150;

/// Longest wait for an expected output; it is reached only if a test fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// How the last line of a question for approval begins.
pub(crate) const QUESTION: &str = "Allow it? [y";

pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";

/// A pseudo-terminal with the program running in it.
pub(crate) struct Pty {
    master: File,
    /// Held open, so that the terminal stays when the program ends.
    peer: Option<OwnedFd>,
    child: Child,
    reader: Option<JoinHandle<()>>,
    shown: Arc<Mutex<Shown>>,
}

/// The emulated screen of a pseudo-terminal, and all bytes that it received.
struct Shown {
    screen: vt100::Parser,
    raw: Vec<u8>,
}

impl Pty {
    /// Starts the command in a new pseudo-terminal of this width, as its foreground process.
    pub(crate) fn start(command: &Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let peer = ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        tcsetwinsize(&peer, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        // setsid(1) gives the program a session whose terminal this is, then becomes the program.
        let mut session = Command::new("setsid");
        session.arg("-c").arg(command.get_program()).args(command.get_args()).env_clear();
        session.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            session.env("TERM", "xterm");
        }
        session.current_dir(command.get_current_dir().unwrap());
        let end = || peer.try_clone().unwrap();
        let child = session.stdin(end()).stdout(end()).stderr(end()).spawn().expect("setsid(1) is there");
        let shown = Shown { screen: vt100::Parser::new(size(ROWS), size(columns), 0), raw: Vec::new() };
        let shown = Arc::new(Mutex::new(shown));
        let master = File::from(master);
        let (mut reader, writer) = (master.try_clone().unwrap(), Arc::clone(&shown));
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let mut shown = writer.lock().unwrap();
                shown.screen.process(&bytes[..read]);
                shown.raw.extend_from_slice(&bytes[..read]);
            }
        });
        Self { master, peer: Some(peer), child, reader: Some(reader), shown }
    }

    /// Types keys: sends the characters to the program's input.
    pub(crate) fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Types an input and Enter.
    pub(crate) fn enter(&mut self, text: &str) {
        self.send(text);
        self.send("\r");
    }

    /// The text of the screen.
    pub(crate) fn screen(&self) -> String {
        self.shown.lock().unwrap().screen.screen().contents()
    }

    /// The rows of the screen down to the last one with text.
    fn rows(&self) -> Vec<String> {
        let shown = self.shown.lock().unwrap();
        let screen = shown.screen.screen();
        let rows: Vec<String> = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect();
        let last = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.into_iter().take(last).collect()
    }

    /// All bytes that the terminal received, as text.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap().raw).into_owned()
    }

    /// The text of the row with the cursor.
    pub(crate) fn row(&self) -> String {
        let shown = self.shown.lock().unwrap();
        let screen = shown.screen.screen();
        let (row, _) = screen.cursor_position();
        screen.rows(0, screen.size().1.get()).nth(row.into()).unwrap_or_default()
    }

    /// Whether the program turned the terminal's bracketed paste mode on.
    pub(crate) fn marks_pastes(&self) -> bool {
        self.shown.lock().unwrap().screen.screen().bracketed_paste()
    }

    /// The column of the cursor.
    pub(crate) fn column(&self) -> u16 {
        self.shown.lock().unwrap().screen.screen().cursor_position().1
    }

    /// Waits until a condition holds; panics with `what` after the deadline.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let end = Instant::now() + DEADLINE;
        while !condition(self) {
            assert!(Instant::now() < end, "waited in vain for {what}\n{}\n[{}]", self.screen(), self.row());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the screen contains a text.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) {
        self.wait(text, |pty| pty.screen().contains(text));
    }

    /// Number of verdicts (lines that begin with ✓, ≈, ◐ or ✗) on the screen, one for each ended task.
    pub(crate) fn verdicts(&self) -> usize {
        self.screen().lines().filter(|row| row.starts_with(['✓', '≈', '◐', '✗'])).count()
    }

    /// Waits until this many tasks have ended.
    #[track_caller]
    pub(crate) fn ended_tasks(&self, number: usize) {
        self.wait("the task's end", |pty| pty.verdicts() >= number);
    }

    /// Waits until the cursor's row is artoo's prompt followed by exactly this typed text.
    #[track_caller]
    pub(crate) fn prompt(&self, typed: &str) {
        let expected = format!("artoo> {typed}");
        self.wait(&expected, |pty| pty.row().trim_end() == expected.trim_end());
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Whether the program has ended; its exit status can still be read afterwards.
    pub(crate) fn has_ended(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
    }

    /// Waits for the program's end and asserts that the terminal's modes are restored; returns exit code and screen
    /// text.
    #[track_caller]
    pub(crate) fn ended(self) -> (i32, String) {
        let (code, screen, _) = self.ended_with_bytes();
        (code, screen)
    }

    /// Waits for the program's end like [`Pty::ended`]; returns exit code, screen text, and all bytes that the terminal
    /// received.
    #[track_caller]
    pub(crate) fn ended_with_bytes(self) -> (i32, String, String) {
        let (code, pty) = self.wait_for_end();
        (code, pty.screen(), pty.raw())
    }

    /// Waits for the program's end like [`Pty::ended`]; returns exit code and the screen's rows, broken where the
    /// terminal wraps.
    #[track_caller]
    pub(crate) fn ended_with_rows(self) -> (i32, Vec<String>) {
        let (code, pty) = self.wait_for_end();
        (code, pty.rows())
    }

    /// Waits for the program's end and asserts that the terminal's modes are restored; returns the exit code and the
    /// terminal.
    #[track_caller]
    fn wait_for_end(mut self) -> (i32, Self) {
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < end, "it does not end\n{}", self.screen());
            thread::sleep(Duration::from_millis(5));
        };
        let peer = self.peer.take().unwrap();
        let modes = tcgetattr(&peer).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG), "{modes:?}");
        // With its last holder gone the terminal ends, and with it what there is to read.
        drop(peer);
        self.reader.take().unwrap().join().unwrap();
        let raw = self.raw();
        assert!(raw.rfind("\u{1b}[?2004l") >= raw.rfind("\u{1b}[?2004h"), "pastes are still marked");
        assert!(!raw.contains("panicked"), "{raw}");
        (status.code().expect("it ended by itself"), self)
    }
}

/// A number of rows or columns as a nonzero number.
fn size(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).unwrap()
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
