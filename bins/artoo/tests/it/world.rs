//! The test environment: an empty home folder, no environment variables except the path, and the real program.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::server::Server;

/// Path of the program under test.
pub(crate) const ARTOO: &str = env!("CARGO_BIN_EXE_artoo");

/// Time limit given to every task in these tests.
const LIMIT: &str = "40s";

/// The endpoint's key in every test that has one; no output or file may contain it.
pub(crate) const KEY: &str = "sk-test-4242424242424242424242424242";

/// A temporary home folder in which tests run artoo.
pub(crate) struct World {
    home: PathBuf,
    /// Deletes the folder when the world ends.
    _root: TempDir,
}

/// The exit code and the output streams of one run of artoo.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl RunOutput {
    /// Reads a run's output, and asserts that it contains no key and no control characters.
    pub(crate) fn of(output: Output) -> Self {
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(stream.clone()).expect("streams are UTF-8");
            assert!(!text.contains(KEY), "the key is shown: {text}");
            assert!(!text.contains("panicked"), "a panic reached the user: {text}");
            let raw: Vec<char> =
                text.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\t') || *c == '\u{202e}').collect();
            assert!(raw.is_empty(), "raw control characters {raw:?} in {text}");
        }
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Every entry below a folder: its kind, mode and content.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl World {
    /// Creates an empty temporary home folder.
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        let home = root.path().canonicalize().unwrap().join("home");
        fs::create_dir(&home).unwrap();
        Self { home, _root: root }
    }

    /// Creates a home folder whose path is as long as `/home/ada`, so that lines with the path wrap at the same
    /// columns.
    pub(crate) fn in_short_home() -> Self {
        let root = tempfile::Builder::new().prefix("").rand_bytes(4).tempdir_in("/tmp").unwrap();
        Self { home: root.path().canonicalize().unwrap(), _root: root }
    }

    /// The path of the home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.home.clone()
    }

    /// The path of artoo's data folder.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home().join(".artoo")
    }

    /// The path of the workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.home().join("artoo_workspace")
    }

    /// Writes a file below the home folder; returns its path.
    pub(crate) fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Adds the note `note.txt` to the home folder.
    pub(crate) fn with_note(self) -> Self {
        self.file("note.txt", "buy milk\n");
        self
    }

    /// Adds the folder `things` with files of many kinds: nested, hidden, empty, with unusual names.
    pub(crate) fn with_things(self) -> Self {
        for number in 1..=7 {
            self.file(format!("things/note {number}.txt"), "a line\n".repeat(number));
        }
        self.file("things/sub/big.bin", vec![7; 70_001]);
        self.file("things/sub/deep/report.pdf", vec![1; 300]);
        self.file("things/paper.PDF", vec![2; 20]);
        self.file("things/empty.md", "");
        self.file("things/.hidden/secret.pdf", "h");
        self.file("things/.dotfile", "d");
        self
    }

    /// A command that runs the program with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(ARTOO);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("ARTOO_DEADLINE", LIMIT)
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        RunOutput::of(self.command(arguments).output().unwrap())
    }

    /// The command that runs artoo with this model server, which is asked about every request.
    pub(crate) fn with_model(&self, server: &Server, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command
            .env("ARTOO_REFLEX_FIRST", "false")
            .env("OPENAI_BASE_URL", server.url())
            .env("OPENAI_MODEL", "a-model")
            .env("OPENAI_API_KEY", KEY);
        command
    }

    /// Runs a request with this model server.
    pub(crate) fn ask(&self, server: &Server, words: &str) -> RunOutput {
        RunOutput::of(self.with_model(server, &[words]).output().unwrap())
    }

    /// The output of a shell command in the home folder, to compare artoo's answers with.
    pub(crate) fn shell(&self, script: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(script).current_dir(self.home()).output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// All files, folders and links of the home folder, except artoo's data.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut entries = Snapshot::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                if path == self.data_dir() {
                    continue;
                }
                let content = if metadata.is_dir() {
                    folders.push(path.clone());
                    b"folder".to_vec()
                } else if metadata.is_symlink() {
                    fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
                } else {
                    fs::read(&path).unwrap()
                };
                entries.insert(path, (metadata.mode(), content));
            }
        }
        entries
    }

    /// Asserts that the data folder is private, the audit log valid, and that no file of artoo contains the key.
    pub(crate) fn check_kept(&self) {
        let mode = fs::metadata(self.data_dir()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "the data folder is private");
        let mut folders = vec![self.data_dir()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
                    assert_eq!(mode, 0o700, "{} is private", path.display());
                    folders.push(path);
                    continue;
                }
                Self::check_kept_file(&path);
            }
        }
    }

    /// Asserts that one file of artoo does not contain the key.
    fn check_kept_file(path: &Path) {
        let kept = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        assert!(!kept.contains(KEY), "the key stands in {}", path.display());
        let is_audit = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("audit"));
        if is_audit && path.extension().is_some_and(|extension| extension == "jsonl") {
            let verified = artoo_audit::verify(path).unwrap();
            assert!(verified.lines > 0, "{}", path.display());
        }
    }
}

/// Waits until a condition holds; panics with `what` after a minute.
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Writes a text to a process's standard input; errors are ignored, since the process may have ended.
pub(crate) fn send(stdin: &mut impl Write, text: &str) {
    drop(stdin.write_all(text.as_bytes()));
}
