//! Runs the artoo program on one request at a terminal of its own, answers its questions, and reads its JSON events.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write, read_to_string};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::Fault;
use crate::world::PATH;

/// The ends of artoo's questions on the terminal, by which they are recognised: approval, confirmation, missing detail.
const PROMPTS: [&str; 3] = ["? details:", "[y/N]", "(empty: go on):"];

/// Interval at which the terminal is checked for questions and for the end of the program.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Time after artoo's own deadline at which its process is killed.
const GRACE: Duration = Duration::from_secs(20);

/// The artoo program to evaluate: its path, model, environment variables and deadline.
#[derive(Debug, Clone)]
pub(crate) struct Artoo {
    pub(crate) program: PathBuf,
    /// As artoo's option `--model`.
    pub(crate) model: String,
    /// Variables for the program, such as the model's key; never written to a result.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) deadline_s: u64,
}

/// What one run of artoo on a request left: exit code, last JSON line, corrections, questions and time.
#[derive(Debug, Default)]
pub(crate) struct RunResult {
    /// `None` if it was killed.
    pub(crate) code: Option<i32>,
    /// The last JSON line: the result or the error.
    pub(crate) last: Value,
    /// Number of correction messages.
    pub(crate) corrections: u64,
    pub(crate) questions: u64,
    pub(crate) seconds: f64,
}

impl RunResult {
    /// The answer in the run's result; empty if there is none.
    pub(crate) fn answer(&self) -> &str {
        self.last.pointer("/result/output").and_then(Value::as_str).unwrap_or_default()
    }

    /// The sum over all roles of a field of the result's usage, such as `model_calls`.
    pub(crate) fn used(&self, field: &str) -> u64 {
        let roles = self.last.get("usage").and_then(Value::as_object).into_iter().flatten();
        roles.filter_map(|(_, usage)| usage.get(field)?.as_u64()).sum()
    }
}

impl Artoo {
    /// Runs artoo on a request at a terminal of its own. Its questions get the `answers` in order, then the last one
    /// again (`y` by default).
    pub(crate) fn run(&self, home: &Path, data: &Path, request: &str, answers: &[String]) -> Result<RunResult, Fault> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let peer = OpenOptions::new().read(true).write(true).open(name.to_str()?)?;
        let mut command = Command::new(&self.program);
        command.args(["--json", "--plain", "--model", &self.model, "--deadline", &format!("{}s", self.deadline_s)]);
        command.arg("--data-dir").arg(data).args(["run", "--", request]).current_dir(home).env_clear();
        command.env("PATH", PATH).env("HOME", home).env("LANG", "C.UTF-8").env("TERM", "xterm").env("NO_COLOR", "1");
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).process_group(0);
        command.stdin(peer.try_clone()?).stderr(peer).stdout(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.program.display()))?;
        drop(command);
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let output = thread::spawn(move || read_to_string(stdout).unwrap_or_default());
        let mut terminal = File::from(master);
        let (sender, shown) = mpsc::channel();
        let mut reader = terminal.try_clone()?;
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                drop(sender.send(bytes.iter().take(read).copied().collect::<Vec<u8>>()));
            }
        });
        let (mut ran, mut text) = (RunResult::default(), Vec::<u8>::new());
        let status = loop {
            thread::sleep(LOOK_EVERY);
            text.extend(shown.try_iter().flatten());
            let end = String::from_utf8_lossy(&text);
            if PROMPTS.iter().any(|prompt| end.trim_end().ends_with(prompt)) {
                let answer = answers.get(ran.questions as usize).or(answers.last()).map_or("y", String::as_str);
                writeln!(terminal, "{answer}")?;
                ran.questions += 1;
                text.clear();
            }
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if began.elapsed() > Duration::from_secs(self.deadline_s) + GRACE {
                kill_process_group(Pid::from_child(&child), Signal::KILL)?;
                child.wait()?;
                break None;
            }
        };
        (ran.code, ran.seconds) = (status, began.elapsed().as_secs_f64());
        let output = output.join().map_err(|_| "the reader of standard output failed")?;
        for event in output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            ran.corrections += u64::from(event.get("kind").is_some_and(|kind| kind == "correction_signal"));
            ran.last = event;
        }
        Ok(ran)
    }
}
