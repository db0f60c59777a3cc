//! The environment of rows: namespaces of their own, in which every address leads to this machine, and a process that
//! must not be touched.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const INSIDE: &str = "ARTOO_LAW1_INSIDE";

/// The user id of an ordinary user that has no other processes, as text.
const USER: &str = "4243";

/// Shell script that prepares the test's namespaces, copies the test program to a fixed path, and runs it there.
const SCRIPT: &str = "ip link set lo up; ip route add local default dev lo; ip -6 route add local default dev lo
    mount -t tmpfs -o mode=755 none /mnt && : > /mnt/tests && mount --bind \"$2\" /mnt/tests && mount --bind \"$1\" /tmp &&
        mount -t tmpfs none /var/tmp && mount -t tmpfs none /dev/shm && mount -t tmpfs none /run || exit 77
    shift 2; setsid --wait \"$@\"; exit $?";

/// Runs a test in a child process with namespaces of its own: as root and as an ordinary user, or only as the current
/// user. Skipped where there are no namespaces.
pub(super) fn run_in_namespaces(test: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let ways: Vec<(Vec<String>, Vec<String>)> = if user == 0 {
        let drop = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--"].map(str::to_owned);
        vec![(Vec::new(), Vec::new()), (Vec::new(), drop.to_vec())]
    } else {
        let back = vec![
            "unshare".to_owned(),
            "--user".to_owned(),
            format!("--map-user={user}"),
            format!("--map-group={group}"),
        ];
        vec![(["--user", "--map-root-user"].map(str::to_owned).to_vec(), back)]
    };
    let (mut failed, mut errors) = (Vec::new(), std::io::stderr());
    for (first, then) in ways {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut command = Command::new("unshare");
        command.args(first).args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc"]);
        let own = std::env::current_exe().unwrap();
        command.args(["sh", "-c", SCRIPT, "run"]).args([folder.path(), &own]).args(&then).arg("/mnt/tests");
        command.args(["--exact", &format!("tests::law1::{test}"), "--nocapture"]);
        command.env(INSIDE, "1").env("TMPDIR", "/tmp").env("OPENAI_API_KEY", format!("{}99", super::home::MARK));
        let output = command.stdin(Stdio::null()).output();
        let (is_passed, said) = match output {
            Ok(output) => {
                let said =
                    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
                (output.status.success() && said.contains("1 passed"), said)
            }
            Err(error) => (false, format!("unshare: {error}")),
        };
        // Printed outside of the test's captured output.
        if is_passed {
            let _ = errors.write_all(said.as_bytes());
        } else if said.contains("running 1 test") {
            failed.push(format!("as {then:?}: {said}"));
        } else {
            let _ = writeln!(errors, "skipped: {test} as {then:?}: no namespaces of its own: {said}");
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The objects that no row may touch: another process, System V shared memory and queues, and the network.
pub(super) struct World {
    other: Child,
    before: Vec<(&'static str, String)>,
}

impl World {
    /// Starts a process that no command may touch, and notes the machine's state before the commands.
    pub(super) fn new() -> Self {
        let _ = Command::new("ipcmk").args(["-M", "4096", "-S", "1", "-Q"]).stdout(Stdio::null()).status();
        let mut world = Self { other: start_untouched_process(), before: Vec::new() };
        world.before = world.facts();
        world
    }

    /// What has changed since the last call of what no command may touch, one line each.
    pub(super) fn touched(&mut self) -> Vec<String> {
        let mut facts = self.facts();
        if facts == self.before {
            return Vec::new();
        }
        let both = facts.iter().zip(&self.before);
        let differing = both.filter(|(now, before)| now != before);
        let touched = differing.map(|((name, now), (_, before))| format!("{name}: {before} became {now}")).collect();
        if facts[0] != self.before[0] {
            let _ = self.other.kill();
            let _ = self.other.wait();
            self.other = start_untouched_process();
            facts = self.facts();
        }
        self.before = facts;
        touched
    }

    /// The state, by name, of what an attack could change without a file: another process, shared memory, network
    /// traffic.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let own = format!("/proc/{}", self.other.id());
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let stat = read(&format!("{own}/stat"));
        let stat: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        // State, priority, niceness, real-time priority and policy.
        let facts: Vec<&str> = [0, 15, 16, 37, 38].iter().map(|at| *stat.get(*at).unwrap_or(&"none")).collect();
        let status = read(&format!("{own}/status"));
        let status: Vec<&str> = status.lines().filter(|line| line.starts_with("Cpus_allowed_list")).collect();
        let process = format!(
            "{facts:?} {status:?} {} {}",
            read(&format!("{own}/limits")),
            read(&format!("{own}/oom_score_adj"))
        );
        let objects = ["shm", "sem", "msg"].map(|kind| read(&format!("/proc/sysvipc/{kind}"))).concat();
        let network = read("/proc/net/dev");
        let network = network.lines().find(|line| line.trim_start().starts_with("lo:")).unwrap_or_default().to_owned();
        vec![("process", process), ("SysV objects", objects), ("bytes sent", network)]
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

/// Starts a process on which the commands of the tables must have no effect.
fn start_untouched_process() -> Child {
    let child = Command::new("sleep").arg("86400").stdin(Stdio::null()).spawn().unwrap();
    // The process has another state until it sleeps.
    for _ in 0..200 {
        let state = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        if state.contains("(sleep) S") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}
