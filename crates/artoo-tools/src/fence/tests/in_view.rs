//! A test home for commands in views, and a helper that runs a test again as another user.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::print_uncaptured;
use super::test_home::{State, TestHome, state};
use crate::fence::Fence;
use crate::process::{self, Ended, Invocation, Order};
use crate::view::View;

pub(super) const TIME: Duration = Duration::from_secs(60);

/// A test home with a data folder, which views need.
pub(super) fn home() -> TestHome {
    home_within(&std::env::temp_dir())
}

/// A home with a data folder, so that there are views, below this folder.
pub(super) fn home_within(folder: &Path) -> TestHome {
    let mut home = TestHome::within(folder);
    home.config.environment.cwd = home.config.environment.workspace.clone();
    let data = home.path.join(".artoo");
    fs::create_dir(&data).unwrap();
    home.config.data_dir = Some(data);
    home
}

impl TestHome {
    /// Runs a command in a view, with an approval that names no path.
    pub(super) fn in_view(&self, command: &str) -> (Ended, Arc<View>) {
        self.in_view_by(self.fence(), command)
    }

    /// Runs a command in a view with this sandbox; returns its end and the view.
    pub(super) fn in_view_by(&self, fence: Fence, command: &str) -> (Ended, Arc<View>) {
        let view = Arc::new(View::prepare(&self.config, &self.protected, &[]).unwrap());
        let invocation = Invocation {
            program: process::find_program(&self.config, "bash").unwrap(),
            name: "bash".into(),
            arguments: ["--noprofile", "--norc", "-c", command].map(Into::into).to_vec(),
            environment: Vec::new(),
        };
        let environment = process::environment(&self.config);
        let order = invocation.order(&self.config, &self.read_allowlist, &environment, fence);
        let order = Order { view: Some(Arc::clone(&view)), ..order };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ended = runtime.block_on(process::run(&self.config, order, TIME)).unwrap();
        (ended, view)
    }

    /// The state of the home, without artoo's data folder.
    pub(super) fn all(&self) -> State {
        state(&[&self.path], &self.path.join(".artoo"))
    }
}

/// A shell command that runs this Python script.
pub(super) fn python(script: &str) -> String {
    format!("python3 - <<'EOF'\n{script}\nEOF")
}

pub(super) const INSIDE: &str = "ARTOO_TEST_INSIDE";

/// Runs this test again in a child process started by this command line, with `inside` as its variable; `false` if it
/// can't be started or does not reach the test. Panics if the test fails there.
pub(super) fn rerun_in_child(test: &str, by: &[&str], inside: &str) -> bool {
    let Some((program, words)) = by.split_first() else { return false };
    let mut command = Command::new(program);
    let own = std::env::current_exe().unwrap();
    command.args(words).arg(own).args(["--exact", &format!("fence::tests::{test}"), "--nocapture"]);
    let output = command.env(INSIDE, inside).stdin(Stdio::null()).output();
    let said = output.map(|output| {
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    });
    match said {
        Ok((true, said)) if said.contains("1 passed") => {
            said.lines().filter(|line| line.starts_with("skipped")).for_each(print_uncaptured);
            true
        }
        Ok((_, said)) if !said.contains("running 1 test") => {
            print_uncaptured(&format!("skipped: {test} by {by:?}: {said}"));
            false
        }
        Ok((_, said)) => panic!("{test} by {by:?}: {said}"),
        Err(error) => {
            print_uncaptured(&format!("skipped: {test} by {by:?}: {error}"));
            false
        }
    }
}

/// The value that [`rerun_in_child`] gave this process by environment variable; `None` in the first process.
pub(super) fn inside() -> Option<String> {
    std::env::var(INSIDE).ok()
}

/// The user and group id under which tests run commands as an ordinary user.
pub(super) const USER: u32 = 4242;

/// As root: runs the test `test` again in a process without root rights, because the kernel treats root differently.
pub(super) fn also_as_user(test: &str) {
    if rustix::process::getuid().is_root() && inside().is_none() {
        rerun_in_child(test, &["setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups"], "user");
    }
}
