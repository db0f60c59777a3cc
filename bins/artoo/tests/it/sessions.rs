//! Scripted sessions in a terminal of 80 columns, whose transcripts are compared with recorded ones.

mod model;
mod plain;

use std::fs::{self, File};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::pty::{CTRL_C, CTRL_D, Pty};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::world::{ARTOO, World};

const COLUMNS: u16 = 80;

/// Number of scripted sessions that run in parallel.
const AT_ONCE: usize = 4;

/// Folder of the transcripts, relative to the crate's folder.
const FOLDER: &str = "/../../fixtures/sessions";

/// Words of a transcript and what the rest of their line is replaced by, since it differs between runs.
const VARYING: [(&str, &str); 2] =
    [("show the free disk space of ~: ", "23.9 GB"), ("Reverting what was done on ", "15 May 12:00:")];

const README_BEGIN: &str = "<!-- a first session: begin -->\n```text\n";
const README_END: &str = "```\n<!-- a first session: end -->";

/// A scripted session: its files, what the user types, the expected exit codes, and the model.
struct Session {
    name: &'static str,
    /// Files below the home folder with their content.
    files: &'static [(&'static str, Content)],
    /// What is typed, one after the other:
    /// - `$ …`: a command in a shell
    /// - `> …`: a line at the prompt of artoo
    /// - `? …`: the answer to a question
    /// - `^C`: Ctrl-C while the model is asked
    /// - `^D`: Ctrl-D at the prompt of artoo
    typed: &'static [&'static str],
    /// The exit code of each command.
    codes: &'static [i32],
    model: Option<fn(&ReceivedRequest) -> Reply>,
}

/// The content of a file in a session's home folder: a text, or this number of bytes.
enum Content {
    Text(&'static str),
    Bytes(usize),
}

/// A scripted session that is running: its terminal, model server, exit codes, and the transcript so far.
struct Run {
    world: World,
    server: Option<Server>,
    shown: String,
    pty: Option<Pty>,
    /// Number of prompts of artoo, and of questions, that the running command showed.
    prompts: usize,
    questions: usize,
    codes: Vec<i32>,
}

impl Run {
    /// Creates the session's home folder with its files, and starts its model server.
    fn new(session: &Session) -> Self {
        let world = World::in_short_home();
        for (path, content) in session.files {
            let path = match content {
                Content::Text(text) => world.file(path, text),
                Content::Bytes(number) => world.file(path, vec![b'x'; *number]),
            };
            // The times are shown.
            let day = SystemTime::UNIX_EPOCH + Duration::from_secs(1_715_774_400);
            File::options().write(true).open(path).unwrap().set_modified(day).unwrap();
        }
        let server = session.model.map(Server::start);
        Self { world, server, shown: String::new(), pty: None, prompts: 0, questions: 0, codes: Vec::new() }
    }

    /// Starts a command of the session in a pseudo-terminal and adds it to the transcript.
    fn start(&mut self, typed: &str) {
        self.end();
        self.shown.push_str(&format!("$ {typed}\n"));
        let base = match &self.server {
            Some(server) => self.world.with_model(server, &[]),
            None => self.world.command(&[]),
        };
        let folder = Path::new(ARTOO).parent().unwrap();
        let mut shell = Command::new("sh");
        // The shell outlives Ctrl-C, as the person's own does.
        shell.args(["-c", &format!("trap : INT; {typed}\nexit $?")]).current_dir(self.world.home());
        shell.envs(base.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())).env("TZ", "UTC");
        self.pty = Some(Pty::start(&shell, COLUMNS));
        (self.prompts, self.questions) = (0, 0);
    }

    /// Waits for the end of the running command, and adds its screen to the transcript.
    fn end(&mut self) {
        if let Some(pty) = self.pty.take() {
            let (code, rows) = pty.ended_with_rows();
            self.codes.push(code);
            self.shown.extend(rows.iter().map(|row| format!("{row}\n")));
        }
    }

    /// Performs one step of a session: starts a command (text after `$ `), or types a text or key.
    fn step(&mut self, typed: &str) {
        if let Some(command) = typed.strip_prefix("$ ") {
            return self.start(command);
        }
        let pty = self.pty.as_mut().unwrap();
        let (key, text) = typed.split_at(1);
        let count = |pty: &Pty, is_one: fn(&str) -> bool| pty.screen().lines().filter(|row| is_one(row)).count();
        match (key, text) {
            (">", text) => {
                self.prompts += 1;
                let number = self.prompts;
                pty.wait("the prompt", |pty| {
                    pty.row().trim_end() == "artoo>" && count(pty, |row| row.starts_with("artoo>")) == number
                });
                pty.enter(text.trim_start());
            }
            ("?", text) => {
                self.questions += 1;
                let number = self.questions;
                pty.wait("the question", |pty| count(pty, |row| row.contains("[y/N")) == number);
                pty.enter(text.trim_start());
            }
            ("^", "D") => {
                self.prompts += 1;
                let number = self.prompts;
                pty.wait("the prompt", |pty| count(pty, |row| row.starts_with("artoo>")) == number);
                pty.send(CTRL_D);
            }
            ("^", "C") => {
                let server = self.server.as_ref().unwrap();
                pty.wait("the model's turn", |_| !server.asked().is_empty());
                pty.send(CTRL_C);
            }
            _ => panic!("{typed}: not a step"),
        }
    }
}

/// Runs a scripted session; returns its transcript, and an error text if the exit codes are not the expected ones.
fn transcript(session: &Session) -> (String, Option<String>) {
    let mut run = Run::new(session);
    session.typed.iter().for_each(|typed| run.step(typed));
    run.end();
    let shown = stable(&run.shown.replace(run.world.home().to_str().unwrap(), "/home/ada"));
    let differ = run.codes != session.codes;
    let problem = differ.then(|| format!("exit codes {:?}, not {:?}", run.codes, session.codes));
    (shown, problem)
}

/// Replaces what differs between runs in a transcript by fixed text (times, ids, the size of the disk), and removes
/// lines that count one model call.
fn stable(text: &str) -> String {
    let text = replace_shape(text, "9999-99-99T99:99:99.999Z", "2024-05-15T12:00:00.000Z");
    let text = replace_shape(&text, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "61730835-f792-4593-8908-937b69b82252");
    let line = |line: &str| {
        let cut = VARYING.into_iter().find_map(|(before, after)| Some((line.find(before)? + before.len(), after)));
        cut.map_or_else(|| line.to_owned(), |(end, after)| format!("{}{after}", &line[..end]))
    };
    // A call that is cancelled is counted if its end comes before that of the task.
    text.lines().filter(|text| !text.starts_with("  1 model call, ")).map(|text| line(text) + "\n").collect()
}

/// Replaces each text of a shape, in which `9` stands for a digit and `h` for a hexadecimal digit, by `with`.
fn replace_shape(text: &str, shape: &str, with: &str) -> String {
    let fits = |text: &str| {
        text.len() >= shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, kind)| match kind {
                b'9' => byte.is_ascii_digit(),
                b'h' => byte.is_ascii_hexdigit(),
                kind => byte == kind,
            })
    };
    let (mut replaced, mut rest) = (String::new(), text);
    while let Some(next) = rest.chars().next() {
        let (piece, length) =
            if fits(rest) { (with, shape.len()) } else { (&rest[..next.len_utf8()], next.len_utf8()) };
        replaced.push_str(piece);
        rest = &rest[length..];
    }
    replaced
}

/// The path of a session's recorded transcript.
fn file(session: &Session) -> PathBuf {
    PathBuf::from(format!("{}{FOLDER}/{}.txt", env!("CARGO_MANIFEST_DIR"), session.name))
}

/// Whether `ARTOO_BLESS` is set, so that transcripts are written instead of compared.
fn is_blessed() -> bool {
    std::env::var_os("ARTOO_BLESS").is_some()
}

/// The transcripts of the scripted sessions equal the recorded ones.
#[test]
fn sessions_match_their_snapshots() {
    let wanted = std::env::var("ARTOO_SESSION").unwrap_or_default();
    let sessions = plain::SESSIONS.iter().chain(model::SESSIONS).filter(|session| session.name.contains(&wanted));
    let (waiting, differing) = (Mutex::new(sessions), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(session) = waiting.lock().unwrap().next() else { return };
                    // One that hangs does not keep the others from being shown.
                    let hung = |_| (String::new(), Some("it did not go on as typed".to_owned()));
                    let (found, mut problem) = catch_unwind(|| transcript(session)).unwrap_or_else(hung);
                    let path = file(session);
                    if is_blessed() && problem.is_none() {
                        fs::write(path, &found).unwrap();
                    } else if !is_blessed() && fs::read_to_string(path).unwrap_or_default() != found {
                        problem.get_or_insert_with(|| "another transcript".to_owned());
                    }
                    let problem = problem.map(|problem| format!("{}: {problem}\n{found}", session.name));
                    differing.lock().unwrap().extend(problem);
                }
            });
        }
    });
    let differing = differing.into_inner().unwrap();
    assert!(differing.is_empty(), "ARTOO_BLESS=1 writes these anew:\n{}", differing.join("\n"));
}

/// The session in README.md equals what artoo shows for the same input.
#[test]
fn readme_session_matches_output() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once(README_BEGIN).expect("the README holds a first session");
    let (shown, after) = rest.split_once(README_END).expect("the first session ends");
    let (found, problem) = transcript(&plain::README);
    assert_eq!(problem, None, "{found}");
    if is_blessed() {
        fs::write(path, format!("{before}{README_BEGIN}{found}{README_END}{after}")).unwrap();
        return;
    }
    assert_eq!(shown, found, "ARTOO_BLESS=1 writes it anew");
}
